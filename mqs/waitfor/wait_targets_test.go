package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Accesses are over as soon as the rank whose memory they are to calls MPI: one that waits there, does. Where
// a lock or a post may be missing, or that rank can't be seen, nothing is said.
func TestAccessesAreCarriedOut(t *testing.T) {
	late := held(true, 1)
	late.Granted = mqs.Maybe[bool]{}
	for name, c := range map[string]struct {
		epoch mqs.Epoch
		call  string
		other func(r *madeRank)
		want  Verdict
	}{
		"it waits in MPI":                     {held(true, 1), "MPI_Win_unlock", func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, Undecided},
		"it computes":                         {held(true, 1), "MPI_Win_unlock", func(r *madeRank) { r.computes() }, Undecided},
		"it waits for a file":                 {held(true, 1), "MPI_Win_unlock", func(r *madeRank) { r.thread("MPI_File_write_all", 31) }, Unknown},
		"the lock may not be granted":         {late, "MPI_Win_unlock", func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, Unknown},
		"a post may not have come":            {mqs.Epoch{Kind: mqs.StartEpoch, Ranks: []int32{1}}, "MPI_Win_complete", func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, Unknown},
		"the epoch of a fence needs no grant": {mqs.Epoch{Kind: mqs.FenceEpoch}, "MPI_Win_flush", func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, Undecided},
		"it is not looked at":                 {held(true, 1), "MPI_Win_unlock", nil, Unknown},
	} {
		for _, isTargetKnown := range []bool{true, false} {
			m := newMade(2)
			m.window(leftID, "ghost cells")
			m.rank(0).has(leftID, c.epoch)
			of := m.rank(0).accesses(leftID, c.call)
			if isTargetKnown {
				of.Target = mqs.Known[int32](1)
			}
			if c.other != nil {
				c.other(m.rank(1))
			} else {
				m.Processes = m.Processes[:1]
			}
			r := Analyse(m.Snapshot)
			// Rank 1's barrier waits for rank 0, which goes on.
			if r.Verdict != c.want {
				t.Errorf("%s, target known %t: %q, not %q: %s", name, isTargetKnown, r.Verdict, c.want, r.Why)
			}
		}
	}
}
