package mpir

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// requestPool reads the first pool of requests.
func requestPool(t *testing.T, l *Library) *openPool[Request] {
	t.Helper()
	p, err := readPool(l, inferior.Ptr[pool](l.Symbols[SymRequestPools].Addr), SymRequestPools, &l.c.Request)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A process can be stopped while it makes its first requests.
func TestPoolInTheMaking(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3-debug/recv-rank-0")
	l := openLibrary(t, tg)
	at := l.member(t, l.Symbols[SymRequestPools].Addr, "MPIR_Object_alloc_t", "num_allocated")
	if p := requestPool(t, openLibrary(t, inferiortest.Patch(tg).PutUint32(at, 0))); len(p.blocks) != 0 {
		t.Errorf("%d blocks", len(p.blocks))
	}
}

// Sizes that can't be are an error, and not what a pool is read by.
func TestPoolOutOfBounds(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	l := openLibrary(t, tg)
	const huge = 1<<31 - 1
	for member, values := range map[string][]uint32{
		"direct_size": {1 << 31, huge}, "indirect_size": {1 << 31, huge, 0}, "num_allocated": {1 << 31, huge}, "size": {0, huge},
	} {
		at := l.member(t, l.Symbols[SymRequestPools].Addr, "MPIR_Object_alloc_t", member)
		for _, value := range values {
			of := inferior.NewReader(t.Context(), inferiortest.Patch(tg).PutUint32(at, value))
			changed := *l
			changed.Reader = of
			p, err := readPool(&changed, inferior.Ptr[pool](l.Symbols[SymRequestPools].Addr), SymRequestPools, &l.c.Request)
			if err == nil || !strings.Contains(err.Error(), "objects") {
				t.Errorf("%s of %d: %v, %v", member, int32(value), p, err)
			}
		}
	}
}

// Of a pool in whose table there is a block more than its sum counts, the
// others are read.
func TestBlockInTheMaking(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	l := openLibrary(t, tg)
	before := requestPool(t, l)
	if len(before.blocks) < 2 {
		t.Fatalf("%d blocks", len(before.blocks))
	}
	at := l.member(t, l.Symbols[SymRequestPools].Addr, "MPIR_Object_alloc_t", "indirect_size")
	after := requestPool(t, openLibrary(t, inferiortest.Patch(tg).PutUint32(at, uint32(len(before.blocks)))))
	if len(after.blocks) != len(before.blocks) || after.blocks[1].n != before.blocks[1].n {
		t.Errorf("%v, before %v", after.blocks, before.blocks)
	}
}

// A handle leads to its object, in the array of the pool or in a block; one that stands for none leads to nothing.
func TestObjectOfHandle(t *testing.T) {
	p := requestPool(t, openLibrary(t, inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")))
	for _, b := range []int{0, 1} {
		at := inferior.At(p.of, p.blocks[b].at, 1)
		r, err := p.of.Read(p.l.Reader, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.object(r.Handle); got != at {
			t.Errorf("%#x is at %s, not at %s", r.Handle, got, at)
		}
		if got := p.object(r.Handle | handlePlace); got != 0 {
			t.Errorf("behind block %d there is %s", b, got)
		}
	}
}
