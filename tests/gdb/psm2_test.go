//go:build live

package gdb

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
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

// overPSM2 is the report that there must be of a mode over PSM2: that over libfabric, but for that ranks are connected
// before they send, and that a message waits for its receive as a whole. A synchronous send to the sender itself is complete
// there before it is received. A job that is spawned finds no card left.
func overPSM2(m *expect.Mode) *expect.Mode {
	out := overOFI(m)
	switch m.Program + " " + m.Name {
	case "nonblocking late", "mistake truncation":
		out.Places, out.Misses = m.Places, m.Misses
	}
	if m.Name == "ssend-self" || m.Name == "spawn-ring" {
		return nil
	}
	return out
}

// TestPSM2Deadlocks checks that over PSM2 each mode of the programs that hang, or only look so, is reported as what it is, as far
// as that is kept.
func TestPSM2Deadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modes(t, work.WithOmniPath(t), live.OverPSM2, overPSM2))
}

// TestPSM2RunningJobs checks that a job that runs is never called deadlocked without a doubt, though libpsm2 does not count
// messages.
func TestPSM2RunningJobs(t *testing.T) {
	t.Parallel()
	live.EachMoving(t, modes(t, work.WithOmniPath(t), live.OverPSM2, overPSM2), 5, 3)
}
