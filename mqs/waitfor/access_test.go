package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// TestHasMovedToAnAccess checks that a rank has moved if it has left a receive for a call that accesses memory: such calls
// alone prove no progress, as in a loop that polls another rank's memory.
func TestHasMovedToAnAccess(t *testing.T) {
	in := func(call string) *mqs.Process {
		r := newMade(2).rank(0)
		r.computes()
		r.Threads[0].Call, r.Progress = call, mqs.Known[uint64](1)
		return r.Process
	}
	if !HasMoved(in("MPI_Win_flush"), in("MPI_Recv")) || HasMoved(in("MPI_Win_flush"), in("MPI_Win_flush")) {
		t.Error("a rank has moved if it has left a receive for a flush, and only then")
	}
}
