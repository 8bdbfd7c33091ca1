//go:build live

package gdb

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A Fortran program's place is the Fortran line, whatever stands between it and the library's C.
func TestFortran(t *testing.T) {
	t.Parallel()
	program := work.Program(t, "tests/programs/recv.F90")
	work.Hang(t, slices.Concat(live.OpenMPI.Launcher, []string{"--mca", "pml", "ob1", "-n", "2", program}),
		"Deadlock of ranks 0-1", "rank 0 waits for rank 1: receive from rank 1, tag 7, on MPI_COMM_WORLD, in MPI_Recv at recv.F90:11\n")
}
