//go:build live

package gdb

import (
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
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
	if !c.isLate {
		return m
	}
	return m.ByPt2pt()
}

// Whatever component carries a window, each mode is reported as what it is.
func TestOneSided(t *testing.T) {
	t.Parallel()
	row := row(t)
	for _, c := range components {
		for i := range expect.Modes {
			m := &expect.Modes[i]
			if m.Program != "onesided" || m.Verdict == expect.Moves || !sample.Chosen(row+c.name, i, sample.Modes) {
				continue
			}
			t.Run(c.name+" "+m.Name, func(t *testing.T) {
				t.Parallel()
				work.StartMode(t, c.expected(m), c.flags()...).Settle(t)
			})
		}
	}
}

// A job whose windows are in use is never called deadlocked.
func TestOneSidedRunning(t *testing.T) {
	t.Parallel()
	row := row(t)
	for _, c := range components {
		for i := range expect.Modes {
			m := &expect.Modes[i]
			if m.Program != "onesided" || m.Verdict != expect.Moves || !sample.Chosen(row+c.name, i, sample.Moving) {
				continue
			}
			t.Run(c.name+" "+m.Name, func(t *testing.T) {
				t.Parallel()
				job := work.StartMode(t, m, c.flags()...)
				for range 4 {
					job.Reports(t, strconv.Itoa(job.Launcher()))
				}
			})
		}
	}
}
