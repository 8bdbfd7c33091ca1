//go:build live

package gdb

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// overRXM is what needs no network and of which most is kept.
var overRXM = live.OFI{Provider: "tcp;ofi_rxm"}

// otherOFI are the others that come up with mtl ofi of a release: up to libfabric 1.17, tcp is the one below ofi_rxm; with
// Open MPI 6.0.0rc2 and libfabric 2.1, a first message over sockets does not arrive. Of tcp,
// rendezvous are by a setting, and MPI_Imrecv fails.
func otherOFI(row string) []live.OFI {
	sockets := live.OFI{Provider: "sockets", TakesAll: true}
	tcp := []live.OFI{{Provider: "tcp", TakesAll: true, LacksClaims: true}, {Provider: "tcp", Setting: "FI_TCP_MAX_SAVED_SIZE=20000", LacksClaims: true}}
	switch {
	case strings.Contains(row, "Open MPI 4."):
		return []live.OFI{sockets}
	case strings.Contains(row, "Open MPI 5."):
		return append(tcp, sockets)
	}
	return tcp
}

// With pml cm and mtl ofi each program's account must be what is shown of it, as far as they and libfabric keep it.
func TestOFI(t *testing.T) {
	t.Parallel()
	for _, by := range append(otherOFI(row(t)), overRXM) {
		t.Run(by.Name(), func(t *testing.T) {
			t.Parallel()
			live.EachProgram(t, work.RowOverOFI(t, result.Result{}, by).Only(func(p live.Program) bool {
				return sample.Whole() || p.Is("queues", "requests")
			}))
		})
	}
}
