//go:build matrix

package wheels

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// The libfabric that Intel MPI's wheel brings has the provider psm3, which Debian's lacks. Beneath the distribution's
// Open MPI each program's account must be what is shown of it.
func TestPSM3(t *testing.T) {
	t.Parallel()
	w := overIntelsFabric(t)
	// Through shared memory it needs no network: over sockets, ranks of one machine do not reach each other.
	by := live.OFI{Provider: "psm3", Setting: "PSM3_DEVICES=self,shm"}
	row := w.RowOverOFI(t, result.Result{Build: live.System(t) + ", stripped, libfabric of Intel MPI's wheel"}, by)
	row.Check = func(t *testing.T, r *live.RowReading) { mapsPSM3(t, r.Account.PID) }
	live.EachProgram(t, row.Only(func(p live.Program) bool {
		return sample.Whole() || p.Is("queues", "requests", "blocked send")
	}))
}

// overIntelsFabric is a workspace for the distribution's Open MPI on that libfabric.
func overIntelsFabric(t *testing.T) *live.Workspace {
	t.Helper()
	from, alone := filepath.Join(folder, impi, "lib"), filepath.Join(work.Folder, "libfabric")
	// There are an MPI and other libraries beside it.
	if err := os.Mkdir(alone, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(from, "libfabric.so.1"), filepath.Join(alone, "libfabric.so.1")); err != nil {
		t.Fatal(err)
	}
	mpi := work.MPI
	mpi.Launcher = slices.Concat(mpi.Launcher, mpi.Setting("LD_LIBRARY_PATH", alone), mpi.Setting("FI_PROVIDER_PATH", from))
	w, err := work.With("over-psm3", mpi)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// mapsPSM3 fails the test unless a process has the wheel's provider.
func mapsPSM3(t *testing.T, pid int) {
	t.Helper()
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Path == filepath.Join(folder, impi, "lib", "libpsm3-fi.so") {
			return
		}
	}
	t.Fatalf("process %d has no psm3", pid)
}
