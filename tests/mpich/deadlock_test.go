//go:build matrix

package mpich

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// lacks says whether a build has not what a mode's program needs: one alone has MPI's calls for files.
func (v *variant) lacks(m *expect.Mode) bool { return m.Program == "files" && v.Name != "ch4" }

// modes is the variant's row. What there is over UCX besides, the tests with Open MPI show.
func (v *variant) modes(t *testing.T) live.ModeRow {
	t.Helper()
	library := v.work.MPI.Library(t)
	return live.ModeRow{
		Workspace: v.work, Name: t.Name(), InTurn: v.inTurn,
		Expected: func(m *expect.Mode) *expect.Mode {
			if v.lacks(m) || m.Verdict != expect.Moves && v.IsOverUCX() && m.Program != "deadlock" {
				return nil
			}
			return library.Expected(m)
		},
	}
}

// TestDeadlocks checks that each mode of the programs that hang, or only look so, is reported as what it is.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			live.EachHang(t, v.modes(t))
		})
	}
}

// A stripped MPICH does not say what calls were given: their messages tell on which communicator a collective is, and
// for what it waits.
func TestDeadlockWithStripped(t *testing.T) {
	t.Parallel()
	w, err := work.With("stripped-deadlock", stock)
	if err != nil {
		t.Fatal(err)
	}
	library := w.MPI.Library(t)
	for i, mode := range expect.ToldByStock {
		if !sample.Chosen(t.Name(), i, sample.Moving) {
			continue
		}
		program, name, _ := strings.Cut(mode, " ")
		m := expect.Find(program, name)
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w.StartMode(t, library.Expected(m)).Settle(t)
		})
	}
}

// Of ranks that get on with a stripped MPICH, none is called deadlocked, whenever they are stopped.
func TestRunningWithStripped(t *testing.T) {
	t.Parallel()
	w, err := work.With("stripped-running", stock)
	if err != nil {
		t.Fatal(err)
	}
	for i, mode := range []struct{ program, name string }{
		{"nonblocking", "many-collectives"}, {"nonblocking", "barriers"}, {"nonblocking", "ahead"},
		{"moving", "flood"}, {"moving", "left-behind"}, {"moving", "exchange"},
	} {
		if !sample.Chosen(t.Name(), i, sample.Moving) {
			continue
		}
		t.Run(mode.program+" "+mode.name, func(t *testing.T) {
			t.Parallel()
			w.StartMode(t, expect.Find(mode.program, mode.name)).KeepsMoving(t, 10, 3)
		})
	}
}

// Of real hangs as many are told with a stripped MPICH as have to be.
func TestRealHangsWithStripped(t *testing.T) {
	t.Parallel()
	w, err := work.With("stripped-hangs", stock)
	if err != nil {
		t.Fatal(err)
	}
	w.RealHangs(t)
}

// A partition that is never ready is told by what ch4 counts of it. One build has all that the program needs, files included.
func TestPartitionNeverReady(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if v.Name == "ch4" {
			v.work.Tells(t, "hangs", "partition", 3, []string{"Ranks 0-2 wait for each other",
				"rank 1 waits for rank 0: receive from rank 0, tag 7, on MPI_COMM_WORLD, of which rank 0 has yet to mark all partitions as ready, in MPI_Wait"})
		}
	}
}

// However a job is looked at, the report is the same.
func TestDeadlockEveryWay(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if !v.DebuggerSupport {
			continue // the ways do not depend on what a build keeps
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			for i, m := range []*expect.Mode{expect.Find("deadlock", "split"), expect.Find("collective", "barrier-recv")} {
				if !v.inTurn(i) {
					continue
				}
				t.Run(m.Program+" "+m.Name, func(t *testing.T) {
					t.Parallel()
					job := v.work.StartMode(t, m)
					job.SettleBy(t, job.Launcher())
					job.SettleBy(t, job.Accounts[m.Ranks-1].PID)
					job.DeadlockAgain(t, job.Launcher())
					job.Cores(t, false)
				})
			}
		})
	}
}

// TestRunningJobs checks that a job that runs is never called deadlocked, whenever it is stopped.
func TestRunningJobs(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			live.EachMoving(t, v.modes(t), 4, 1)
		})
	}
}
