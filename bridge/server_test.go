package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// handler does all that is asked for, with the first process.
type handler func(ctx context.Context, d *Debugger, t inferior.Inferior) error

// server returns a server that has a handler do each method.
func (f handler) server() *Server {
	s := NewServer("v1", zerolog.Nop())
	RegisterDisplay(s, MethodQueues, func(ctx context.Context, d *Debugger, p QueuesParams) error {
		return f(ctx, d, d.Inferior(p.Processes[0]))
	})
	RegisterDisplay(s, MethodDescribe, func(ctx context.Context, d *Debugger, p DescribeParams) error {
		return f(ctx, d, d.Inferior(p.Process))
	})
	RegisterDisplay(s, MethodDeadlock, func(ctx context.Context, d *Debugger, p DeadlockParams) error {
		return f(ctx, d, d.Inferior(p.Processes[0]))
	})
	Register(s, MethodRanks, func(ctx context.Context, d *Debugger, p RanksParams) (*RanksResult, error) {
		return &RanksResult{Launcher: p.PID}, f(ctx, d, nil)
	})
	return s
}

// gdb is the other end: it answers call-backs as told and keeps what is written.
type gdb struct {
	*jsonrpc2.Conn
	window  []byte // nil if it is not mapped: bulk bytes travel as base64
	maps    bool
	answer  func(method string, params json.RawMessage) (any, error)
	written bytes.Buffer
}

// serve starts a helper whose call-backs answer answers.
func serve(t *testing.T, s *Server, answer func(method string, params json.RawMessage) (any, error)) *gdb {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan error)
	go func() { done <- s.Serve(context.Background(), there) }()
	g := &gdb{answer: answer}
	g.Conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(g.handle).SuppressErrClosed()), jsonrpc2.SetLogger(quiet{}))
	t.Cleanup(func() {
		_ = g.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the helper outlives its connection")
		}
	})
	return g
}

func (g *gdb) handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	if r.Method != MethodWrite {
		return g.answer(r.Method, *r.Params)
	}
	var p WriteParams
	if err := json.Unmarshal(*r.Params, &p); err != nil {
		return nil, err
	}
	if (p.Data == nil) != g.maps {
		return nil, errors.New("the bytes are not where they should be")
	}
	if p.Data == nil {
		p.Data = g.window[:p.Length]
	}
	g.written.Write(p.Data)
	return nil, nil
}

func (g *gdb) initialize(t *testing.T) {
	t.Helper()
	var r InitializeResult
	if err := g.Call(context.Background(), MethodInitialize, InitializeParams{Protocol: ProtocolVersion}, &r); err != nil {
		t.Fatal(err)
	}
	if r.Protocol != ProtocolVersion || r.Version != "v1" {
		t.Errorf("%+v", r)
	}
	if r.Window != nil && g.maps {
		g.window = mapped(t, r.Window)
	}
}

func (g *gdb) queues(opts ...jsonrpc2.CallOption) (Result, error) {
	var r Result
	err := g.Call(context.Background(), MethodQueues, QueuesParams{Processes: []Process{{Inferior: 3, PointerSize: 8}}, Window: g.maps}, &r, opts...)
	return r, err
}

func code(err error) int64 {
	var e *jsonrpc2.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestHandshake(t *testing.T) {
	g := serve(t, handler(nil).server(), nil)
	if _, err := g.queues(); code(err) != jsonrpc2.CodeInvalidRequest {
		t.Errorf("before the handshake: %v", err)
	}
	err := g.Call(context.Background(), MethodInitialize, InitializeParams{Protocol: ProtocolVersion + 1, Extension: "v9"}, nil)
	if code(err) != CodeVersion || !strings.Contains(err.Error(), "v9") {
		t.Errorf("another version: %v", err)
	}
	if err := g.Call(context.Background(), "nonsense", nil, nil); code(err) != jsonrpc2.CodeMethodNotFound {
		t.Errorf("nonsense: %v", err)
	}
	g.initialize(t)
	if err := g.Call(context.Background(), MethodQueues, "nonsense", nil); code(err) != jsonrpc2.CodeInvalidParams {
		t.Errorf("nonsense for parameters: %v", err)
	}
}

// A debugger that answers nonsense gets an error, and the helper lives on.
func TestNonsenseAnswers(t *testing.T) {
	answers := []any{
		nil, ReadMemoryResult{}, ReadMemoryResult{Readable: []int{9}}, ReadMemoryResult{Readable: []int{-1}},
		ReadMemoryResult{Readable: []int{1, 1}}, ReadMemoryResult{Readable: []int{8}, Data: []byte("abc")}, "hello",
	}
	next := 0
	g := serve(t, handler(func(ctx context.Context, _ *Debugger, p inferior.Inferior) error {
		_, err := p.ReadMemory(ctx, []inferior.Range{{Addr: 1, Len: 8}})
		return err
	}).server(), func(string, json.RawMessage) (any, error) { return answers[next], nil })
	g.initialize(t)
	for i := range answers {
		next = i
		if _, err := g.queues(); err == nil {
			t.Errorf("%+v was believed", answers[i])
		}
	}
}

// A request that shows nothing has a result of its own, or an error as any other.
func TestRanks(t *testing.T) {
	var fail error
	g := serve(t, handler(func(context.Context, *Debugger, inferior.Inferior) error { return fail }).server(), nil)
	g.initialize(t)
	var r RanksResult
	if err := g.Call(context.Background(), MethodRanks, RanksParams{PID: 42}, &r); err != nil || r.Launcher != 42 {
		t.Errorf("%+v, %v", r, err)
	}
	fail = read.Unreadable("", "process 42 is no part of an MPI job")
	if err := g.Call(context.Background(), MethodRanks, RanksParams{PID: 42}, &r); code(err) != CodeUnreadable {
		t.Errorf("%v", err)
	}
	if err := g.Call(context.Background(), MethodDeadlock, DeadlockParams{Processes: []Process{{}}}, nil); code(err) != CodeUnreadable {
		t.Errorf("%v", err)
	}
}

// What a debugger says, as gdb's extension writes it, arrives as it was said.
func TestAnswers(t *testing.T) {
	answers := map[string]string{
		MethodFindSymbols: `{"symbols": [{"address": 18446744073709551608, "object": "/lib/libmpi.so"}, null]}`,
		MethodFindTypes:   `{"types": [{"size": 24, "object": "/lib/libmpi.so", "fields": {"a.b": {"offset": 16, "size": 8, "kind": "pointer"}}}, null]}`,
		MethodListThreads: `{"threads": [{"number": 2, "id": 42, "system_call": {"number": -1, "arguments": [1]}, "complete": true, "registers": [7], "frames": [` +
			`{"function": "MPI_Recv", "stack_pointer": 9223372036854775808, "object": "/lib/libmpi.so", "file": "", "line": 0, "variables": {"comm": -1}},` +
			`{"function": "main", "stack_pointer": 1, "object": "", "file": "halo.c", "line": 12, "variables": {}}]}]}`,
	}
	asked := map[string]string{}
	var symbols []*inferior.Symbol
	var types []*layout.Layout
	var threads []inferior.Thread
	g := serve(t, handler(func(ctx context.Context, _ *Debugger, p inferior.Inferior) (err error) {
		symbols, err = p.FindSymbols(ctx, []string{"here", "nowhere"})
		if err == nil {
			types, err = p.FindTypes(ctx, []layout.TypeQuery{{Name: "c", Fields: []string{"a.b", "x"}}, {Name: "d"}})
		}
		if err == nil {
			threads, err = p.Threads(ctx, 9, []string{"comm"})
		}
		return err
	}).server(), func(method string, params json.RawMessage) (any, error) {
		asked[method] = string(params)
		return json.RawMessage(answers[method]), nil
	})
	g.initialize(t)
	if r, err := g.queues(); err != nil || r.RoundTrips != 3 {
		t.Fatal(r, err)
	}
	for method, want := range map[string]string{
		MethodFindSymbols: `{"inferior":3,"names":["here","nowhere"]}`,
		MethodFindTypes:   `{"inferior":3,"types":[{"fields":["a.b","x"],"name":"c"},{"fields":null,"name":"d"}]}`,
		MethodListThreads: `{"depth":9,"inferior":3,"variables":["comm"]}`,
	} {
		if asked[method] != want {
			t.Errorf("asked %s, not %s", asked[method], want)
		}
	}
	same := func(got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	same(symbols, []*inferior.Symbol{{Addr: 0xfffffffffffffff8, Object: "/lib/libmpi.so"}, nil})
	same(types, []*layout.Layout{{Size: 24, Object: "/lib/libmpi.so", Fields: map[string]layout.Field{"a.b": {Offset: 16, Size: 8, Kind: layout.KindPointer}}}, nil})
	same(threads, []inferior.Thread{{Number: 2, ID: 42, SystemCall: &inferior.SystemCall{Number: -1, Arguments: []uint64{1}}, Complete: true, Registers: []uint64{7}, Frames: []inferior.Frame{
		{Function: "MPI_Recv", StackPointer: 1 << 63, Object: "/lib/libmpi.so", Variables: map[string]int64{"comm": -1}},
		{Function: "main", StackPointer: 1, File: "halo.c", Line: 12, Variables: map[string]int64{}},
	}}})
}

// What a method does has one place.
func TestRegisteredTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a method was registered twice")
		}
	}()
	Register(handler(nil).server(), MethodQueues, func(context.Context, *Debugger, RanksParams) (*RanksResult, error) { return nil, nil })
}

func TestCancel(t *testing.T) {
	started := make(chan bool)
	g := serve(t, handler(func(ctx context.Context, _ *Debugger, _ inferior.Inferior) error {
		started <- true
		<-ctx.Done()
		return errors.New("it was given up")
	}).server(), nil)
	g.initialize(t)
	result := make(chan error)
	for id := range uint64(3) {
		id := jsonrpc2.ID{Num: 100 + id}
		go func() { _, err := g.queues(jsonrpc2.PickID(id)); result <- err }()
		<-started
		if _, err := g.queues(jsonrpc2.PickID(jsonrpc2.ID{Num: 200 + id.Num})); code(err) != jsonrpc2.CodeInvalidRequest {
			t.Errorf("a second request: %v", err)
		}
		for _, cancel := range []uint64{1, id.Num} { // one that concerns another request, and this one
			if err := g.Notify(context.Background(), MethodCancel, CancelParams{ID: cancel}); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-result; code(err) != CodeCancelled {
			t.Errorf("cancelled: %v", err)
		}
	}
	// One that comes first counts too.
	if err := g.Notify(context.Background(), MethodCancel, CancelParams{ID: 500}); err != nil {
		t.Fatal(err)
	}
	go func() { <-started }()
	if _, err := g.queues(jsonrpc2.PickID(jsonrpc2.ID{Num: 500})); code(err) != CodeCancelled {
		t.Errorf("cancelled beforehand: %v", err)
	}
}

// The handler hears of a process that has gone, but not while it does a request.
func TestExited(t *testing.T) {
	started, proceed := make(chan bool), make(chan bool)
	exited := make(chan ExitedParams)
	s := handler(func(context.Context, *Debugger, inferior.Inferior) error {
		started <- true
		<-proceed
		return nil
	}).server()
	RegisterNotification(s, MethodExited, func(_ context.Context, p ExitedParams) { exited <- p })
	g := serve(t, s, nil)
	g.initialize(t)
	tell := func(p any) {
		t.Helper()
		if err := g.Notify(context.Background(), MethodExited, p); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(want ExitedParams) {
		t.Helper()
		select {
		case got := <-exited:
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%+v is not passed on", want)
		}
	}
	tell("nonsense")
	tell(ExitedParams{Inferior: 3, PID: 42})
	hear(ExitedParams{Inferior: 3, PID: 42})

	result := make(chan error)
	go func() { _, err := g.queues(); result <- err }()
	<-started
	tell(ExitedParams{Inferior: 3, PID: 43})
	// A second request is refused at once, so by then the notification has arrived.
	if _, err := g.queues(); code(err) != jsonrpc2.CodeInvalidRequest {
		t.Errorf("a second request: %v", err)
	}
	select {
	case p := <-exited:
		t.Errorf("%+v comes while a request is under way", p)
	case <-time.After(50 * time.Millisecond):
	}
	proceed <- true
	hear(ExitedParams{Inferior: 3, PID: 43})
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// What a debugger says just before it ends is done before the server is through.
func TestLastWords(t *testing.T) {
	for range 200 {
		var heard atomic.Int64
		s := NewServer("v1", zerolog.Nop())
		RegisterNotification(s, MethodLeft, func(_ context.Context, p ExitedParams) { heard.Add(int64(p.PID)) })
		here, there := net.Pipe()
		done := make(chan error)
		go func() { done <- s.Serve(context.Background(), there) }()
		conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), handlerOfNothing{})
		for _, pid := range []int{1, 2, 4, 8} {
			if err := conn.Notify(context.Background(), MethodLeft, ExitedParams{PID: pid}); err != nil {
				t.Fatal(err)
			}
		}
		_ = conn.Close()
		if err := <-done; err != nil || heard.Load() != 15 {
			t.Fatalf("%v, and the sum of what was heard is %d", err, heard.Load())
		}
	}
}

// handlerOfNothing is of a debugger that is asked for nothing.
type handlerOfNothing struct{}

func (handlerOfNothing) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

func TestErrorCodes(t *testing.T) {
	var fail error
	g := serve(t, handler(func(context.Context, *Debugger, inferior.Inferior) error { return fail }).server(), nil)
	g.initialize(t)
	for want, err := range map[int64]error{
		CodeUnreadable:             read.Unreadable("Open MPI", "it has no queues"),
		CodeUsage:                  &read.NoSuchCommunicatorError{Name: "x"},
		jsonrpc2.CodeInternalError: errors.New("something else"),
	} {
		fail = err
		if _, got := g.queues(); code(got) != want || !strings.Contains(got.Error(), err.Error()) {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func mapped(t *testing.T, w *Window) []byte {
	t.Helper()
	f, err := os.OpenFile(w.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := f.Truncate(0); err == nil {
		t.Error("the window can be made smaller")
	}
	return mapFile(t, f, w.Size)
}

// An error quotes names out of a process, and gdb shows it on a terminal.
func TestErrorsArePrintable(t *testing.T) {
	var reason string
	g := serve(t, handler(func(context.Context, *Debugger, inferior.Inferior) error { return read.Unreadable("", "%s", reason) }).server(), nil)
	g.initialize(t)
	for _, reason = range []string{"it is MPICH \x1b]0;P\x07\u009b2J\u202e\xff", "one line\nand another"} {
		_, err := g.queues()
		var e *jsonrpc2.Error
		if want := printable.Text(reason); !errors.As(err, &e) || e.Message != want {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
