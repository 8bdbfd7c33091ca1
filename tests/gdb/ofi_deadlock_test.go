//go:build live

package gdb

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// overOFI is the report that there must be of a mode over libfabric, which counts nothing: every deadlock is
// one unless a message was in transit. Of probes it keeps nothing.
func overOFI(m *expect.Mode) *expect.Mode {
	if m.Verdict == expect.Moves {
		return m
	}
	if strings.HasPrefix(m.Name, "probe") || m.Name == "mprobe" {
		return m.Unknowable()
	}
	out := m.OverLibfabric()
	if m.Name == "inactive" { // what a request would do stands with the program alone
		out.Misses = nil
	}
	return out
}

// TestOFIDeadlocks checks that over libfabric each mode of the programs that hang, or only look so, is reported as what it is, as
// far as that is kept.
func TestOFIDeadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modes(t, work, overRXM.Flags(), overOFI))
}

// TestOFIRunningJobs checks that a job that runs is never called deadlocked without a doubt, though libfabric does not count
// messages.
func TestOFIRunningJobs(t *testing.T) {
	t.Parallel()
	live.EachMoving(t, modes(t, work, overRXM.Flags(), overOFI), 5, 3)
}
