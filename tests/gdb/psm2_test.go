//go:build live

package gdb

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// With pml cm and mtl psm2 each program's account must be what is shown of it, as far as they keep it.
func TestPSM2(t *testing.T) {
	t.Parallel()
	work.WithOmniPath(t).EachOverPSM2(t, result.Result{}, func(j live.TransportJob) bool {
		return live.IsWhole() || slices.Contains([]string{"queues", "requests"}, j.Program)
	})
}

// Over PSM2 each mode of the programs that hang by their messages is reported as what it is, as far as that is kept. A
// synchronous send to the sender itself is complete there before it is received.
func TestPSM2Deadlocks(t *testing.T) {
	t.Parallel()
	over := work.WithOmniPath(t)
	row := row(t)
	for i := range expect.Modes {
		m := &expect.Modes[i]
		isTried := m.Program == "deadlock" && m.Name != "ssend-self" || m.Program == "mismatch"
		if !isTried || m.Verdict == expect.Moves || live.LeftOutMode(i, 8, row) {
			continue
		}
		t.Run(m.Program+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			over.StartMode(t, overOFI(m), append(slices.Clone(live.OverPSM2), flags(m)...)...).Settle(t)
		})
	}
}
