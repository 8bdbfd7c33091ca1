// Package procmem reads variables of a live process without a debugger, from /proc/PID/mem: it finds
// them by the symbols of the files that the process has in its memory, and reads
// them while the process runs on, as an [inferior.Running]. On other systems than Linux it
// reads nothing.
package procmem

import (
	"context"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// keep is how many bytes of a process's memory a reader keeps.
const keep = 256 << 10

// Keep is [inferior.Running.Keep].
func (*Process) Keep() int64 { return keep }

// Close ends the reading.
func (p *Process) Close() { _ = p.memory.Close() }

// Info returns what is known of the process: which libraries it has is not.
func (p *Process) Info() inferior.Info { return p.info }

// ReadMemory is [inferior.Inferior.ReadMemory].
func (p *Process) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if int64(r.Addr) < 0 {
			continue // the kernel's, which no file offset leads to
		}
		b := make([]byte, r.Len)
		n, _ := p.memory.ReadAt(b, int64(r.Addr))
		out[i] = b[:n]
	}
	return out, nil
}

// FindSymbols is [inferior.Inferior.FindSymbols], of the symbols that were looked for when the
// process was opened.
func (p *Process) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	out := make([]*inferior.Symbol, len(names))
	for i, name := range names {
		if s, ok := p.symbols[name]; ok {
			out[i] = &inferior.Symbol{Addr: inferior.Addr(s.addr)}
		}
	}
	return out, nil
}

// SymbolSize is a variable's size in bytes, 0 if that is not known.
func (p *Process) SymbolSize(name string) uint64 { return p.symbols[name].size }

// FindTypes finds none: no debug information is read.
func (p *Process) FindTypes(_ context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	return make([]*layout.Layout, len(queries)), nil
}

// Threads finds none: a process that runs on has no stacks to read.
func (p *Process) Threads(context.Context, int, []string) ([]inferior.Thread, error) { return nil, nil }

// Open looks for symbols in one process, as [Files.Open].
func Open(pid int, symbols ...string) (*Process, error) { return NewFiles(symbols...).Open(pid) }
