//go:build live

package gdb

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// component is a component of Open MPI for one-sided communication.
type component struct {
	name, make string // how windows are made
	isLate     bool   // its calls go on without a lock or a post
}

var components = []component{{"rdma", "create", false}, {"sm", "allocate", false}, {"ucx", "create", false}, {"pt2pt", "allocate", true}}

func (c component) flags() []string { return []string{"--mca", "osc", c.name, "-x", "MAKE=" + c.make} }

// expected is the report on a mode that there must be with a component.
func (c component) expected(m *expect.Mode) *expect.Mode {
	if !c.isLate || m.Verdict == expect.Moves {
		return m
	}
	return m.ByPt2pt()
}

// modes is the component's row.
func (c component) modes(t *testing.T) live.ModeRow {
	t.Helper()
	r := modes(t, work, work.MPI.Library(t), c.flags())
	r.Name += c.name
	r.Expected = func(m *expect.Mode) *expect.Mode {
		if m.Program != "onesided" {
			return nil
		}
		return c.expected(m)
	}
	return r
}

// TestOneSided checks that each mode is reported as what it is, whatever component carries a window.
func TestOneSided(t *testing.T) {
	t.Parallel()
	for _, c := range components {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			live.EachHang(t, c.modes(t))
		})
	}
}

// TestOneSidedRunning checks that a job whose windows are in use is never called deadlocked.
func TestOneSidedRunning(t *testing.T) {
	t.Parallel()
	for _, c := range components {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			live.EachMoving(t, c.modes(t), 0, 4)
		})
	}
}
