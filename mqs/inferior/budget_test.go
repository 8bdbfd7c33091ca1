package inferior

import (
	"context"
	"errors"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// zeros is a process whose memory is zero throughout.
type zeros struct {
	Inferior
	asked int
}

func (z *zeros) Info() Info { return Info{PointerSize: 8} }

func (z *zeros) ReadMemory(_ context.Context, ranges []Range) ([][]byte, error) {
	z.asked++
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		out[i] = make([]byte, r.Len)
	}
	return out, nil
}

// The objects of a process are bounded by the memory that they can be in, however often
// they are come to.
func TestSpend(t *testing.T) {
	z := &zeros{}
	r := NewReader(t.Context(), z)
	var s struct {
		Big Struct[struct {
			Value int64 `c:"value"`
		}] `c:"big"`
	}
	l := layout.FromDWARF(map[string]*layout.Layout{"big": {Size: 64, Fields: map[string]layout.Field{"value": {Size: 8, Kind: layout.KindSigned}}}})
	if err := Bind(&s, l); err != nil {
		t.Fatal(err)
	}
	const same = 0x10000
	// again reads the object until that fails, and says how often it was.
	again := func(r *Reader) (n int, err error) {
		for n < 10_000_000 && err == nil {
			_, err = s.Big.Read(r, same)
			n++
		}
		return n, err
	}
	n, err := again(r)
	if most := int(freeMade+madePerByte*r.mem.cached)/objectCost + 1; n < 100_000 || n > most || err == nil || !errors.Is(err, r.Spent()) {
		t.Errorf("one object was read %d times, of at most %d: %v", n, most, err)
	}
	// Memory that is there warrants more.
	r = NewReader(t.Context(), z)
	for i := range 2 * n {
		if _, err := s.Big.Read(r, At(&s.Big, same, i)); err != nil {
			t.Fatalf("object %d: %v", i, err)
		}
	}
	// One who has cancelled does not wait for that.
	ctx, cancel := context.WithCancel(t.Context())
	r = NewReader(ctx, z)
	cancel()
	if n, err = again(r); n > spendsPerLook || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, %d objects are read: %v", n, err)
	}
}
