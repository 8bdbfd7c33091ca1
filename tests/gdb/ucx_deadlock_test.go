//go:build live

package gdb

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// TestUCXDeadlocks checks that over UCX, too, each mode of the programs that hang, or only look so, is reported as what it is,
// but for probes.
func TestUCXDeadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modes(t, work, over(t, work, "ucx", "UCX"), live.OverUCX("n")))
}

// TestUCXRunningJobs checks that a job that runs is never called deadlocked, though UCX does not count messages.
func TestUCXRunningJobs(t *testing.T) {
	t.Parallel()
	live.EachMoving(t, modes(t, work, over(t, work, "ucx", "UCX"), live.OverUCX("n")), 5, 3)
}
