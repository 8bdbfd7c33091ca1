//go:build live

package gdb

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// With pml ucx each program's account must be what is shown of it, as far as UCX keeps it.
func TestUCX(t *testing.T) {
	t.Parallel()
	work.EachOverUCX(t, result.Result{}, func(j live.TransportJob, protocols string) bool {
		return !testing.Short() || j.Program == "queues" || j.Program == "requests" && protocols == "n" // the matrix has them all
	}, nil)
}
