package waitfor

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
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

// A receive lies beside its message if it is the program's, has not matched, and says of which tags it is.
func TestLiesMatched(t *testing.T) {
	m := newMade(2)
	m.rank(0).recv(worldID, 1, 7)
	m.rank(1).message(worldID, 0, 7)
	j := known(m)
	ops, _ := j.ranks[0].operations(m.rank(0).Threads[0].Requests)
	if len(ops) != 1 {
		t.Fatal(ops)
	}
	for name, c := range map[string]struct {
		change func(g *dependency)
		want   bool
	}{
		"as it is":            {func(*dependency) {}, true},
		"a send":              {func(g *dependency) { g.class = mqs.PendingSends }, false},
		"the library's own":   {func(g *dependency) { g.op.Internal = true }, false},
		"matched":             {func(g *dependency) { g.op.Status = mqs.Matched }, false},
		"complete":            {func(g *dependency) { g.op.Status = mqs.Complete }, false},
		"of another tag":      {func(g *dependency) { g.op.DesiredTag = mqs.Known[int32](8) }, false},
		"of no tag":           {func(g *dependency) { g.op.DesiredTag = mqs.Maybe[int32]{} }, false},
		"of any tag":          {func(g *dependency) { g.op.DesiredTag, g.op.TagWild = mqs.Maybe[int32]{}, mqs.Known(true) }, true},
		"from another rank":   {func(g *dependency) { g.op.DesiredLocalRank = mqs.Known[int32](0) }, false},
		"from any":            {func(g *dependency) { g.op.DesiredLocalRank = mqs.Known[int32](wild) }, true},
		"from nobody known":   {func(g *dependency) { g.op.DesiredLocalRank = mqs.Maybe[int32]{} }, false},
		"of a rank not known": {func(g *dependency) { g.member.local = -1 }, false},
	} {
		op, member := *ops[0].op, *ops[0].member
		g := dependency{op: &op, member: &member, class: ops[0].class}
		if c.change(&g); j.liesMatched(&g) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
}

// A call that stays though all that it waits for is complete is the library's fault. What has just become complete is not.
func TestLostWakeUp(t *testing.T) {
	in := func(call string, statuses ...mqs.Status) *made {
		m := newMade(2)
		var requests []inferior.Addr
		for i, s := range statuses {
			requests = append(requests, m.rank(0).irecv(worldID, 1, int32(7+i)))
			m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[i].Status = s
		}
		m.rank(0).thread(call, 12, requests...)
		m.rank(1).recv(worldID, 0, 9)
		return m
	}
	const fault = "library [0]: Rank 0 waits in MPI_Wait (a.c:12) for what was complete at the look before already, though the rank has run: its MPI library has lost the wake-up, which is no mistake of the program's (Open MPI's commit 0c86834a68 mends one of this kind, with several threads on arm64)."
	for _, c := range []struct {
		name        string
		before, now *made
		hasNotRun   bool
		want        string
	}{
		{"it is over", in("MPI_Wait", mqs.Complete), in("MPI_Wait", mqs.Complete), false, fault},
		{"all are over", in("MPI_Waitall", mqs.Complete, mqs.Complete), in("MPI_Waitall", mqs.Complete, mqs.Complete), false, strings.Replace(fault, "MPI_Wait ", "MPI_Waitall ", 1)},
		{"one of two is over", in("MPI_Waitall", mqs.Complete, mqs.Pending), in("MPI_Waitall", mqs.Complete, mqs.Pending), false, ""},
		{"it has just come to be", in("MPI_Wait", mqs.Pending), in("MPI_Wait", mqs.Complete), false, ""},
		{"it has not run", in("MPI_Wait", mqs.Complete), in("MPI_Wait", mqs.Complete), true, ""},
		{"it polls", in("MPI_Test", mqs.Complete), in("MPI_Test", mqs.Complete), false, ""},
	} {
		past := c.before.runsOn()
		c.now.runsOn()
		if c.hasNotRun {
			clear(past.Ran)
		}
		past.Looks = 1
		r := approve(t, c.name, AnalyseLive(c.now.Snapshot, past))
		if hasKind(r, LibraryFault) != (c.want != "") || c.want != "" && (texts(r) != c.want || r.Verdict != NoProgress) {
			t.Errorf("%s: %s: %q", c.name, r.Verdict, texts(r))
		}
	}
}
