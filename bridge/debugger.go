package bridge

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Debugger is the other end while a request of its is under way.
type Debugger struct {
	// Peer is how it has introduced itself.
	Peer InitializeParams

	conn       *jsonrpc2.Conn
	window     *window
	hasWindow  bool // the debugger has opened the window
	roundTrips int
	bytesRead  int64
	written    *jsonrpc2.Waiter // for the reply to a write; nil if there is none
}

// call asks the debugger and waits for its answer.
func (d *Debugger) call(ctx context.Context, method string, params, result any) error {
	if err := d.conn.Call(ctx, method, params, result); err != nil {
		return notAnswered(method, err)
	}
	return nil
}

// Progress tells the user what is being done. Nobody waits for it.
func (d *Debugger) Progress(ctx context.Context, message string) {
	_ = d.conn.Notify(ctx, MethodProgress, ProgressParams{Message: message})
}

// Stream returns a writer for a stream of [WriteParams]. It should be given
// large pieces. A piece travels while the next one is made, so that an error is one of an earlier piece. Closing
// it keeps what was written even if the request then fails.
func (d *Debugger) Stream(ctx context.Context, name string) io.WriteCloser {
	return &stream{d, ctx, name}
}

type stream struct {
	d    *Debugger
	ctx  context.Context
	name string
}

func (s *stream) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		piece := b[written:]
		piece = piece[:min(len(piece), windowSize)]
		if err := s.d.settle(s.ctx); err != nil {
			return written, err
		}
		p := WriteParams{Stream: s.name}
		if s.d.hasWindow {
			p.Length = copy(s.d.window.bytes, piece)
			piece = piece[:p.Length]
		} else {
			p.Data = piece
		}
		sent, err := s.d.conn.DispatchCall(s.ctx, MethodWrite, p)
		if err != nil {
			return written, notAnswered(MethodWrite, err)
		}
		s.d.written = &sent
		written += len(piece)
	}
	return written, nil
}

// settle waits until what was written last has arrived: the window is free then.
func (d *Debugger) settle(ctx context.Context) error {
	if d.written == nil {
		return nil
	}
	err := d.written.Wait(ctx, nil)
	d.written = nil
	if err != nil {
		return notAnswered(MethodWrite, err)
	}
	return nil
}

func notAnswered(method string, err error) error {
	return fmt.Errorf("the debugger did not answer %s: %w", method, err)
}

// Close ends the stream.
func (s *stream) Close() error {
	if err := s.d.settle(s.ctx); err != nil {
		return err
	}
	return s.d.call(s.ctx, MethodWrite, WriteParams{Stream: s.name, Data: []byte{}, Last: true}, nil)
}

// Inferior returns a process of the debugger's as an [inferior.Inferior].
func (d *Debugger) Inferior(p Process) inferior.Inferior { return &process{d, p} }

type process struct {
	d *Debugger
	p Process
}

func (t *process) Info() inferior.Info { return t.p }

func (t *process) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	p := ReadMemoryParams{Inferior: t.p.Inferior}
	for _, r := range ranges {
		p.Ranges = append(p.Ranges, MemoryRange{uint64(r.Addr), r.Len})
	}
	var got ReadMemoryResult
	if err := t.d.settle(ctx); err != nil {
		return nil, err
	}
	if err := t.d.call(ctx, MethodReadMemory, p, &got); err != nil {
		return nil, err
	}
	if len(got.Readable) != len(ranges) {
		return nil, fmt.Errorf("the debugger answered %d of %d ranges", len(got.Readable), len(ranges))
	}
	total := 0
	for i, n := range got.Readable {
		if n < 0 || n > ranges[i].Len {
			return nil, fmt.Errorf("the debugger answered %d bytes for %d", n, ranges[i].Len)
		}
		total += n
	}
	data := got.Data
	if data == nil && total > 0 {
		if !t.d.hasWindow || total > len(t.d.window.bytes) {
			return nil, fmt.Errorf("the debugger's %d bytes are not there", total)
		}
		data = append([]byte(nil), t.d.window.bytes[:total]...)
	}
	if len(data) != total {
		return nil, fmt.Errorf("the debugger sent %d bytes where it says %d", len(data), total)
	}
	t.d.roundTrips++
	t.d.bytesRead += int64(total)
	out := make([][]byte, len(ranges))
	for i, n := range got.Readable {
		out[i], data = data[:n:n], data[n:]
	}
	return out, nil
}

func (t *process) FindSymbols(ctx context.Context, names []string) ([]*inferior.Symbol, error) {
	var got FindSymbolsResult
	if err := t.d.call(ctx, MethodFindSymbols, FindSymbolsParams{t.p.Inferior, names}, &got); err != nil {
		return nil, err
	}
	t.d.roundTrips++
	if len(got.Symbols) != len(names) {
		return nil, fmt.Errorf("the debugger answered %d of %d symbols", len(got.Symbols), len(names))
	}
	return got.Symbols, nil
}

func (t *process) FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	var got FindTypesResult
	if err := t.d.call(ctx, MethodFindTypes, FindTypesParams{t.p.Inferior, queries}, &got); err != nil {
		return nil, err
	}
	t.d.roundTrips++
	if len(got.Types) != len(queries) {
		return nil, fmt.Errorf("the debugger answered %d of %d types", len(got.Types), len(queries))
	}
	return got.Types, nil
}

func (t *process) Threads(ctx context.Context, depth int, variables []string) ([]inferior.Thread, error) {
	var got ListThreadsResult
	if err := t.d.call(ctx, MethodListThreads, ListThreadsParams{t.p.Inferior, depth, variables}, &got); err != nil {
		return nil, err
	}
	t.d.roundTrips++
	return got.Threads, nil
}

// Cost is what a request has taken so far that began at start.
func (d *Debugger) Cost(start time.Time) Result {
	return Result{RoundTrips: d.roundTrips, BytesRead: d.bytesRead, Seconds: time.Since(start).Seconds()}
}
