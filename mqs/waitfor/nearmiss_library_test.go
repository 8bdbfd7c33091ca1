package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A receive and a message that match and both stay are the library's fault. What may still be matched is not.
func TestLibraryFault(t *testing.T) {
	of := func(change func(m *made)) *made {
		m := newMade(2)
		m.rank(0).recv(worldID, 1, 7)
		m.rank(1).computes()
		change(m)
		return m
	}
	there := func(tag int32) func(m *made) { return func(m *made) { m.rank(1).message(worldID, 0, tag) } }
	for _, c := range []struct {
		name        string
		before, now *made
		hasNotRun   bool
		want        string
	}{
		{"both stay", of(there(7)), of(there(7)), false,
			"library [0]: Rank 0 waits in MPI_Recv (a.c:10) for a message from rank 1 with tag 7 on MPI_COMM_WORLD, and such a message has been there since the look before, though the rank has run: its MPI library does not match the two, which is no mistake of the program's."},
		{"the message has just come", of(func(*made) {}), of(there(7)), false, ""},
		{"another message was there", of(there(8)), of(there(7)), false, ""},
		{"it has not run", of(there(7)), of(there(7)), true, ""},
		{"the message has another tag", of(there(8)), of(there(8)), false, ""},
		{"any tag", of(func(m *made) {
			there(8)(m)
			op := &m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0]
			op.TagWild, op.DesiredTag = mqs.Known(true), mqs.Maybe[int32]{}
		}), of(func(m *made) {
			there(8)(m)
			op := &m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0]
			op.TagWild, op.DesiredTag = mqs.Known(true), mqs.Maybe[int32]{}
		}), false,
			"library [0]: Rank 0 waits in MPI_Recv (a.c:10) for a message from rank 1 with any tag on MPI_COMM_WORLD, and such a message has been there since the look before, though the rank has run: its MPI library does not match the two, which is no mistake of the program's."},
	} {
		past := c.before.runsOn()
		c.now.runsOn()
		if c.hasNotRun {
			clear(past.Ran)
		}
		past.Looks = 1
		r := AnalyseLive(c.now.Snapshot, past)
		if got := texts(r); got != c.want && (c.want != "" || r.NearMisses != nil && hasKind(r, LibraryFault)) {
			t.Errorf("%s: %s: %q", c.name, r.Verdict, got)
		}
		if r.Verdict == Deadlocked {
			t.Errorf("%s: a deadlock", c.name)
		}
	}
}

func hasKind(r *Report, kind Kind) bool {
	for _, m := range r.NearMisses {
		if m.Kind == kind {
			return true
		}
	}
	return false
}
