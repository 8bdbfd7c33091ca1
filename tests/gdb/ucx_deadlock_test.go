//go:build live

package gdb

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// overUCX is the report that there must be of a mode over UCX, which counts nothing and keeps nothing of probes.
func overUCX(m *expect.Mode) *expect.Mode {
	if m.Verdict == expect.Moves {
		return m
	}
	expected := m.Uncounted().ProbedInVain()
	switch {
	case strings.HasPrefix(m.Name, "probe") || m.Name == "mprobe":
		expected = m.Unknowable()
	case m.Name == "inactive": // what a request would do is known to the program alone
		either := *expected
		either.Misses = nil
		expected = &either
	case m.Name == "neighbour":
		// Of the library's tags pml ucx sends 24 bits: those of neighbours look like the program's 0 and 1.
		either := *m
		either.Maybe = []string{"tag", "never received"}
		expected = &either
	}
	return expected
}

// TestUCXDeadlocks checks that over UCX, too, each mode of the programs that hang, or only look so, is reported as what it is,
// but for probes.
func TestUCXDeadlocks(t *testing.T) {
	t.Parallel()
	live.EachHang(t, modes(t, work, live.OverUCX("n"), overUCX))
}

// TestUCXRunningJobs checks that a job that runs is never called deadlocked, though UCX does not count messages.
func TestUCXRunningJobs(t *testing.T) {
	t.Parallel()
	live.EachMoving(t, modes(t, work, live.OverUCX("n"), overUCX), 5, 3)
}
