package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Handler does what the debugger asks for. What there is to show it writes to
// the debugger; an error is a sentence for the user, see [errorCode].
type Handler interface {
	Queues(ctx context.Context, d *Debugger, p QueuesParams) error
	Describe(ctx context.Context, d *Debugger, p DescribeParams) error
	Deadlock(ctx context.Context, d *Debugger, p DeadlockParams) error
	// Ranks answers without asking the debugger.
	Ranks(ctx context.Context, p RanksParams) (*RanksResult, error)
	// Status tells what the debugger does by itself.
	Status(ctx context.Context, p StatusParams)
	// Exited tells of a process that has gone. No request is under way meanwhile.
	Exited(ctx context.Context, p ExitedParams)
}

// Serve speaks the protocol on stream until the other end closes it or ctx ends. What the handler
// does by then ends first, unless it takes longer than [endPatience].
func Serve(ctx context.Context, stream io.ReadWriteCloser, version string, h Handler, log zerolog.Logger) error {
	window, err := newWindow(windowSize)
	if err != nil {
		log.Debug().Err(err).Msg("no shared memory")
	}
	s := &server{handler: h, version: version, window: window, log: log}
	ctx, cancel := context.WithCancel(ctx)
	defer s.end(cancel)
	// The handlers call back, and the read loop must go on meanwhile.
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed()), jsonrpc2.SetLogger(quiet{}))
	select {
	case <-conn.DisconnectNotify():
		return nil
	case <-ctx.Done():
		return conn.Close()
	}
}

// endPatience is how long a handler may take to end that nobody waits for any more.
const endPatience = time.Second

// end waits for the handler, and gives the shared memory back.
func (s *server) end(cancel context.CancelFunc) {
	cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.working.Lock()
		defer s.working.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.window.close()
		s.window = nil // a request may be about to begin
	}()
	select {
	case <-ended:
	case <-time.After(endPatience):
	}
}

// quiet drops what jsonrpc2 would log by itself.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

type server struct {
	handler Handler
	version string
	window  *window
	log     zerolog.Logger

	// working is held by what the handler does: messages overtake each other,
	// so that a process may be said to have gone while a request begins.
	working sync.Mutex

	mu        sync.Mutex
	peer      *InitializeParams  // nil before the handshake
	current   jsonrpc2.ID        // the request under way
	cancel    context.CancelFunc // of that request; nil if there is none
	cancelled uint64             // the last request that was given up when it was not under way
}

// handle runs on a goroutine of its own for every message.
func (s *server) handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	s.log.Debug().Str("method", req.Method).Msg("request")
	switch req.Method {
	case MethodInitialize:
		var p InitializeParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		return s.initialize(p)
	case MethodCancel:
		var p CancelParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.cancel != nil && s.current.Num == p.ID {
			s.cancel()
		} else {
			s.cancelled = max(s.cancelled, p.ID) // messages overtake each other, and ids grow
		}
		return nil, nil
	case MethodExited:
		var p ExitedParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		s.working.Lock()
		defer s.working.Unlock()
		s.handler.Exited(ctx, p)
		return nil, nil
	case MethodQueues:
		var p QueuesParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		return s.show(ctx, conn, req.ID, p.Window, func(ctx context.Context, d *Debugger) error { return s.handler.Queues(ctx, d, p) })
	case MethodDescribe:
		var p DescribeParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		return s.show(ctx, conn, req.ID, p.Window, func(ctx context.Context, d *Debugger) error { return s.handler.Describe(ctx, d, p) })
	case MethodDeadlock:
		var p DeadlockParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		return s.show(ctx, conn, req.ID, p.Window, func(ctx context.Context, d *Debugger) error { return s.handler.Deadlock(ctx, d, p) })
	case MethodRanks:
		var p RanksParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		return s.run(ctx, req.ID, func(ctx context.Context, _ InitializeParams) (any, error) { return s.handler.Ranks(ctx, p) })
	case MethodStatus:
		var p StatusParams
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		return s.run(ctx, req.ID, func(ctx context.Context, _ InitializeParams) (any, error) {
			s.handler.Status(ctx, p)
			return &StatusResult{}, nil
		})
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("no method %q", req.Method)}
}

func decode(req *jsonrpc2.Request, into any) error {
	if req.Params == nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: req.Method + " needs parameters"}
	}
	if err := json.Unmarshal(*req.Params, into); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf("%s: %v", req.Method, err)}
	}
	return nil
}

func (s *server) initialize(p InitializeParams) (*InitializeResult, error) {
	if p.Protocol != ProtocolVersion {
		return nil, &jsonrpc2.Error{Code: CodeVersion, Message: fmt.Sprintf(
			"the helper (version %s) speaks protocol %d, the extension in the debugger (version %s) protocol %d: install both from the same release",
			s.version, ProtocolVersion, p.Extension, p.Protocol)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peer = &p
	return &InitializeResult{Protocol: ProtocolVersion, Version: s.version, Window: s.window.describe()}, nil
}

// show does a request whose answer is handed over in pieces.
func (s *server) show(ctx context.Context, conn *jsonrpc2.Conn, id jsonrpc2.ID, mapped bool, f func(context.Context, *Debugger) error) (any, error) {
	return s.run(ctx, id, func(ctx context.Context, peer InitializeParams) (any, error) {
		start := time.Now()
		d := &Debugger{Peer: peer, conn: conn, window: s.window, mapped: mapped && s.window != nil}
		if err := f(ctx, d); err != nil {
			return nil, err
		}
		return &Result{RoundTrips: d.roundTrips, BytesRead: d.bytesRead, Seconds: time.Since(start).Seconds()}, nil
	})
}

// run does one request of the debugger's, and returns its result. There is only ever one.
func (s *server) run(ctx context.Context, id jsonrpc2.ID, f func(context.Context, InitializeParams) (any, error)) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	peer, busy := s.peer, s.cancel != nil
	if peer != nil && !busy {
		s.current, s.cancel = id, cancel
		if s.cancelled == id.Num {
			cancel()
		}
	}
	s.mu.Unlock()
	switch {
	case peer == nil:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the first request must be " + MethodInitialize}
	case busy:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "a request is under way"}
	}
	defer func() {
		s.mu.Lock()
		s.cancel = nil
		s.mu.Unlock()
	}()
	s.working.Lock()
	defer s.working.Unlock()
	result, err := f(ctx, *peer)
	if err != nil {
		return nil, &jsonrpc2.Error{Code: errorCode(ctx, err), Message: printable.Text(err.Error())}
	}
	return result, nil
}

// errorCode tells the debugger what kind of sentence an error is.
func errorCode(ctx context.Context, err error) int64 {
	var unreadable *read.UnreadableError
	var noComm *read.NoSuchCommunicatorError
	var usage *UsageError
	switch {
	case ctx.Err() != nil:
		return CodeCancelled
	case errors.As(err, &unreadable):
		return CodeUnreadable
	case errors.As(err, &noComm), errors.As(err, &usage):
		return CodeUsage
	}
	return jsonrpc2.CodeInternalError
}

// UsageError is a request that makes no sense, for the user to correct.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
