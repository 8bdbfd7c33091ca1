package helper

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// patience is how long the helper may take for anything here, which takes milliseconds.
const patience = time.Minute

// frame is a message on the wire.
func frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

// debugger is a debugger that has a recorded process, and answers the helper's calls.
type debugger struct {
	t       *testing.T
	process inferior.Inferior
	conn    net.Conn
	in      *bufio.Reader
	// answer is what it says instead of an answer, by the answer's number and its frame.
	answer func(number int, frame []byte) []byte
	calls  int
	shown  bytes.Buffer
}

// message is what the helper sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// receive returns the helper's next message, nil once it has closed the connection.
func (d *debugger) receive() *message {
	length := 0
	for {
		line, err := d.in.ReadString('\n')
		if err != nil {
			return nil
		}
		if line == "\r\n" {
			break
		}
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(d.in, body); err != nil {
		return nil
	}
	m := &message{}
	if err := json.Unmarshal(body, m); err != nil {
		d.t.Fatalf("the helper sends %q: %v", body, err)
	}
	return m
}

func (d *debugger) send(raw []byte) { _, _ = d.conn.Write(raw) }

// ask sends a request, and answers the helper's calls until its reply, which is nil if the helper has ended
// the connection.
func (d *debugger) ask(id int, method string, params any) *message {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		d.t.Fatal(err)
	}
	d.send(frame(body))
	for {
		m := d.receive()
		if m == nil || m.Method == "" {
			return m
		}
		if len(m.ID) == 0 {
			continue // nobody waits for an answer
		}
		result, err := d.serve(m)
		reply := map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
		if err != nil {
			delete(reply, "result")
			reply["error"] = map[string]any{"code": -32602, "message": err.Error()}
		}
		body, err := json.Marshal(reply)
		if err != nil {
			d.t.Fatal(err)
		}
		out := frame(body)
		if d.answer != nil {
			if instead := d.answer(d.calls, out); !bytes.Equal(instead, out) {
				d.send(instead) // the helper waits on if that was no answer to what it has asked
			}
		}
		d.calls++
		d.send(out)
	}
}

// serve does what the helper asks for.
func (d *debugger) serve(m *message) (any, error) {
	ctx := context.Background()
	switch m.Method {
	case bridge.MethodReadMemory:
		var p bridge.ReadMemoryParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, err
		}
		var ranges []inferior.Range
		for _, r := range p.Ranges {
			ranges = append(ranges, inferior.Range{Addr: inferior.Addr(r.Address), Len: r.Length})
		}
		got, err := d.process.ReadMemory(ctx, ranges)
		result := bridge.ReadMemoryResult{Data: []byte{}}
		for _, b := range got {
			result.Readable = append(result.Readable, len(b))
			result.Data = append(result.Data, b...)
		}
		return result, err
	case bridge.MethodFindSymbols:
		var p bridge.FindSymbolsParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, err
		}
		found, err := d.process.FindSymbols(ctx, p.Names)
		return bridge.FindSymbolsResult{Symbols: found}, err
	case bridge.MethodFindTypes:
		var p bridge.FindTypesParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, err
		}
		found, err := d.process.FindTypes(ctx, p.Types)
		return bridge.FindTypesResult{Types: found}, err
	case bridge.MethodListThreads:
		threads, err := d.process.Threads(ctx, 0, nil)
		return bridge.ListThreadsResult{Threads: threads}, err
	case bridge.MethodWrite:
		var p bridge.WriteParams
		err := json.Unmarshal(m.Params, &p)
		d.shown.Write(p.Data)
		return nil, err
	}
	return nil, fmt.Errorf("no method %s", m.Method)
}

// connect starts a helper for a debugger that has a recorded process. It ends with the test, and has to end.
func connect(t *testing.T, recording string) *debugger {
	here, there := net.Pipe() // the helper closes its end
	h := New("v1", zerolog.Nop(), nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer h.Close()
		_ = h.Server(zerolog.Nop()).Serve(context.Background(), there) // what a stranger has sent may be its error
	}()
	if err := here.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = here.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("the helper outlives its connection")
		}
	})
	return &debugger{t: t, process: inferiortest.Recorded(t, recording), conn: here, in: bufio.NewReader(here)}
}

// display has the helper show the process's queues as JSON.
func (d *debugger) display(id int) *message {
	d.shown.Reset()
	info := d.process.Info()
	info.PID = 0 // it is not the process that has that number here and now
	return d.ask(id, bridge.MethodQueues, bridge.QueuesParams{Processes: []bridge.Process{info}, Source: bridge.Source{Choice: "native"},
		View: "queues", Format: "json"})
}

func (d *debugger) initialize() *message {
	return d.ask(1, bridge.MethodInitialize, bridge.InitializeParams{Protocol: bridge.ProtocolVersion, Debugger: "gdb"})
}

// conversed are recordings of which little is asked.
var conversed = []string{"openmpi-4.1.4/recv-rank-0", "mpich-4.0.2-ch4/send-rank-1"}

// Whatever a debugger answers, the helper replies or ends, shows nothing that is not so beside a reply that is no
// error, and serves the next request. The input is the recording, and changes of answers: 4 bytes each, which answer, what
// is done to it, and where.
func FuzzAnswers(f *testing.F) {
	for which := range byte(len(conversed)) {
		for _, number := range []byte{0, 1, 2, 3, 5, 8} {
			for what := range byte(faults) {
				f.Add([]byte{which, number, what, number * 7, what})
			}
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) == 0 || len(input) > 64 {
			t.Skip("too many")
		}
		d := connect(t, conversed[int(input[0])%len(conversed)])
		if m := d.initialize(); m == nil || m.Error != nil {
			t.Fatalf("%+v", m)
		}
		if m := d.display(2); m == nil || m.Error != nil {
			t.Fatalf("%+v", m)
		}
		honest := d.shown.String()
		d.calls = 0
		d.answer = func(number int, frame []byte) []byte {
			for rest := input[1:]; len(rest) >= 4; rest = rest[4:] {
				if int(rest[0]) == number {
					frame = faulty(frame, rest[1], int(binary.LittleEndian.Uint16(rest[2:])))
				}
			}
			return frame
		}
		m := d.display(3)
		d.answer = nil
		if m == nil {
			return // it has ended, of which gdb makes a sentence
		}
		if strings.Contains(string(m.Result), "please report") || m.Error != nil && strings.Contains(m.Error.Message, "please report") {
			t.Errorf("%+v", m)
		}
		if m = d.display(4); m != nil && m.Error == nil && d.shown.String() != honest {
			t.Errorf("the next request is answered with\n%s\nnot\n%s", d.shown.String(), honest)
		}
	})
}

// faults is how many there are for faulty.
const faults = 8

// faulty does something to an answer at a place in it.
func faulty(message []byte, what byte, place int) []byte {
	_, body, _ := bytes.Cut(message, []byte("\r\n\r\n"))
	if len(body) == 0 {
		return message // an earlier fault has left nothing of it
	}
	body = bytes.Clone(body)
	at := place % len(body)
	word := func(from, to string) []byte { return frame(bytes.Replace(body, []byte(from), []byte(to), 1+place%3)) }
	switch what % faults {
	case 0: // cut, and whole again
		return frame(body[:at])
	case 1: // another byte
		body[at] ^= byte(1 + place>>8)
		return frame(body)
	case 2: // twice
		return append(bytes.Clone(message), message...)
	case 3: // to another call
		return word(`"id":`, `"id":1`)
	case 4: // a part of it gone
		return frame(append(body[:at:at], body[min(len(body), at+1+place>>8):]...))
	case 5: // other lists
		return word(`[`, `[null,`)
	case 6: // other numbers
		return word(`:1`, `:-922337203685477580`)
	}
	return word(`"result":{`, `"result":[{`) // no JSON
}

// Whatever comes to the helper as bytes, before a request or instead of it, it ends or serves the next one.
func FuzzStream(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":5,"extension":"v1","debugger":"gdb"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"queues","params":{"processes":[{"inferior":1,"pointer_size":8}],"format":"json","window":true}}`,
		`{"jsonrpc":"2.0","method":"cancel","params":{"id":7}}`, `{"jsonrpc":"2.0","method":"exited","params":{"inferior":1,"pid":7}}`,
		`{"jsonrpc":"2.0","id":3,"method":"values","params":{"values":[{"inferior":1}],"format":"text"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"ranks","params":{"pid":-1}}`, `{"jsonrpc":"2.0","id":5,"method":"places"}`, `[]`, `null`,
	} {
		f.Add(frame([]byte(text)), true)
		f.Add(frame([]byte(text))[:20+len(text)/2], false)
	}
	f.Add([]byte("Content-Length: 99999999999\r\n\r\n{"), true)
	f.Fuzz(func(t *testing.T, stream []byte, isKnown bool) {
		if len(stream) > 4<<10 {
			t.Skip("too long")
		}
		d := connect(t, conversed[0])
		if isKnown {
			d.initialize()
		}
		written := make(chan struct{})
		go func() {
			defer close(written)
			d.send(stream)
			// What does not end with this is no message.
			d.send(bytes.Repeat([]byte("\r\n\r\n}"), 8))
			_ = d.conn.Close()
		}()
		for m := d.receive(); m != nil; m = d.receive() {
			if m.Error != nil && strings.Contains(m.Error.Message, "please report") {
				t.Errorf("%+v", m)
			}
		}
		<-written
	})
}
