//go:build live

package gdb

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// provider is libfabric's that needs no network.
const provider = "tcp;ofi_rxm"

// With pml cm and mtl ofi each program's account must be what is shown of it, as far as they and libfabric keep it.
func TestOFI(t *testing.T) {
	t.Parallel()
	work.EachOverOFI(t, result.Result{}, provider, func(j live.TransportJob) bool {
		return live.IsWhole() || slices.Contains([]string{"queues", "requests"}, j.Program)
	})
}
