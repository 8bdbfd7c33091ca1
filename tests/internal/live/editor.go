//go:build live || matrix || full

package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Editor is a client of a gdb that speaks the Debug Adapter Protocol.
type Editor struct {
	t        testing.TB
	cmd      *exec.Cmd
	requests io.WriteCloser
	incoming chan envelope
	last     int // number of the last request
	answers  map[int]envelope
	events   []envelope // that nobody has awaited yet
	where    string     // the file of its whereabouts
}

// envelope is what a message from gdb has, as far as its kind has it.
type envelope struct {
	Type, Event, Message string
	RequestSeq           int `json:"request_seq"`
	Success              bool
	Body                 json.RawMessage
}

// Edit starts a gdb for an editor, and introduces them. It ends with the test.
func (w *Workspace) Edit(t testing.TB) *Editor {
	t.Helper()
	e := &Editor{t: t, incoming: make(chan envelope, 64), answers: map[int]envelope{}, where: filepath.Join(t.TempDir(), "where")}
	e.cmd = exec.Command(w.Debugger, slices.Concat([]string{"-q", "-i", "dap"}, tellsWhere(e.where), w.arguments(Nothing(), nil))...)
	e.cmd.Env = w.environment()
	e.cmd.Stderr = os.Stderr
	answers, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if e.requests, err = e.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		e.listen(bufio.NewReader(answers))
		_ = e.cmd.Wait()
		close(done)
	}()
	t.Cleanup(func() { e.leave(done) })
	e.Do("initialize", map[string]any{"adapterID": "gdb"})
	e.Await("initialized")
	return e
}

// listen reads what gdb writes, until its end.
func (e *Editor) listen(r *bufio.Reader) {
	defer close(e.incoming)
	for {
		length := -1
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimSpace(line)
			if line == "" {
				break
			}
			if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(value)
			}
		}
		if length < 0 {
			return
		}
		text := make([]byte, length)
		var m envelope
		if _, err := io.ReadFull(r, text); err != nil || json.Unmarshal(text, &m) != nil {
			return
		}
		e.incoming <- m
	}
}

// leave ends the session, and gdb with it.
func (e *Editor) leave(done chan struct{}) {
	_, _ = e.send("disconnect", nil)
	_ = e.requests.Close()
	late := time.After(10 * time.Second)
	for {
		select {
		case _, ok := <-e.incoming:
			if !ok {
				e.incoming = nil
			}
		case <-late:
			_ = e.cmd.Process.Kill()
		case <-done:
			return
		}
	}
}

func (e *Editor) send(command string, arguments any) (int, error) {
	e.last++
	message := map[string]any{"seq": e.last, "type": "request", "command": command}
	if arguments != nil {
		message["arguments"] = arguments
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = fmt.Fprintf(e.requests, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	return e.last, err
}

// Send makes a request, for whose answer [Editor.Answer] waits.
func (e *Editor) Send(command string, arguments any) int {
	e.t.Helper()
	number, err := e.send(command, arguments)
	if err != nil {
		e.t.Fatalf("can't ask gdb for %s: %v", command, err)
	}
	return number
}

// Answer waits for the answer to a request. It returns its body, or the message
// that it failed with.
func (e *Editor) Answer(number int) (body json.RawMessage, failure string) {
	e.t.Helper()
	e.until("an answer", func() bool {
		_, ok := e.answers[number]
		return ok
	})
	answer := e.answers[number]
	delete(e.answers, number)
	if !answer.Success && answer.Message == "" {
		answer.Message = "no reason"
	}
	if answer.Success {
		answer.Message = ""
	}
	return answer.Body, answer.Message
}

// Do makes a request that must succeed.
func (e *Editor) Do(command string, arguments any) json.RawMessage {
	e.t.Helper()
	body, failure := e.Answer(e.Send(command, arguments))
	if failure != "" {
		e.t.Fatalf("%s fails: %s", command, failure)
	}
	return body
}

// Fails makes a request that must fail with a message that has the text.
func (e *Editor) Fails(command string, arguments any, text string) {
	e.t.Helper()
	body, failure := e.Answer(e.Send(command, arguments))
	if failure == "" || !strings.Contains(failure, text) || strings.Contains(failure, "Traceback") {
		e.t.Errorf("%s of %v fails with %q, want %q; its body is %.200s", command, arguments, failure, text, body)
	}
}

// Await waits for an event and returns its body. It must come after those that
// were awaited before.
func (e *Editor) Await(event string) json.RawMessage {
	e.t.Helper()
	at := -1
	e.until("the event "+event, func() bool {
		at = slices.IndexFunc(e.events, func(m envelope) bool { return m.Event == event })
		return at >= 0
	})
	body := e.events[at].Body
	e.events = e.events[at+1:]
	return body
}

// Has says whether an event has come since the one that was awaited last.
func (e *Editor) Has(event string) bool {
	return slices.ContainsFunc(e.events, func(m envelope) bool { return m.Event == event })
}

// until reads messages until a condition is true.
func (e *Editor) until(what string, condition func() bool) {
	e.t.Helper()
	began, patience := time.Now(), newPatience(Patience)
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !condition() {
		select {
		case m, ok := <-e.incoming:
			switch {
			case !ok:
				e.t.Fatalf("gdb has ended, while %s is waited for", what)
			case m.Type == "response":
				e.answers[m.RequestSeq] = m
			case m.Type == "event":
				e.events = append(e.events, m)
			}
		case <-tick.C:
			if patience.isOver() {
				e.t.Fatalf("waited %s in vain for %s; since then there were %s; %s", time.Since(began).Round(time.Second), what, e.names(), whereabouts(e.cmd.Process.Pid, e.where))
			}
		}
	}
}

// names are those of the events that were not awaited.
func (e *Editor) names() string {
	var names []string
	for _, m := range e.events {
		names = append(names, fmt.Sprintf("%s %.200s", m.Event, m.Body))
	}
	return strings.Join(names, ", ")
}

// Begin launches or attaches, as the request says, and returns the failure.
func (e *Editor) Begin(request string, arguments any) (failure string) {
	e.t.Helper()
	number := e.Send(request, arguments)
	e.Do("configurationDone", nil)
	_, failure = e.Answer(number)
	return failure
}

// Says has a command done as a user types it, and returns what the debug console shows.
func (e *Editor) Says(command string) string {
	e.t.Helper()
	var body struct{ Result string }
	if err := json.Unmarshal(e.Do("evaluate", typed(command)), &body); err != nil {
		e.t.Fatal(err)
	}
	return body.Result
}

// Refuses has a command done that must fail with a text.
func (e *Editor) Refuses(command, text string) {
	e.t.Helper()
	e.Fails("evaluate", typed(command), text)
}

func typed(command string) map[string]any {
	return map[string]any{"expression": command, "context": "repl"}
}
