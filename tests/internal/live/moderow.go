//go:build live || matrix || full

package live

import (
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// ModeRow is one way in which messages travel, and what reports say there of the programs that hang, or only look so.
type ModeRow struct {
	// Workspace has the MPI.
	*Workspace
	// Name shifts the sample of the modes that a run tries.
	Name string
	// Flags are the launcher's.
	Flags []string
	// Expected returns the report that there must be of a mode, nil if the row leaves it out.
	Expected func(m *expect.Mode) *expect.Mode
	// InTurn, if it is not nil, leaves the other modes, by their places in the list, to rows like this one.
	InTurn func(i int) bool
	// Started, if it is not nil, is called with each job that hangs before the first report.
	Started func(t *testing.T, job *ModeJob)
}

// each runs a test for each mode of the row that is in this run's sample of every n-th one.
func (r ModeRow) each(t *testing.T, moves bool, n int, test func(t *testing.T, job *ModeJob)) {
	t.Helper()
	count := 0
	for i := range expect.Modes {
		m := &expect.Modes[i]
		if (m.Verdict == expect.Moves) != moves || r.InTurn != nil && !r.InTurn(i) {
			continue
		}
		expected := r.Expected(m)
		if expected == nil {
			continue
		}
		if count++; !sample.Chosen(r.Name, count, n) {
			continue
		}
		t.Run(m.Program+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			test(t, r.StartMode(t, expected, r.Flags...))
		})
	}
}

// EachHang checks that a sample of the modes that hang, or only look so, are reported as what they are.
func EachHang(t *testing.T, r ModeRow) {
	t.Helper()
	r.each(t, false, sample.Modes, func(t *testing.T, job *ModeJob) {
		if r.Started != nil {
			r.Started(t, job)
		}
		job.Settle(t)
	})
}

// EachMoving checks that a sample of the modes that make progress are never called deadlocked, however often a debugger
// attaches to them and a report is made.
func EachMoving(t *testing.T, r ModeRow, attaches, reports int) {
	t.Helper()
	r.each(t, true, sample.Moving, func(t *testing.T, job *ModeJob) { job.KeepsMoving(t, attaches, reports) })
}

// KeepsMoving fails the test if a job that makes progress is called deadlocked by one of so many debuggers and reports.
func (j *ModeJob) KeepsMoving(t *testing.T, attaches, reports int) {
	t.Helper()
	if attaches > 0 {
		j.Deadlock(t, j.Launcher(), attaches)
	}
	for range reports {
		j.Reports(t, strconv.Itoa(j.Launcher()))
	}
}
