//go:build live

package gdb

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// With pml cm and mtl psm2 each program's account must be what is shown of it, as far as they keep it.
func TestPSM2(t *testing.T) {
	t.Parallel()
	live.EachProgram(t, work.WithOmniPath(t).RowOverPSM2(t, result.Result{}).Only(func(p live.Program) bool {
		return sample.Whole() || p.Is("queues", "requests")
	}))
}

// modesOverPSM2 is the row of mtl psm2.
func modesOverPSM2(t *testing.T) live.ModeRow {
	t.Helper()
	w := work.WithOmniPath(t)
	return modes(t, w, over(t, w, "cm", "PSM2"), live.OverPSM2)
}

// TestPSM2Deadlocks checks that over PSM2 each mode of the programs that hang, or only look so, is reported as what it is, as far
// as that is kept.
func TestPSM2Deadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modesOverPSM2(t))
}

// TestPSM2RunningJobs checks that a job that runs is never called deadlocked without a doubt, though libpsm2 does not count
// messages.
func TestPSM2RunningJobs(t *testing.T) {
	t.Parallel()
	live.EachMoving(t, modesOverPSM2(t), 5, 3)
}
