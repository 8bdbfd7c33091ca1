package waitfor

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A communicator of all ranks whose group can't be read may have them in another order.
func TestGroupInAnotherOrder(t *testing.T) {
	for name, c := range map[string]struct {
		ranks []int32
		want  Verdict
	}{"reversed": {[]int32{1, 0}, Unknown}, "own": {[]int32{0, 1}, Deadlocked}} {
		m := newMade(2)
		m.comm(dupID, name, c.ranks...)
		for i := range 2 {
			m.rank(i).recv(dupID, int32(slices.Index(c.ranks, int32(1-i))), 7)
			m.rank(i).on(dupID).Group = nil
		}
		if r := approve(t, name, Analyse(m.Snapshot)); r.Verdict != c.want {
			t.Errorf("%s: %q: %s", name, r.Verdict, r.Why)
		}
		m.Processes[1].Communicators[1].LocalRank = mqs.Maybe[int32]{}
		if r := approve(t, name+", with a number that is not known", Analyse(m.Snapshot)); r.Verdict == Deadlocked {
			t.Errorf("%s, with a number that is not known: %q", name, r.Verdict)
		}
	}
}
