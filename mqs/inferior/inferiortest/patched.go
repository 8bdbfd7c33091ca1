package inferiortest

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Patched is a process in which something is not as in another one, which is as it was. Each method
// that changes something returns the process, for the next one.
type Patched struct {
	inferior.Inferior

	put     map[inferior.Addr]byte // instead of what is there
	flipped map[inferior.Addr]byte // by exclusive or with what is there
	regions map[inferior.Addr][]byte
	symbols map[string]*inferior.Symbol // nil where there is none any more
	types   map[string]*layout.Layout
	threads *[]inferior.Thread
	noTypes bool
}

// Patch returns a process that is as another one until something of it is changed.
func Patch(of inferior.Inferior) *Patched {
	return &Patched{Inferior: of, put: map[inferior.Addr]byte{}, flipped: map[inferior.Addr]byte{},
		regions: map[inferior.Addr][]byte{}, symbols: map[string]*inferior.Symbol{}, types: map[string]*layout.Layout{}}
}

// order is the order of bytes in the process.
func (p *Patched) order() binary.ByteOrder {
	if p.Info().BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// PutBytes replaces bytes of memory, as far as there are some at these addresses.
func (p *Patched) PutBytes(at inferior.Addr, b []byte) *Patched {
	for i, v := range b {
		p.put[at+inferior.Addr(i)] = v
	}
	return p
}

// PutUint32 replaces 4 bytes by a number, in the process's order of bytes.
func (p *Patched) PutUint32(at inferior.Addr, v uint32) *Patched {
	b := make([]byte, 4)
	p.order().PutUint32(b, v)
	return p.PutBytes(at, b)
}

// PutUint64 replaces 8 bytes by a number, in the process's order of bytes.
func (p *Patched) PutUint64(at inferior.Addr, v uint64) *Patched {
	b := make([]byte, 8)
	p.order().PutUint64(b, v)
	return p.PutBytes(at, b)
}

// PutPointer replaces a pointer, as wide as those of the process.
func (p *Patched) PutPointer(at, to inferior.Addr) *Patched {
	if p.Info().PointerSize == 4 {
		return p.PutUint32(at, uint32(to))
	}
	return p.PutUint64(at, uint64(to))
}

// PutWords replaces words of 8 bytes by numbers, in the process's order of bytes.
func (p *Patched) PutWords(words map[inferior.Addr]uint64) *Patched {
	for at, v := range words {
		p.PutUint64(at, v)
	}
	return p
}

// Flip flips the bits of a byte that are set in mask.
func (p *Patched) Flip(at inferior.Addr, mask byte) *Patched {
	p.flipped[at] ^= mask
	return p
}

// AddMemory adds memory where the process has none or, of ranges that start in it, instead of what it
// has. What is put there is put on top.
func (p *Patched) AddMemory(at inferior.Addr, b []byte) *Patched {
	p.regions[at] = b
	return p
}

// AddPointers adds a page of 4096 bytes as [Patched.AddMemory] does: pointers, then zeros.
func (p *Patched) AddPointers(at inferior.Addr, pointers ...inferior.Addr) *Patched {
	p.AddMemory(at, make([]byte, 4096))
	for i, to := range pointers {
		p.PutPointer(at+inferior.Addr(i*p.Info().PointerSize), to)
	}
	return p
}

// RemoveSymbols removes symbols.
func (p *Patched) RemoveSymbols(names ...string) *Patched {
	for _, name := range names {
		p.symbols[name] = nil
	}
	return p
}

// SetSymbol adds a symbol, or replaces it.
func (p *Patched) SetSymbol(name string, s inferior.Symbol) *Patched {
	p.symbols[name] = &s
	return p
}

// SetType adds debug information on a type, or replaces it: all of its members, whichever are asked for.
func (p *Patched) SetType(name string, l *layout.Layout) *Patched {
	p.types[name] = l
	return p
}

// RemoveTypes removes all debug information on types.
func (p *Patched) RemoveTypes() *Patched {
	p.noTypes = true
	return p
}

// SetThreads replaces all threads.
func (p *Patched) SetThreads(threads ...inferior.Thread) *Patched {
	p.threads = &threads
	return p
}

// Held is how many bytes of memory the process beneath has in all, -1 if that is not known.
func (p *Patched) Held() int64 { return held(p.Inferior) }

func held(of inferior.Inferior) int64 {
	if h, ok := of.(interface{ Held() int64 }); ok {
		return h.Held()
	}
	return -1
}

// ReadMemory is [inferior.Inferior.ReadMemory].
func (p *Patched) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	got, err := p.Inferior.ReadMemory(ctx, ranges)
	for i, b := range got {
		r := ranges[i]
		if added := within(p.regions, r); added != nil {
			b = added
		}
		b = bytes.Clone(b)
		patch := func(bytes map[inferior.Addr]byte, change func(was, v byte) byte) {
			for a, v := range bytes {
				if a >= r.Addr && a-r.Addr < inferior.Addr(len(b)) {
					b[a-r.Addr] = change(b[a-r.Addr], v)
				}
			}
		}
		patch(p.put, func(_, v byte) byte { return v })
		patch(p.flipped, func(was, v byte) byte { return was ^ v })
		got[i] = b
	}
	return got, err
}

// FindSymbols is [inferior.Inferior.FindSymbols].
func (p *Patched) FindSymbols(ctx context.Context, names []string) ([]*inferior.Symbol, error) {
	got, err := p.Inferior.FindSymbols(ctx, names)
	for i := range got {
		if s, ok := p.symbols[names[i]]; ok {
			got[i] = s
		}
	}
	return got, err
}

// FindTypes is [inferior.Inferior.FindTypes].
func (p *Patched) FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	if p.noTypes {
		return make([]*layout.Layout, len(queries)), nil
	}
	got, err := p.Inferior.FindTypes(ctx, queries)
	for i := range got {
		if l, ok := p.types[queries[i].Name]; ok {
			got[i] = l
		}
	}
	return got, err
}

// Threads is [inferior.Inferior.Threads].
func (p *Patched) Threads(ctx context.Context, depth int, variables []string) ([]inferior.Thread, error) {
	if p.threads != nil {
		return *p.threads, nil
	}
	return p.Inferior.Threads(ctx, depth, variables)
}

// Rewritten is a process whose memory Rewrite changes in place, range by range in the order in which
// these are read.
type Rewritten struct {
	inferior.Inferior
	Rewrite func(b []byte)
}

// Held is how many bytes of memory the process beneath has in all, -1 if that is not known.
func (w *Rewritten) Held() int64 { return held(w.Inferior) }

// ReadMemory is [inferior.Inferior.ReadMemory].
func (w *Rewritten) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	got, err := w.Inferior.ReadMemory(ctx, ranges)
	for i := range got {
		got[i] = bytes.Clone(got[i])
		w.Rewrite(got[i])
	}
	return got, err
}
