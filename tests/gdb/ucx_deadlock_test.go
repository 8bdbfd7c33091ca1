//go:build live

package gdb

import (
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// Over UCX each mode of the programs that hang, or only look so, is reported as what it is
// too, but for probes, of which UCX keeps nothing.
func TestUCXDeadlocks(t *testing.T) {
	t.Parallel()
	row := row(t)
	library := work.MPI.Library(t)
	library.Device, library.Transport = "ucx", "UCX"
	for i := range expect.Modes {
		m := &expect.Modes[i]
		if m.Verdict == expect.Moves || !sample.Chosen(row, i, sample.Modes) {
			continue
		}
		t.Run(m.Program+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			work.StartMode(t, library.Expected(m), append(live.OverUCX("n"), flags(m)...)...).Settle(t)
		})
	}
}

// A job that runs is never called deadlocked, though UCX does not count messages.
func TestUCXRunningJobs(t *testing.T) {
	t.Parallel()
	row := row(t)
	for i := range expect.Modes {
		m := &expect.Modes[i]
		if m.Verdict != expect.Moves || !sample.Chosen(row, i, sample.Moving) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			job := work.StartMode(t, m, live.OverUCX("n")...)
			job.Deadlock(t, job.Launcher(), 5)
			for range 3 {
				job.Reports(t, strconv.Itoa(job.Launcher()))
			}
		})
	}
}
