//go:build matrix || full

// Package suite reads programs of MPICH's own test suite at random moments, with Open MPI and with MPICH.
// These programs end by themselves when they are left alone, so a verdict of deadlock would be wrong.
// Nothing is skipped.
package suite

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// plan is how much is looked at.
type plan struct {
	// programs are looked at with each MPI, each in all ways. MPICH's are shared by two builds.
	programs int
	// reports is how often a report is made of a program that runs.
	reports int
	// sitting is how often one gdb looks at a program.
	sitting int
	// fragile is true if programs are looked at that now and then hang by themselves ([mpi.isFragile]).
	fragile bool
	// seed of all that is random; 0 is another one each time.
	seed uint64
}

var (
	work *live.Workspace
	// source is the folder of the suite, test/mpi of MPICH's source.
	source string
)

func TestMain(m *testing.M) {
	live.Main(m, func(w *live.Workspace) error {
		work = w
		folder, err := live.Built("../mpich/build", "source")
		source = folder + "/test/mpi"
		return err
	})
}
