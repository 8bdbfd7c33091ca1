package inferior

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Reader reads one process during one stop, for one request: it carries that
// request's context, and nothing that it cached may outlive the stop.
type Reader struct {
	ctx      context.Context
	inferior Inferior
	info     Info
	order    binary.ByteOrder
	mem      memory
	watcher  Watcher // nil if nobody watches

	threads []Thread                    // nil before they were asked for
	symbols map[string]*Symbol          // those that were asked for
	types   map[string][]*layout.Layout // by what was asked for
}

// NewReader returns a reader with an empty cache. Its calls end when ctx does.
func NewReader(ctx context.Context, t Inferior) *Reader {
	r := &Reader{ctx: ctx, inferior: t, info: t.Info(), order: binary.LittleEndian,
		mem: memory{inferior: t, last: t.Info().LastAddr(), holes: map[Addr]bool{}, held: -1}}
	if r.info.BigEndian {
		r.order = binary.BigEndian
	}
	if recorder, ok := t.(*Recorder); ok {
		r.mem.used = recorder.use
	}
	if w, ok := t.(Watcher); ok {
		r.watcher, r.mem.used = w, w.SawMemory
	}
	if h, ok := t.(held); ok {
		r.mem.held = h.Held()
	}
	if running, ok := t.(Running); ok {
		r.mem.keep = running.Keep()
	}
	return r
}

// Inferior returns the process that is read.
func (r *Reader) Inferior() Inferior { return r.inferior }

// Context returns that of the request, with which all reading ends.
func (r *Reader) Context() context.Context { return r.ctx }

// Info returns what is known of the process without reading it.
func (r *Reader) Info() Info { return r.info }

// Err is not nil once the request has been cancelled.
func (r *Reader) Err() error { return r.ctx.Err() }

// Broken is the error with which the [Inferior] has failed, nil if it has not: what is not known of the process
// by then says nothing of it.
func (r *Reader) Broken() error { return r.mem.broken }

// isGone asks once more for memory that has been read.
func (r *Reader) isGone() bool {
	if len(r.mem.extents) == 0 {
		return false
	}
	again, err := r.inferior.ReadMemory(r.ctx, []Range{{r.mem.extents[0].start, 1}})
	return err != nil || len(again) != 1 || len(again[0]) == 0
}

// Threads returns where the threads are, as [Inferior.Threads] does; a second call asks nobody.
func (r *Reader) Threads(depth int, variables []string) ([]Thread, error) {
	if r.threads == nil {
		threads, err := r.inferior.Threads(r.ctx, depth, variables)
		if err != nil {
			return nil, err
		}
		r.threads = threads
	}
	return r.threads, nil
}

// Symbol looks up one global symbol, which [Reader.Symbols] may have brought already; it is
// nil if there is no such symbol.
func (r *Reader) Symbol(name string) (*Symbol, error) {
	if _, asked := r.symbols[name]; !asked {
		if _, err := r.Symbols(name); err != nil {
			return nil, err
		}
	}
	return r.symbols[name], nil
}

// Symbols looks up global symbols, in one round trip at most: none is asked for twice. Names that do not
// exist are absent.
func (r *Reader) Symbols(names ...string) (map[string]Symbol, error) {
	var ask []string
	for _, name := range names {
		if _, asked := r.symbols[name]; !asked {
			ask = append(ask, name)
		}
	}
	if ask != nil {
		found, err := r.inferior.FindSymbols(r.ctx, ask)
		if err != nil {
			return nil, err
		}
		if r.symbols == nil {
			r.symbols = map[string]*Symbol{}
		}
		for i, s := range found {
			r.symbols[ask[i]] = s
		}
	}
	out := make(map[string]Symbol, len(names))
	for _, name := range names {
		if s := r.symbols[name]; s != nil {
			out[name] = *s
		}
	}
	return out, nil
}

// Types looks up C types as [Inferior.FindTypes] does; the same queries ask nobody again.
func (r *Reader) Types(queries []layout.TypeQuery) ([]*layout.Layout, error) {
	key := fmt.Sprint(queries)
	if found, ok := r.types[key]; ok {
		return found, nil
	}
	found, err := r.inferior.FindTypes(r.ctx, queries)
	if err != nil {
		return nil, err
	}
	if r.types == nil {
		r.types = map[string][]*layout.Layout{}
	}
	r.types[key] = found
	return found, nil
}

// Bytes returns n bytes at a, which must not be changed. It fails with a
// [MemoryError] if any of them can't be read.
func (r *Reader) Bytes(a Addr, n int) ([]byte, error) { return r.mem.read(r.ctx, a, n) }

// Prefetch brings ranges that will be read into the cache in as few round trips
// as possible. Unreadable ones are no error here.
func (r *Reader) Prefetch(ranges []Range) error { return r.mem.prefetch(r.ctx, ranges) }

// partial is an [Inferior] that has a part of a process only, and knows which.
type partial interface {
	Recorded(a Addr, n int) bool
	Asked(symbol string) bool
}

// Exactly has the reader read no more of a recording than it has, to the byte. Else the rest of a page of which
// something was recorded is zero.
func (r *Reader) Exactly() {
	if t, ok := r.inferior.(partial); ok {
		r.mem.recorded = t.Recorded
	}
}

// Lacked is how often, since [Reader.Exactly], memory was wanted that a recording does not have.
func (r *Reader) Lacked() int { return r.mem.lacked }

// Lacks says whether a symbol that was looked for is known not to exist.
func (r *Reader) Lacks(symbol string) bool {
	found, asked := r.symbols[symbol]
	t, isPart := r.inferior.(partial)
	return asked && found == nil && (!isPart || t.Asked(symbol))
}

// Told returns those of some symbols that the process can be asked for: a recording tells of those alone that were looked
// for when it was made.
func (r *Reader) Told(names []string) []string {
	t, ok := r.inferior.(partial)
	if !ok {
		return names
	}
	var out []string
	for _, name := range names {
		if t.Asked(name) {
			out = append(out, name)
		}
	}
	return out
}

// LacksSymbols says whether symbols were looked for that a recording can't tell of, but for some.
func (r *Reader) LacksSymbols(but map[string]bool) bool {
	t, ok := r.inferior.(partial)
	for name := range r.symbols {
		if ok && !but[name] && !t.Asked(name) {
			return true
		}
	}
	return false
}

// Uint reads an unsigned integer of size bytes: 1, 2, 4 or 8.
func (r *Reader) Uint(a Addr, size int) (uint64, error) {
	b, err := r.Bytes(a, size)
	if err != nil {
		return 0, err
	}
	return uintOf(r.order, b), nil
}

// Int reads a signed integer of size bytes: 1, 2, 4 or 8.
func (r *Reader) Int(a Addr, size int) (int64, error) {
	v, err := r.Uint(a, size)
	return signExtend(v, size), err
}

// Pointers reads an array of n pointers.
func (r *Reader) Pointers(a Addr, n int) ([]Addr, error) { return readPointers[Addr](r, a, n) }

// ReadPointers reads an array of n pointers to objects of the C type that T reads.
func ReadPointers[T any](r *Reader, p Ptr[Ptr[T]], n int) ([]Ptr[T], error) {
	return readPointers[Ptr[T]](r, p.Addr(), n)
}

func readPointers[P ~uint64](r *Reader, a Addr, n int) ([]P, error) {
	w := r.info.PointerSize
	b, err := r.Bytes(a, n*w)
	if err != nil {
		return nil, err
	}
	if err := r.Spend(n * w); err != nil {
		return nil, err
	}
	out := make([]P, n)
	for i := range out {
		out[i] = P(uintOf(r.order, b[i*w:(i+1)*w]))
	}
	return out, nil
}

// CString reads a string of at most limit bytes that ends at its first NUL.
func (r *Reader) CString(a Addr, limit int) (string, error) {
	const step = 64
	if err := r.Spend(step); err != nil {
		return "", err
	}
	var out []byte
	for len(out) < limit {
		// Up to the next boundary: what lies behind a short string may be unreadable.
		n := min(step-int((a+Addr(len(out)))%step), limit-len(out))
		b, err := r.Bytes(a+Addr(len(out)), n)
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(out, b[:i]...)), nil
		}
		out = append(out, b...)
		if err := r.Spend(len(b)); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("no end of string within %d bytes at %s", limit, a)
}

// uintOf reads an integer of at most 8 bytes.
func uintOf(order binary.ByteOrder, b []byte) uint64 {
	if order == binary.LittleEndian {
		switch len(b) { // the usual sizes take one instruction
		case 8:
			return binary.LittleEndian.Uint64(b)
		case 4:
			return uint64(binary.LittleEndian.Uint32(b))
		case 1:
			return uint64(b[0])
		}
	}
	var v uint64
	if order == binary.BigEndian {
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		return v
	}
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

func signExtend(v uint64, size int) int64 {
	shift := 64 - 8*size
	return int64(v<<shift) >> shift
}
