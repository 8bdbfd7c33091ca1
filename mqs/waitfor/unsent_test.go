package waitfor

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// unsent has a rank hold back all of its sends.
func (r *madeRank) unsent() {
	ops := r.on(worldID).Queue[mqs.PendingSends].Operations
	for i := range ops {
		ops[i].ExtraText = []string{mqs.Unsent}
	}
}

// What the library has yet to send is on its way, whatever lies at the receiver.
func TestUnsent(t *testing.T) {
	check(t, []verdictCase{
		{name: "both send", ranks: 2, make: func(m *made) {
			for i := range 2 {
				m.rank(i).send(worldID, int32(1-i), 7)
				m.rank(i).unsent()
			}
		}, verdict: Undecided, states: "WW"},
		{name: "one like it lies there", ranks: 2, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(0).unsent()
			m.rank(0).message(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 8)
		}, verdict: Undecided, states: "WW", misses: none},
		{name: "its receiver has crashed", ranks: 2, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(0).unsent()
			m.rank(1).gets("SIGSEGV", mqs.NotMapped)
		}, verdict: DeadlockedUnless, states: "DE", cycles: "0: 0>1"},
		{name: "others hang", ranks: 4, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(0).unsent()
			m.rank(1).computes()
			m.rank(2).recv(worldID, 3, 7)
			m.rank(3).recv(worldID, 2, 7)
		}, verdict: Deadlocked, states: "WRDD", cycles: "2-3: 2>3 3>2"},
	})
}

func TestUnsentNotes(t *testing.T) {
	m := newMade(2)
	m.rank(0).send(worldID, 1, 7)
	m.rank(0).unsent()
	m.rank(1).computes()
	m.rank(1).UnsentPackets = mqs.Known[int64](3)
	notes := strings.Join(Analyse(m.Snapshot).Notes, "\n")
	for _, want := range []string{"Rank 0 has a send that its library has not sent yet, for lack of resources",
		"The MPI library of rank 1 has packets of its own to send"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
}

// Packets that stay are the library's fault only where nobody else may be what they wait for.
func TestPacketsStay(t *testing.T) {
	of := func(packets int64, change func(m *made)) *made {
		m := newMade(2)
		m.rank(0).thread("MPI_Send", 11, m.rank(0).isend(worldID, 1, 7, false))
		m.rank(1).recv(worldID, 0, 8)
		m.rank(1).UnsentPackets = mqs.Known(packets)
		change(m)
		return m
	}
	same := func(*made) {}
	for _, c := range []struct {
		name        string
		before, now *made
		is          bool
	}{
		{"they stay", of(1, same), of(1, same), true},
		{"they have gone", of(1, same), of(0, same), false},
		{"they have come", of(0, same), of(1, same), false},
		{"a rank computes", of(1, func(m *made) { m.rank(0).computes() }), of(1, func(m *made) { m.rank(0).computes() }), false},
	} {
		past := c.before.runsOn()
		c.now.runsOn()
		if r := AnalyseLive(c.now.Snapshot, past); hasKind(r, LibraryFault) != c.is || r.Verdict == Deadlocked {
			t.Errorf("%s: %s: %q", c.name, r.Verdict, texts(r))
		}
	}
}
