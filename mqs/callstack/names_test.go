package callstack

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A call has one name, whichever of its functions a thread is in. Functions that begin with MPIX_ are extensions
// of one library, and no calls of MPI.
func TestNamesOfCalls(t *testing.T) {
	for function, want := range map[string]string{
		"MPI_Recv": "MPI_Recv", "PMPI_Recv": "MPI_Recv", "MPI_Recv_c": "MPI_Recv", "PMPI_Recv_c": "MPI_Recv",
		"internal_Waitany": "MPI_Waitany", "internal_Bcast_c": "MPI_Bcast", "ompi_mpi_finalize": "MPI_Finalize",
		"MPIX_Comm_agree": "", "PMPIX_Comm_shrink": "", "main": "",
	} {
		f := inferior.Frame{Function: function}
		got := ""
		if hasMPIName(f) || tailCalled(function) != "" {
			got = callName(f)
		}
		if got != want {
			t.Errorf("%s is %q, not %q", function, got, want)
		}
	}
}
