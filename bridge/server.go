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

// Server does what a debugger asks for: what [Register], [RegisterDisplay] and
// [RegisterNotification] have told it to. All are told before it serves.
type Server struct {
	version string
	log     zerolog.Logger
	methods map[string]method
	window  *window

	// working is held by what the handlers do: messages overtake each other,
	// so that a process may be said to have gone while a request begins.
	working sync.Mutex
	// arrived is held for reading by the messages that are being done, or wait for that.
	arrived sync.RWMutex

	mu        sync.Mutex
	peer      *InitializeParams  // nil before the handshake
	current   jsonrpc2.ID        // the request under way
	cancel    context.CancelFunc // of that request; nil if there is none
	cancelled uint64             // the last request that was given up when it was not under way
}

// method does what a message asks for, and returns the result.
type method func(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error)

// NewServer returns a server that can shake hands; version is the helper's own.
func NewServer(version string, log zerolog.Logger) *Server {
	s := &Server{version: version, log: log, methods: map[string]method{}}
	add(s, MethodInitialize, func(_ context.Context, _ *jsonrpc2.Conn, _ *jsonrpc2.Request, p InitializeParams) (any, error) {
		return s.initialize(p)
	})
	add(s, MethodCancel, func(_ context.Context, _ *jsonrpc2.Conn, _ *jsonrpc2.Request, p CancelParams) (any, error) {
		s.giveUp(p.ID)
		return nil, nil
	})
	return s
}

// Register has f do the requests of a method, one at a time. Its result is sent back; an error
// is a sentence for the user, see [errorCode]. If the parameters have a "window", it says
// whether the debugger has opened the window.
func Register[P, R any](s *Server, name string, f func(ctx context.Context, d *Debugger, p P) (R, error)) {
	add(s, name, func(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request, p P) (any, error) {
		var shared struct {
			Window bool `json:"window"`
		}
		if err := decode(req, &shared); err != nil {
			return nil, err
		}
		return s.run(ctx, req.ID, func(ctx context.Context, peer InitializeParams) (any, error) {
			d := &Debugger{Peer: peer, conn: conn, window: s.window, hasWindow: shared.Window && s.window != nil}
			result, err := f(ctx, d, p)
			if late := d.settle(ctx); err == nil {
				err = late
			}
			return result, err
		})
	})
}

// RegisterDisplay is [Register] for requests that hand over their answer by [Debugger.Stream]. Their
// result is a [Result].
func RegisterDisplay[P any](s *Server, name string, f func(ctx context.Context, d *Debugger, p P) error) {
	Register(s, name, func(ctx context.Context, d *Debugger, p P) (*Result, error) {
		start := time.Now()
		if err := f(ctx, d, p); err != nil {
			return nil, err
		}
		cost := d.Cost(start)
		return &cost, nil
	})
}

// RegisterNotification has f hear what a method tells. No request is under way meanwhile.
func RegisterNotification[P any](s *Server, name string, f func(ctx context.Context, p P)) {
	add(s, name, func(ctx context.Context, _ *jsonrpc2.Conn, _ *jsonrpc2.Request, p P) (any, error) {
		s.working.Lock()
		defer s.working.Unlock()
		f(ctx, p)
		return nil, nil
	})
}

// add has f do what a method asks for, on a goroutine of its own for every message.
func add[P any](s *Server, name string, f func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request, P) (any, error)) {
	if s.methods[name] != nil {
		panic("bridge: " + name + " is registered twice")
	}
	s.methods[name] = func(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		var p P
		if err := decode(req, &p); err != nil {
			return nil, err
		}
		return f(ctx, conn, req, p)
	}
}

// Serve speaks the protocol on stream until the other end closes it or ctx ends. What has arrived
// by then is done first, unless it takes longer than [endPatience]. It is to be called once.
func (s *Server) Serve(ctx context.Context, stream io.ReadWriteCloser) error {
	var err error
	if s.window, err = newWindow(windowSize); err != nil {
		s.log.Debug().Err(err).Msg("no shared memory")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer s.end(cancel)
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}),
		arriving{s, jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed()}, jsonrpc2.SetLogger(quiet{}))
	select {
	case <-conn.DisconnectNotify():
		return nil
	case <-ctx.Done():
		return conn.Close()
	}
}

// arriving does each message on a goroutine of its own: what is done calls back, and the read loop must
// go on meanwhile. A message is known of before the loop can see that it was the last: what a debugger
// says just before it ends counts as well.
type arriving struct {
	server *Server
	next   jsonrpc2.Handler
}

// Handle implements [jsonrpc2.Handler].
func (a arriving) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	a.server.arrived.RLock()
	go func() {
		defer a.server.arrived.RUnlock()
		a.next.Handle(ctx, conn, req)
	}()
}

// endPatience is how long what has arrived may take when nobody waits for it any more.
const endPatience = 5 * time.Second

// end waits for what has arrived, and gives the shared memory back.
func (s *Server) end(cancel context.CancelFunc) {
	cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.arrived.Lock()
		defer s.arrived.Unlock()
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

func (s *Server) handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	s.log.Debug().Str("method", req.Method).Msg("request")
	if m := s.methods[req.Method]; m != nil {
		return m(ctx, conn, req)
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

func (s *Server) initialize(p InitializeParams) (*InitializeResult, error) {
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

// giveUp cancels a request, which may not have arrived yet.
func (s *Server) giveUp(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil && s.current.Num == id {
		s.cancel()
	} else {
		s.cancelled = max(s.cancelled, id) // messages overtake each other, and ids grow
	}
}

// run does one request of the debugger's, and returns its result. There is only ever one.
func (s *Server) run(ctx context.Context, id jsonrpc2.ID, f func(context.Context, InitializeParams) (any, error)) (any, error) {
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
