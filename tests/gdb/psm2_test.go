//go:build live

package gdb

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// With pml cm and mtl psm2 each program's account must be what is shown of it, as far as they keep it.
func TestPSM2(t *testing.T) {
	t.Parallel()
	work.WithOmniPath(t).EachOverPSM2(t, result.Result{}, func(j live.TransportJob) bool {
		return live.IsWhole() || slices.Contains([]string{"queues", "requests"}, j.Program)
	})
}
