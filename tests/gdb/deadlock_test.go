//go:build live

package gdb

import (
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// row names what a test shows in a row of the matrix.
func row(t *testing.T) string { return t.Name() + work.MPI.Release(t) }

// modes is the row of a way in which messages travel.
func modes(t *testing.T, w *live.Workspace, library expect.Library, flags []string) live.ModeRow {
	t.Helper()
	return live.ModeRow{Workspace: w, Name: row(t), Flags: flags, Expected: library.Expected}
}

// over is the library of a workspace with another pml, and what carries its messages.
func over(t *testing.T, w *live.Workspace, device, transport string) expect.Library {
	t.Helper()
	library := w.MPI.Library(t)
	library.Device, library.Transport = device, transport
	return library
}

// TestDeadlocks checks that each mode of the programs that hang, or only look so, is reported as what it is.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modes(t, work, work.MPI.Library(t), nil))
}

// However a job is looked at, the report is the same.
func TestDeadlockEveryWay(t *testing.T) {
	t.Parallel()
	for i, m := range []*expect.Mode{
		expect.Find("deadlock", "split"), expect.Find("collective", "barrier-recv"),
		expect.Find("mistake", "source"), expect.Find("moving", "waitany"),
	} {
		if !sample.ChosenIfShort(t.Name(), i, 4) {
			continue
		}
		t.Run(m.Program+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			job := work.StartMode(t, m)
			job.SettleBy(t, job.Launcher())
			last := job.Accounts[m.Ranks-1].PID
			job.Reports(t, strconv.Itoa(last))
			job.Deadlock(t, job.Launcher(), 1)
			job.Deadlock(t, last, 1)
			job.Hold(t)
			job.Cores(t, true)
		})
	}
}

// TestRunningJobs checks that a job that runs is never called deadlocked, whenever it is stopped.
func TestRunningJobs(t *testing.T) {
	t.Parallel()
	live.EachMoving(t, modes(t, work, work.MPI.Library(t), nil), 10, 3)
}
