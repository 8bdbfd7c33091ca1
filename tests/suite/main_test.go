//go:build matrix || full

// Package suite reads programs of MPICH's own test suite at random moments, with Open MPI and with MPICH.
// These programs end by themselves when they are left alone, so a verdict of deadlock would be wrong.
// Nothing is skipped.
package suite

import (
	"fmt"
	"os"
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
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := live.Built("../mpich/build", "source")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	source = folder + "/test/mpi"
	if work, err = live.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer work.Close()
	return m.Run()
}
