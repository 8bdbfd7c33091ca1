//go:build live

package gdb

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// TestOFIDeadlocks checks that over libfabric each mode of the programs that hang, or only look so, is reported as what it is, as
// far as that is kept.
func TestOFIDeadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modes(t, work, over(t, work, "cm", "libfabric"), overRXM.Flags()))
}

// TestOFIRunningJobs checks that a job that runs is never called deadlocked without a doubt, though libfabric does not count
// messages.
func TestOFIRunningJobs(t *testing.T) {
	t.Parallel()
	live.EachMoving(t, modes(t, work, over(t, work, "cm", "libfabric"), overRXM.Flags()), 5, 3)
}
