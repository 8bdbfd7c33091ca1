package dll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/dll/needs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// hostProcess is a running host with its DLL, and the helper's end of the connection. It serves one
// request at a time. After an error of [hostProcess.do] that is not the DLL's own, the host has ended.
type hostProcess struct {
	// mu is held during a request, and while the host is ended.
	mu sync.Mutex

	path   string // of the DLL
	file   string // tells that file from a newer one
	loaded wire.Loaded
	// early is the reply to the request that loaded the DLL.
	early *wire.Reply

	cmd    *exec.Cmd
	stream net.Conn
	conn   *wire.Conn[wire.ToHost, wire.FromHost]
	state  *wire.State
	words  *tail // what the DLL prints
	ended  bool
}

// The file descriptors with which a host is started.
const (
	StreamFD = 3
	StateFD  = 4
)

// startHost starts a host. Its loader searches no folder in which others could put a library, except
// the safe folders. The DLL is not loaded yet.
func startHost(path string, safe []string, command func() *exec.Cmd) (*hostProcess, error) {
	state, err := wire.NewState()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := wire.SocketPair()
	if err != nil {
		state.Close()
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	h := &hostProcess{path: path, cmd: command(), stream: ours, state: state, words: &tail{}}
	h.conn = wire.NewConn[wire.ToHost, wire.FromHost](ours)
	h.cmd.Dir, h.cmd.Env = "/", needs.Environment(h.cmd.Environ(), safe)
	h.cmd.ExtraFiles = []*os.File{theirs, state.File}
	h.cmd.Stdout, h.cmd.Stderr = h.words, h.words
	// A process that the DLL has started may keep its standard output open.
	h.cmd.WaitDelay = 100 * time.Millisecond
	h.cmd.SysProcAttr = endWithUs
	if err := h.cmd.Start(); err != nil {
		_ = ours.Close()
		state.Close()
		return nil, fmt.Errorf("the process for the DLL can't be started: %w", err)
	}
	return h, nil
}

// do makes a request, and answers from t what the host asks meanwhile. The host may take limit, where
// 0 means no limit. Time that t takes does not count, up to ten times the limit: a DLL may ask without
// end. If the reply is not nil, the error is the DLL's own; without an error, the reply has what was
// asked for.
func (h *hostProcess) do(ctx context.Context, t inferior.Inferior, limit time.Duration, request wire.ToHost) (*wire.Reply, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, h.fault("has ended")
	}
	stop := context.AfterFunc(ctx, func() { _ = h.stream.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	began, left, message := time.Now(), limit, request
	for {
		asked := time.Now()
		var deadline time.Time // none
		if limit > 0 {
			deadline = asked.Add(left)
		}
		_ = h.stream.SetDeadline(deadline)
		if ctx.Err() != nil { // that may have undone the deadline of its end
			return nil, h.end(ctx, ctx.Err(), limit)
		}
		if err := h.conn.Send(message); err != nil {
			return nil, h.end(ctx, err, limit)
		}
		m, err := h.conn.Receive()
		if err != nil {
			return nil, h.end(ctx, err, limit)
		}
		left -= time.Since(asked)
		switch {
		case m.Ask != nil && limit > 0 && time.Since(began) > 10*limit:
			return nil, h.end(ctx, errNoEnd, limit)
		case m.Ask != nil && !isSensible(t, m.Ask):
			return nil, h.end(ctx, errNonsense, limit)
		case m.Ask != nil:
			answer, err := serve(ctx, t, m.Ask)
			if err != nil {
				_ = h.end(ctx, err, limit)
				return nil, err
			}
			message = wire.ToHost{Answer: answer}
		case m.Reply != nil && m.Reply.Error != "":
			clean(m.Reply)
			err := errors.New(h.name() + ": " + m.Reply.Error)
			if m.Reply.Wordless {
				err = wordless{err}
			}
			return m.Reply, err
		case m.Reply != nil && m.Reply.Answers(request):
			clean(m.Reply)
			return m.Reply, nil
		default:
			return nil, h.end(ctx, errNonsense, limit)
		}
	}
}

// Why a running host is ended.
var (
	// errNonsense is for a message that no sane host sends. Its DLL may have overwritten its memory.
	errNonsense = errors.New("it sent nonsense")
	errNoEnd    = errors.New("it asks without end")
)

// maxAsked bounds the number of things for which a host asks at once.
const maxAsked = 1 << 14

// wordless is a failure for whose result code the DLL has no words.
type wordless struct{ error }

// isSensible says whether a sane host can ask this.
func isSensible(t inferior.Inferior, a *wire.Ask) bool {
	total := 0
	for _, r := range a.Ranges {
		if r.Len <= 0 || r.Len > inferior.MaxFetch {
			return false
		}
		total += r.Len
	}
	asked := len(a.Ranges) + len(a.Symbols) + len(a.Types)
	return t != nil && asked > 0 && asked <= maxAsked && total <= inferior.MaxFetch
}

// serve answers what the host asks.
func serve(ctx context.Context, t inferior.Inferior, a *wire.Ask) (*wire.Answer, error) {
	out := &wire.Answer{}
	switch {
	case len(a.Ranges) > 0:
		memory, err := t.ReadMemory(ctx, a.Ranges)
		if err != nil {
			return nil, err
		}
		out.Memory = memory
	case len(a.Symbols) > 0:
		found, err := t.FindSymbols(ctx, a.Symbols)
		if err != nil {
			return nil, err
		}
		out.Symbols = make([]wire.Symbol, len(found))
		for i, s := range found {
			if s != nil {
				out.Symbols[i] = wire.Symbol{Found: true, Symbol: *s}
			}
		}
	case len(a.Types) > 0:
		found, err := t.FindTypes(ctx, a.Types)
		if err != nil {
			return nil, err
		}
		out.Types = make([]wire.Type, len(found))
		for i, l := range found {
			if l != nil {
				out.Types[i] = wire.Type{Found: true, Layout: *l}
			}
		}
	}
	return out, nil
}

// end ends the host after an error of a request, and returns an error that says what happened.
func (h *hostProcess) end(ctx context.Context, err error, limit time.Duration) error {
	inside, isInside := h.state.Inside()
	var timeout net.Error
	late := errors.As(err, &timeout) && timeout.Timeout()
	byItself := false
	if !late && ctx.Err() == nil && !errors.Is(err, errNonsense) && !errors.Is(err, errNoEnd) {
		byItself = h.wait(time.Second) // it may be just about to end
	}
	h.release()
	where := "between two calls"
	if isInside {
		where = "in " + inside.String()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case late && isInside:
		return h.fault("did not return from %s within %s: the time is set by `set mpi-queues dll-timeout'", inside, limit)
	case late:
		return h.fault("kept its process from answering within %s: the time is set by `set mpi-queues dll-timeout'", limit)
	case errors.Is(err, errNoEnd):
		return h.fault("asked for more and more %s, for ten times as long as `set mpi-queues dll-timeout' allows", where)
	}
	if !byItself {
		return h.fault("broke the connection to its process %s (%v)%s", where, err, h.lastWords())
	}
	how := h.cmd.ProcessState
	status, _ := how.Sys().(syscall.WaitStatus)
	if signal := h.words.signal(); signal != "" {
		return h.fault("crashed %s (%s)%s", where, signal, h.lastWords())
	}
	if status.Signaled() {
		return h.fault("was ended %s by signal %s%s", where, unix.SignalName(status.Signal()), h.lastWords())
	}
	return h.fault("ended its process %s (exit status %d)%s", where, how.ExitCode(), h.lastWords())
}

// fault returns an error about the DLL.
func (h *hostProcess) fault(format string, args ...any) error {
	return errors.New(h.name() + " " + fmt.Sprintf(format, args...))
}

// name is the DLL's name in messages.
func (h *hostProcess) name() string { return filepath.Base(h.path) }

// lastWords returns the last line that the DLL printed, as a clause.
func (h *hostProcess) lastWords() string {
	if words := h.words.last(); words != "" {
		return "; it had printed last: " + words
	}
	return ""
}

// wait gives the host a moment to end by itself, and says whether it has.
func (h *hostProcess) wait(moment time.Duration) bool {
	timer := time.AfterFunc(moment, func() { _ = h.cmd.Process.Kill() })
	_ = h.cmd.Wait()
	return timer.Stop()
}

// close ends the host, whatever its DLL does. It may be called at any time; a pending request fails.
func (h *hostProcess) close() {
	_ = h.stream.Close()
	_ = h.cmd.Process.Kill()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release()
}

// hasEnded says whether the host has ended. It waits until no request is pending.
func (h *hostProcess) hasEnded() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// release ends the host if it has not ended. The caller holds mu.
func (h *hostProcess) release() {
	if h.ended {
		return
	}
	h.ended = true
	_ = h.stream.Close()
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
	h.state.Close()
}
