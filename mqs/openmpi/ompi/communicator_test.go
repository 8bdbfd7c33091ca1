package ompi_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A table tried on a library that it does not fit can read anything.
func TestProofsStandAnyArray(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	f, ok := p.Layouts.Field("opal_pointer_array_t", "size")
	if !ok || f.Size != 4 {
		t.Fatalf("size is %+v", f)
	}
	at := p.Symbols[ompi.SymCommunicators].Addr + inferior.Addr(f.Offset)
	for _, size := range []uint64{0, 1, 2, 1 << 31, 1<<31 - 1} {
		if _, _, err := ompitest.Open(t, inferiortest.Patch(tg).PutUint64(at, size), ob1.Component); err == nil {
			t.Errorf("an array of %d was believed", size)
		}
	}
}
