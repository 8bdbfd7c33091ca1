package ompi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Of several non-blocking collectives it is not known which one a call has begun.
func TestOneNonBlocking(t *testing.T) {
	of := func(comm inferior.Ptr[Communicator], tag int32) Waitable { return Waitable{Comm: comm, Tag: tag} }
	for _, c := range []struct {
		name string
		open []Waitable
		want int
	}{
		{"none", []Waitable{of(1, 7), of(1, -16)}, 0},
		{"two messages of one", []Waitable{of(1, -27), of(1, 7), of(1, -27)}, 2},
		{"two on a communicator", []Waitable{of(1, -27), of(1, -28)}, 0},
		{"one on each of two", []Waitable{of(1, -27), of(2, -27)}, 0},
	} {
		if got := ofOneNonBlocking(c.open); len(got) != c.want {
			t.Errorf("%s: %d, want %d", c.name, len(got), c.want)
		}
	}
}

// Calls that may have made a send are counted: collectives send, and MPI_Isend makes one for the program.
func TestCallsThatSend(t *testing.T) {
	var calls []callstack.Call
	for _, function := range []string{"MPI_Send", "MPI_Sendrecv", "MPI_Barrier", "MPI_Win_fence", "MPI_Recv", "MPI_Waitall", "MPI_Isend", "MPI_Start"} {
		calls = append(calls, callstack.Call{Function: function})
	}
	if got := callsThatSend(calls); got != 4 {
		t.Errorf("%d calls", got)
	}
}
