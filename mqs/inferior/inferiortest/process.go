// Package inferiortest has the stopped processes that tests read: those of tests/recordings, processes
// of which something is changed, and made-up ones.
package inferiortest

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Process is a made-up process. The zero value has pointers of 64 bits, little-endian, and nothing else.
type Process struct {
	// Identity is what [Process.Info] returns. Pointers of 0 bytes count as pointers of 8.
	Identity inferior.Info
	// Memory is what can be read, by the address of the first byte of each region. A range is read
	// from the region that its start is in and from those that follow without a gap.
	Memory map[inferior.Addr][]byte
	// Symbols and Types are by name. What they lack is not there.
	Symbols map[string]*inferior.Symbol
	Types   map[string]*layout.Layout
	// Stacks are the threads.
	Stacks []inferior.Thread

	// Calls counts the calls of [Process.ReadMemory], BytesRead the bytes that these returned.
	Calls, BytesRead int
}

// New returns a process with maps to which memory, symbols and types can be added.
func New() *Process {
	return &Process{Memory: map[inferior.Addr][]byte{}, Symbols: map[string]*inferior.Symbol{}, Types: map[string]*layout.Layout{}}
}

// Info is [inferior.Inferior.Info].
func (p *Process) Info() inferior.Info {
	info := p.Identity
	info.PointerSize = cmp.Or(info.PointerSize, 8)
	return info
}

// ReadMemory is [inferior.Inferior.ReadMemory].
func (p *Process) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	p.Calls++
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		out[i] = within(p.Memory, r)
		for n := len(out[i]); n > 0 && len(out[i]) < r.Len; {
			more := within(p.Memory, inferior.Range{Addr: r.Addr + inferior.Addr(len(out[i])), Len: r.Len - len(out[i])})
			out[i], n = slices.Concat(out[i], more), len(more)
		}
		p.BytesRead += len(out[i])
	}
	return out, nil
}

// within is what the regions of some memory have of a range, nil if its start is in none of them.
func within(regions map[inferior.Addr][]byte, r inferior.Range) []byte {
	for start, b := range regions {
		if r.Addr >= start && r.Addr-start < inferior.Addr(len(b)) {
			b = b[r.Addr-start:]
			return b[:min(len(b), r.Len)]
		}
	}
	return nil
}

// Page is the size of the pages of [Process.Put], in bytes.
const Page = 4096

// Put puts bytes into memory. The pages that they are on are there from then on, with zeros.
func (p *Process) Put(at inferior.Addr, b []byte) {
	for len(b) > 0 {
		page := at &^ (Page - 1)
		if p.Memory[page] == nil {
			p.Memory[page] = make([]byte, Page)
		}
		n := copy(p.Memory[page][at-page:], b)
		at, b = at+inferior.Addr(n), b[n:]
	}
}

// PutUint32 puts numbers of 4 bytes side by side, as [Process.Put] does, in the process's order of bytes.
func (p *Process) PutUint32(at inferior.Addr, numbers ...uint32) {
	for i, v := range numbers {
		p.Put(at+inferior.Addr(4*i), p.Order().AppendUint32(nil, v))
	}
}

// PutUint64 puts numbers of 8 bytes side by side, as [Process.Put] does, in the process's order of bytes.
func (p *Process) PutUint64(at inferior.Addr, numbers ...uint64) {
	for i, v := range numbers {
		p.Put(at+inferior.Addr(8*i), p.Order().AppendUint64(nil, v))
	}
}

// Order is the process's order of bytes.
func (p *Process) Order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if p.Identity.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Pointer is a pointer as it stands in the process's memory.
func (p *Process) Pointer(to inferior.Addr) []byte {
	if p.Info().PointerSize == 4 {
		return p.Order().AppendUint32(nil, uint32(to))
	}
	return p.Order().AppendUint64(nil, uint64(to))
}

// FindSymbols is [inferior.Inferior.FindSymbols].
func (p *Process) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	out := make([]*inferior.Symbol, len(names))
	for i, name := range names {
		out[i] = p.Symbols[name]
	}
	return out, nil
}

// Found is what a reader finds of all the process's symbols, by name.
func (p *Process) Found() map[string]inferior.Symbol {
	out := map[string]inferior.Symbol{}
	for name, s := range p.Symbols {
		out[name] = *s
	}
	return out
}

// Field is a member of a C type: its offset and size in bytes.
func Field(offset, size int, kind layout.Kind) layout.Field {
	return layout.Field{Offset: offset, Size: size, Kind: kind}
}

// FindTypes is [inferior.Inferior.FindTypes]. A type comes with all its fields, whichever were asked for.
func (p *Process) FindTypes(_ context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	out := make([]*layout.Layout, len(queries))
	for i, q := range queries {
		out[i] = p.Types[q.Name]
	}
	return out, nil
}

// Threads is [inferior.Inferior.Threads]. They come with all their frames and variables.
func (p *Process) Threads(context.Context, int, []string) ([]inferior.Thread, error) {
	return p.Stacks, nil
}

// stackPointer is where all frames of a [Thread] begin: nothing is on such a stack.
const stackPointer = inferior.Addr(0x7000)

// Thread is a thread with the debugger's number, and 100 more as the kernel's. Its stack, which is
// complete, has the functions named, from the innermost outwards, with " < " between them: each as NAME
// or, if it is in a library, as NAME@PATH; with a colon after NAME it is at line 1 of the source "a.c".
// "?" is a function whose name is not known. Its registers have the addresses in held.
func Thread(number int, functions string, held ...inferior.Addr) inferior.Thread {
	t := inferior.Thread{Number: number, ID: 100 + number, Complete: true}
	for _, part := range strings.Split(functions, " < ") {
		name, object, _ := strings.Cut(part, "@")
		f := inferior.Frame{Object: object, StackPointer: stackPointer}
		if strings.HasSuffix(name, ":") {
			f.File, f.Line = "a.c", 1
		}
		if name = strings.TrimSuffix(name, ":"); name != "?" {
			f.Function = name
		}
		t.Frames = append(t.Frames, f)
	}
	for _, a := range held {
		t.Registers = append(t.Registers, uint64(a))
	}
	return t
}
