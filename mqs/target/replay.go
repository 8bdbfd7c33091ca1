package target

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// replay answers from a recording. What was not recorded is not there, but that
// memory is read by pages: a page of which something was recorded is readable,
// and the rest of it is zero.
type replay struct {
	log     *processLog
	extents []extent // by address, apart
}

// newReplay reads the process's pieces from memory, at most limit bytes, and
// says how many it took.
func newReplay(log *processLog, memory io.Reader, limit int64) (*replay, int64, error) {
	if log == nil {
		return nil, 0, errors.New("a process of nothing")
	}
	if err := log.Process.Check(); err != nil {
		return nil, 0, err
	}
	t := &replay{log: log}
	var total int64
	var last Addr
	for _, p := range log.Memory {
		if p.Len <= 0 || int64(p.Len) > limit-total || p.Addr < last || p.Addr+Addr(p.Len) < p.Addr {
			return nil, 0, fmt.Errorf("%d bytes of memory at %s are out of bounds", p.Len, p.Addr)
		}
		total += int64(p.Len)
		last = p.Addr + Addr(p.Len)
		// Not made beforehand: the file may claim more than it has.
		var b bytes.Buffer
		if _, err := io.CopyN(&b, memory, int64(p.Len)); err != nil {
			return nil, 0, err
		}
		t.add(extent{p.Addr, b.Bytes()})
	}
	return t, total, nil
}

// add puts a piece, not below the last one, into its pages.
func (t *replay) add(e extent) {
	p := pages(e.start, len(e.data))
	k := len(t.extents) - 1
	if k < 0 || p.Addr > t.extents[k].end() {
		t.extents = append(t.extents, extent{start: p.Addr})
		k++
	}
	last := &t.extents[k]
	if more := int(end(p) - last.end()); more > 0 {
		last.data = append(last.data, make([]byte, more)...)
	}
	copy(last.data[e.start-last.start:], e.data)
}

func (t *replay) Info() Info { return t.log.Process }

func (t *replay) ReadMemory(_ context.Context, ranges []Range) ([][]byte, error) {
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		k, found := slices.BinarySearchFunc(t.extents, r.Addr, func(e extent, a Addr) int { return cmp.Compare(e.start, a) })
		if !found {
			k--
		}
		if k >= 0 && r.Addr < t.extents[k].end() {
			b := t.extents[k].data[r.Addr-t.extents[k].start:]
			out[i] = b[:min(len(b), r.Len)]
		}
	}
	return out, nil
}

func (t *replay) FindSymbols(_ context.Context, names []string) ([]*Symbol, error) {
	out := make([]*Symbol, len(names))
	for i, name := range names {
		out[i] = t.log.Symbols[name]
	}
	return out, nil
}

func (t *replay) FindTypes(_ context.Context, queries []TypeQuery) ([]*Layout, error) {
	out := make([]*Layout, len(queries))
	for i, q := range queries {
		out[i] = t.log.Types[q.Name]
	}
	return out, nil
}

func (t *replay) Threads(context.Context, int, []string) ([]Thread, error) { return t.log.Threads, nil }
