//go:build live

package gdb

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/procmem"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// row names what a test shows in a row of the matrix.
func row(t *testing.T) string { return t.Name() + work.MPI.Release(t) }

// modes is the row of a way in which messages travel, with the report that there must be of each mode.
func modes(t *testing.T, w *live.Workspace, flags []string, expected func(m *expect.Mode) *expect.Mode) live.ModeRow {
	t.Helper()
	hides := hidesCollectives(row(t))
	return live.ModeRow{
		Workspace: w, Name: row(t), Flags: flags,
		Expected: func(m *expect.Mode) *expect.Mode {
			m = expected(m)
			if m != nil && hides && isOfCollectives(m) {
				return orUnknown(m)
			}
			return m
		},
		Started: func(t *testing.T, job *live.ModeJob) {
			if job.Mode.Name == "gone" && !hasTable(t, job.Launcher()) {
				job.Mode = orUnknown(job.Mode)
			}
		},
	}
}

// asListed is what is expected where the MPI counts messages and keeps all that a report needs.
func asListed(m *expect.Mode) *expect.Mode { return m }

// TestDeadlocks checks that each mode of the programs that hang, or only look so, is reported as what it is.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modes(t, work, nil, asListed))
}

// hidesCollectives says whether a row's MPI is one of whose non-blocking collectives no table has what it keeps: Open MPI 6.0.
func hidesCollectives(row string) bool { return strings.Contains(row, "Open MPI 6.") }

// isOfCollectives says whether a mode waits for a non-blocking collective.
func isOfCollectives(m *expect.Mode) bool { return m.Program == "nonblocking" || m.Name == "ibarrier" }

// orUnknown is a mode of which "unknown" is right too: only a launcher's table tells a rank
// that is gone from one on another machine.
func orUnknown(m *expect.Mode) *expect.Mode {
	either := *m
	either.OrUnknown = true
	return &either
}

// hasTable says whether a launcher keeps a table of its ranks (not so from Open MPI 5.0).
func hasTable(t *testing.T, launcher int) bool {
	const name = "MPIR_proctable"
	p, err := procmem.Open(launcher, name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	found, err := p.FindSymbols(t.Context(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	return found[0] != nil
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
	live.EachMoving(t, modes(t, work, nil, asListed), 10, 3)
}
