package tagged

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// TestOFITaken checks that a message that MPI_Mprobe has taken is refused if the mtl's request of the probe has another tag.
func TestOFITaken(t *testing.T) {
	of, q, m := overOFI(t, "requests-rank-0")
	list, err := q.R.Symbol(symMessages)
	if err != nil {
		t.Fatal(err)
	}
	changed := inferiortest.Patch(of)
	if err := ompi.EachElement(q.Process, inferior.Ptr[ompi.FreeList](list.Addr), symMessages, func(at inferior.Ptr[ompi.Message]) error {
		h, err := q.Message.Read(q.R, at)
		if _, gone := m.MessageAt(h.Taken); gone == nil {
			changed.PutUint64(memberAt(t, &m.of.OFI, inferior.Ptr[ofiRequest](h.Taken), func(r *ofiRequest) *uint64 { return &r.Match }), 1)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	q, _ = openOf(t, changed)
	if notes := strings.Join(q.Process.Notes(), "\n"); !strings.Contains(notes, "has found tag 0x1,") {
		t.Errorf("%q", notes)
	}
}
