package inferior

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// replay answers from a recording. What was not recorded is not there, but that
// memory is read by pages: a page of which something was recorded is readable,
// and the rest of it is zero.
type replay struct {
	log    *processLog
	pieces []extent // by address, apart
	held   int64    // bytes in all
}

// newReplay reads the process's pieces from memory, at most limit bytes.
func newReplay(log *processLog, memory io.Reader, limit int64) (*replay, error) {
	if log == nil {
		return nil, errors.New("a process of nothing")
	}
	if err := log.Process.Check(); err != nil {
		return nil, err
	}
	t := &replay{log: log}
	var last Addr
	var slab []byte
	for _, p := range log.Memory {
		if p.Len <= 0 || int64(p.Len) > limit-t.held || p.Addr < last || p.Addr+Addr(p.Len) < p.Addr {
			return nil, fmt.Errorf("%d bytes of memory at %s are out of bounds", p.Len, p.Addr)
		}
		t.held += int64(p.Len)
		last = p.Addr + Addr(p.Len)
		if p.Len > pieceSlab {
			// Not made beforehand: the file may claim more than it has.
			var b bytes.Buffer
			if _, err := io.CopyN(&b, memory, int64(p.Len)); err != nil {
				return nil, err
			}
			t.pieces = append(t.pieces, extent{p.Addr, b.Bytes()})
			continue
		}
		if len(slab) < p.Len {
			slab = make([]byte, pieceSlab)
		}
		if _, err := io.ReadFull(memory, slab[:p.Len]); err != nil {
			return nil, err
		}
		t.pieces = append(t.pieces, extent{p.Addr, slab[:p.Len:p.Len]})
		slab = slab[p.Len:]
	}
	return t, nil
}

// pieceSlab is the size of what small pieces share.
const pieceSlab = 64 << 10

// Held is how many bytes were recorded. Memory of that size is all that a reader should
// make anything of, however many pages they are on.
func (t *replay) Held() int64 { return t.held }

// Recorded says whether all of n bytes at a were recorded.
func (t *replay) Recorded(a Addr, n int) bool {
	i, _ := slices.BinarySearchFunc(t.pieces, a, func(e extent, a Addr) int { return cmp.Compare(e.end()-1, a) })
	return i < len(t.pieces) && t.pieces[i].start <= a && a+Addr(n) <= t.pieces[i].end()
}

// Asked says whether a symbol was looked for when the recording was made.
func (t *replay) Asked(symbol string) bool { _, ok := t.log.Symbols[symbol]; return ok }

func (t *replay) Info() Info { return t.log.Process }

func (t *replay) ReadMemory(ctx context.Context, ranges []Range) ([][]byte, error) {
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = t.read(r)
	}
	return out, nil
}

// read returns what is readable from the start of a range.
func (t *replay) read(r Range) []byte {
	first, _ := slices.BinarySearchFunc(t.pieces, r.Addr&^(pageSize-1), func(e extent, a Addr) int { return cmp.Compare(e.end()-1, a) })
	pieces := t.pieces[first:]
	if len(pieces) > 0 && pieces[0].start <= r.Addr && end(r) <= pieces[0].end() {
		return pieces[0].data[r.Addr-pieces[0].start:][:r.Len:r.Len]
	}
	readable := r.Addr
	for _, e := range pieces {
		p := pages(e.start, len(e.data))
		if readable >= end(r) || p.Addr > readable {
			break
		}
		if readable = end(p); readable == 0 { // the last page that there is
			readable = ^Addr(0)
		}
	}
	if readable == r.Addr {
		return nil
	}
	readable = min(readable, end(r))
	b := make([]byte, readable-r.Addr)
	for _, e := range pieces {
		if e.start >= readable {
			break
		}
		if from := max(e.start, r.Addr); from < e.end() {
			copy(b[from-r.Addr:], e.data[from-e.start:])
		}
	}
	return b
}

func (t *replay) FindSymbols(_ context.Context, names []string) ([]*Symbol, error) {
	out := make([]*Symbol, len(names))
	for i, name := range names {
		out[i] = t.log.Symbols[name]
	}
	return out, nil
}

func (t *replay) FindTypes(_ context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	out := make([]*layout.Layout, len(queries))
	for i, q := range queries {
		out[i] = t.log.Types[q.Name]
	}
	return out, nil
}

func (t *replay) Threads(context.Context, int, []string) ([]Thread, error) { return t.log.Threads, nil }
