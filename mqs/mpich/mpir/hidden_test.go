package mpir

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// TestPoolsOf checks that pools that were never used are returned only if no pool of the kind is in use, and that a pool whose first object
// has another kind is refused.
func TestPoolsOf(t *testing.T) {
	const first = 0x88000000 // of a group
	of := func(at inferior.Addr, change func(p *hiddenPool)) hiddenPool {
		p := hiddenPool{pool: pool{Initialized: 1, Avail: 0x10, Allocated: 8, Direct: 0x20}, at: at, first: first}
		change(&p)
		return p
	}
	unused := func(p *hiddenPool) { p.Initialized, p.Avail, p.Allocated, p.first = 0, 0, 0, 0 }
	asItIs := func(*hiddenPool) {}
	both := func(changes ...func(p *hiddenPool)) func(p *hiddenPool) {
		return func(p *hiddenPool) {
			for _, change := range changes {
				change(p)
			}
		}
	}
	for name, c := range map[string]struct {
		all  []hiddenPool
		want []inferior.Addr
	}{
		"in use":                         {[]hiddenPool{of(1, asItIs)}, []inferior.Addr{1}},
		"two in use":                     {[]hiddenPool{of(1, asItIs), of(2, asItIs)}, []inferior.Addr{1, 2}},
		"unused":                         {[]hiddenPool{of(1, unused)}, []inferior.Addr{1}},
		"one in use and one unused":      {[]hiddenPool{of(1, unused), of(2, asItIs)}, []inferior.Addr{2}},
		"in use, without a first block":  {[]hiddenPool{of(1, func(p *hiddenPool) { p.first, p.Direct = 0, 0 })}, []inferior.Addr{1}},
		"of another kind":                {[]hiddenPool{of(1, func(p *hiddenPool) { p.first = 0x84000000 })}, nil},
		"of predefined objects":          {[]hiddenPool{of(1, func(p *hiddenPool) { p.first = 0x48000000 })}, nil},
		"of a state that there isn't":    {[]hiddenPool{of(1, func(p *hiddenPool) { p.Initialized = 2 })}, nil},
		"unused, with a free object":     {[]hiddenPool{of(1, both(unused, func(p *hiddenPool) { p.Avail = 0x10 }))}, nil},
		"unused, with objects":           {[]hiddenPool{of(1, both(unused, func(p *hiddenPool) { p.Allocated = 1 }))}, nil},
		"unused, of objects with a name": {[]hiddenPool{of(1, both(unused, func(p *hiddenPool) { p.first = first }))}, nil},
	} {
		if got := poolsOf(c.all, objectGroup); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The data of a library is read from the page of a symbol of constants or, where the library has Fortran, from shortly before
// one of the data, as far as there is some.
func TestImage(t *testing.T) {
	const constants, end = inferior.Addr(0x10_0123), 0x11_4000
	p := inferiortest.New()
	for at := inferior.Addr(0x10_0000); at < end; at += inferiortest.Page {
		p.PutUint32(at, uint32(at))
	}
	symbols := map[string]inferior.Symbol{symConstants: {Addr: constants, Object: "mpich"}}
	if _, ok := NewImage(inferior.NewReader(t.Context(), p), nil); ok {
		t.Error("without symbols there is data")
	}
	for name, c := range map[string]struct {
		data  *inferior.Symbol
		start inferior.Addr
	}{
		"constants alone":              {nil, 0x10_0000},
		"data near them":               {&inferior.Symbol{Addr: constants + imageLead/2, Object: "mpich"}, 0x10_0000},
		"data far from them":           {&inferior.Symbol{Addr: 0x11_2100, Object: "mpich"}, 0x10_e000},
		"data before them":             {&inferior.Symbol{Addr: constants - 0x100, Object: "mpich"}, 0x10_0000},
		"data of another library":      {&inferior.Symbol{Addr: 0x11_2100, Object: "other"}, 0x10_0000},
		"data where the constants are": {&inferior.Symbol{Addr: constants, Object: "mpich"}, 0x10_0000},
	} {
		if delete(p.Symbols, symData); c.data != nil {
			p.Symbols[symData] = c.data
		}
		m, ok := NewImage(inferior.NewReader(t.Context(), p), symbols)
		if !ok || m.Has(c.start) {
			t.Fatalf("%s: there is none, or it is read already", name)
		}
		grown := 0
		for m.Grow() {
			grown++
		}
		if !m.Has(c.start) || m.Has(c.start-1) || !m.Has(end-1) || m.Has(end) || m.handleAt(c.start) != uint32(c.start) || m.handleAt(end-3) != 0 || m.handleAt(end-4) != 0 || m.handleAt(c.start-4) != 0 {
			t.Errorf("%s: from %#x on", name, m.start)
		}
		want := 1 // each step doubles what has been read
		for size := imageStep; c.start+inferior.Addr(size) < end; size *= 2 {
			want++
		}
		if grown != want {
			t.Errorf("%s: it has grown %d times, not %d", name, grown, want)
		}
	}
}

// TestFirstOf checks that consecutive pools count as one array, and others do not.
func TestFirstOf(t *testing.T) {
	m := &Image{}
	for name, c := range map[string]struct{ found, want []inferior.Addr }{
		"none": {nil, nil}, "one": {[]inferior.Addr{8}, []inferior.Addr{8}}, "an array": {[]inferior.Addr{8, 24, 40}, []inferior.Addr{8}},
		"apart": {[]inferior.Addr{8, 32}, []inferior.Addr{8, 32}},
	} {
		if got := m.firstOf(c.found, 16); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Objects are looked for at each word of the data, up to the last one that has room.
func TestEachOfImage(t *testing.T) {
	m := &Image{start: 0x1000, bytes: make([]byte, 32), word: 8}
	for size, want := range map[int][]inferior.Addr{8: {0x1000, 0x1008, 0x1010, 0x1018}, 9: {0x1000, 0x1008, 0x1010}, 32: {0x1000}, 33: nil} {
		var got []inferior.Addr
		m.Each(size, func(at inferior.Addr, b []byte) {
			if got = append(got, at); len(b) != size {
				t.Errorf("%d bytes, not %d", len(b), size)
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("of %d bytes: %v, want %v", size, got, want)
		}
	}
}
