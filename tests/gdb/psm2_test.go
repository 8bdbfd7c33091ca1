//go:build live

package gdb

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// With pml cm and mtl psm2 each program's account must be what is shown of it, as far as they keep it.
func TestPSM2(t *testing.T) {
	t.Parallel()
	work.WithOmniPath(t).EachOverPSM2(t, result.Result{}, func(j live.TransportJob) bool {
		return sample.Whole() || slices.Contains([]string{"queues", "requests"}, j.Program)
	})
}

// Over PSM2 each mode of the programs that hang, or only look so, is reported as what it is, as far as that is kept.
func TestPSM2Deadlocks(t *testing.T) {
	t.Parallel()
	over := work.WithOmniPath(t)
	row := row(t)
	library := over.MPI.Library(t)
	library.Device, library.Transport = "cm", "PSM2"
	for i := range expect.Modes {
		m := &expect.Modes[i]
		expected := library.Expected(m)
		if m.Verdict == expect.Moves || expected == nil || !sample.Chosen(row, i, sample.Modes) {
			continue
		}
		t.Run(m.Program+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			over.StartMode(t, expected, append(slices.Clone(live.OverPSM2), flags(m)...)...).Settle(t)
		})
	}
}

// A job that runs is never called deadlocked without a doubt, though libpsm2 does not count messages.
func TestPSM2RunningJobs(t *testing.T) {
	t.Parallel()
	keepMoving(t, work.WithOmniPath(t), 16, live.OverPSM2)
}
