//go:build matrix

package mpich

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// ch3 is the build of that name, with which tests run that need one build. Those of other builds alone leave them out.
func ch3(t *testing.T) *variant {
	t.Helper()
	for _, v := range variants {
		if v.Name == "ch3" {
			return v
		}
	}
	t.Skip("it is for the build ch3")
	return nil
}

// TestLaunch finds the ranks of MPICH's launcher: by its table and, of the
// distribution's, which is stripped, by the environment.
func TestLaunch(t *testing.T) {
	t.Parallel()
	v := ch3(t)
	stripped, err := work.With("stripped-launcher", stock)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]*live.Workspace{"with a table": v.work, "stripped": stripped} {
		for wrapper, flags := range map[string][]string{"bare": nil, "in a shell": {"sh", "-c", `"$0" "$@"; true`}} {
			t.Run(name+", "+wrapper, func(t *testing.T) {
				job := w.Start(t, "queues", 3, flags)
				asked := map[int]int{job.Launcher(): -1}
				for rank, a := range job.Accounts {
					asked[a.PID] = rank
					if flags != nil {
						asked[parent(t, a.PID)] = rank
					}
				}
				for pid, self := range asked {
					checkJob(t, job, pid, self)
				}
			})
		}
	}
}

// checkJob finds a job by one of its processes, which is of rank self or, for -1, the launcher.
func checkJob(t *testing.T, job *live.Job, pid, self int) {
	t.Helper()
	found, err := launch.Find(pid)
	if err != nil {
		t.Fatal(err)
	}
	if found.Launcher != job.Launcher() || found.Size != mqs.Known(int32(len(job.Accounts))) || len(found.Ranks) != len(job.Accounts) || found.Others != nil {
		t.Fatalf("by process %d: %+v, want the launcher %d", pid, found, job.Launcher())
	}
	for rank, a := range job.Accounts {
		want := launch.Rank{Number: mqs.Known(int32(rank)), PID: a.PID, Executable: job.Program}
		if got := found.Ranks[rank]; got != want {
			t.Errorf("by process %d: %+v, want %+v", pid, got, want)
		}
	}
	if (found.Self == nil) != (self < 0) || found.Self != nil && *found.Self != found.Ranks[self] {
		t.Errorf("by process %d: rank %+v, want %d", pid, found.Self, self)
	}
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	stat, err := procfs.Host.Stat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return stat.Parent
}

// Spawned processes have an MPI_COMM_WORLD of their own.
func TestLaunchSpawned(t *testing.T) {
	t.Parallel()
	job := ch3(t).work.Start(t, "spawn", 2, nil)
	ranks, children := map[int]bool{}, map[int]bool{}
	for _, a := range job.Accounts {
		if strings.HasPrefix(a.Name, "child") {
			children[a.PID] = true
		} else {
			ranks[a.PID] = true
		}
	}
	for _, c := range []struct {
		pid         int
		own, others map[int]bool
	}{{job.Launcher(), ranks, children}, {first(ranks), ranks, children}, {first(children), children, ranks}} {
		found, err := launch.Find(c.pid)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Ranks) != len(c.own) || len(found.Others) != len(c.others) || found.Launcher != job.Launcher() {
			t.Errorf("by process %d: %+v", c.pid, found)
		}
		for _, r := range found.Ranks {
			if !c.own[r.PID] {
				t.Errorf("by process %d: %+v is none of its ranks", c.pid, r)
			}
		}
	}
}

func first(pids map[int]bool) int {
	for pid := range pids {
		return pid
	}
	return 0
}

// TestDumpLauncher dumps a job by its launcher.
func TestDumpLauncher(t *testing.T) {
	t.Parallel()
	v := ch3(t)
	w := v.work
	job := w.Start(t, "queues", 3, nil)
	d, err := expect.ParseDocument(w.Shell(t, "dump", "--json", fmt.Sprint(job.Launcher())))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Processes) != len(job.Accounts) {
		t.Fatalf("%d processes of %d", len(d.Processes), len(job.Accounts))
	}
	for rank, p := range d.Processes {
		live.Report(t, v.compare(job.Accounts[rank], p))
	}
}

// MPICH's mpiexec knows of its debugger.
func TestMPIR(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var ranks []string
			if v.DebuggerSupport {
				ranks = []string{"MPIR_being_debugged", "MPIR_debug_gate"}
			}
			v.work.AnnouncedJobs(t, ranks)
		})
	}
}
