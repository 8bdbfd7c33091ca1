//go:build live

package gdb

import (
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// flags are mpirun's for a mode: it has to be told to leave ranks alone when one is gone.
func flags(m *expect.Mode) []string {
	if m.Name == "gone" {
		return []string{"--enable-recovery"}
	}
	return nil
}

// row names what a test shows in a row of the matrix.
func row(t *testing.T) string { return t.Name() + work.MPI.Release(t) }

// Each mode of the programs that hang, or only look so, is reported as what it is.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	row := row(t)
	library := work.MPI.Library(t)
	for i := range expect.Modes {
		m := &expect.Modes[i]
		if m.Verdict == expect.Moves || !sample.Chosen(row, i, sample.Modes) {
			continue
		}
		t.Run(m.Program+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			work.StartMode(t, library.Expected(m), flags(m)...).Settle(t)
		})
	}
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

// A job that runs is never called deadlocked, whenever it is stopped.
func TestRunningJobs(t *testing.T) {
	t.Parallel()
	row := row(t)
	for i := range expect.Modes {
		m := &expect.Modes[i]
		if m.Verdict != expect.Moves || !sample.Chosen(row, i, sample.Moving) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			job := work.StartMode(t, m)
			job.Deadlock(t, job.Launcher(), 10)
			for range 3 {
				job.Reports(t, strconv.Itoa(job.Launcher()))
			}
		})
	}
}
