package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Ranks of several machines are not stopped at one moment: one may have been seen in a barrier, and another in
// the receive behind the same barrier. What looks like a deadlock is claimed once the ranks are known to stand.
func TestApart(t *testing.T) {
	differing := func() *mqs.Snapshot {
		m := newMade(3)
		m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1)
		m.rank(2).recv(worldID, 1, 7)
		for i, p := range m.Processes {
			p.PID = 100 + i
		}
		return m.Snapshot
	}
	computing := func() *mqs.Snapshot {
		s := differing()
		s.Processes[2].Threads, s.Processes[2].Communicators[0].Queue[mqs.PendingReceives].Operations = nil, nil
		(&madeRank{Process: s.Processes[2]}).computes()
		return s
	}
	left := func() *mqs.Snapshot { // rank 2 has left MPI, and the others wait for it
		s := differing()
		s.Processes[2].Phase, s.Processes[2].Threads = mqs.Finished, []mqs.Thread{}
		s.Processes[2].Communicators = nil
		return s
	}
	at := func(earlier *mqs.Snapshot, ran ...int) Past {
		p := past(earlier, ran...)
		p.Apart, p.Again = true, true
		return p
	}
	first := Past{Apart: true, Again: true}
	for _, c := range []struct {
		name   string
		now    *mqs.Snapshot
		past   Past
		want   Verdict
		moving bool
	}{
		{"one look", differing(), first, Unknown, true},
		{"they stand", differing(), at(differing(), 0, 1, 2), Deadlocked, false},
		{"one has come", differing(), at(computing(), 0, 1, 2), Unknown, true},
		{"one of them is another process", differing(), at(&mqs.Snapshot{Processes: differing().Processes[:2]}, 0, 1), Unknown, true},
		{"one has left, at one look", left(), first, Unknown, true},
		{"one has left since", left(), at(differing(), 0, 1, 2), Unknown, true},
		{"one had left", left(), at(left(), 0, 1), Deadlocked, false},
		{"one computes", computing(), first, Undecided, false},
	} {
		r := approve(t, c.name, AnalyseLive(c.now, c.past))
		if r.Verdict != c.want || r.Moving != c.moving {
			t.Errorf("%s: %q, moving %t: %s", c.name, r.Verdict, r.Moving, r.Why)
		}
	}
}
