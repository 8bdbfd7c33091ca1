package mpir

import (
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
		at := p.of.Index(p.blocks[b].at, 1)
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
