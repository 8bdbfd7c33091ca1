//go:build matrix

package matrix

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// Of handles of the distribution's stripped MPICH, of C and of Fortran, all that is shown is so. Null ones
// are known by their bits, and MPI_COMM_WORLD is by its launcher.
func TestStockMPICHHandles(t *testing.T) {
	t.Parallel()
	w, err := work.With("handles", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	programs := live.HandlePrograms
	if strings.HasPrefix(w.MPI.Release(t), "MPICH 5.") {
		programs = programs[1:] // MPI_Win_allocate_shared ends the job over UCX
	}
	for _, p := range programs {
		t.Run(filepath.Base(p.Source), func(t *testing.T) {
			t.Parallel()
			job := w.Start(t, p.Source, p.Ranks, nil)
			account := job.Accounts[1]
			w.CompareHandles(t, p, job, account, live.Process(account.PID), 1, func(expression, path string) bool {
				return path == "communicator.topology" || !strings.Contains(expression, "null") && !strings.Contains(expression, "world")
			})
		})
	}
}
