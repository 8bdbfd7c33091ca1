package waitfor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Of two messages that are alike one is for the receive that is posted, and the other for one to come.
func TestTruncationOfTheFirst(t *testing.T) {
	for lengths, want := range map[[2]int64]bool{{8, 100}: false, {100, 8}: false, {99, 100}: true} {
		m := newMade(2)
		m.rank(1).irecv(worldID, 0, 1)
		m.rank(1).computes()
		r := m.rank(0)
		r.thread("MPI_Waitall", 11, r.isend(worldID, 1, 1, false), r.isend(worldID, 1, 1, false))
		for i, length := range lengths {
			r.on(worldID).Queue[mqs.PendingSends].Operations[i].DesiredLength = mqs.Known(length)
		}
		if told := texts(approve(t, fmt.Sprintf("messages of %v bytes", lengths), Analyse(m.Snapshot))); (told != "") != want || strings.Count(told, "truncation") > 1 {
			t.Errorf("messages of %v bytes: %q", lengths, told)
		}
	}
}

// A tag that is not known is neither any nor 0.
func TestUnknownTagWords(t *testing.T) {
	m := newMade(2)
	call := m.rank(0).thread("MPI_Probe", 10)
	call.Comm, call.Source = mqs.Known(worldID), mqs.Known[int32](1)
	m.rank(1).Phase, m.rank(1).Communicators = mqs.Exited, nil
	r := approve(t, "of a probe", Analyse(m.Snapshot))
	if told := texts(r); !strings.Contains(told, "from rank 1 with a tag that is not known on") {
		t.Errorf("near misses: %q", told)
	}
	if len(r.Edges) != 1 || r.Edges[0].Text != "a tag that is not known on MPI_COMM_WORLD" {
		t.Errorf("edges: %+v", r.Edges)
	}

	m = newMade(2)
	m.rank(0).recv(worldID, 1, 7)
	op := &m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0]
	op.Status, op.ActualLocalRank, op.ActualLength = mqs.Matched, mqs.Known[int32](1), mqs.Known(int64(9))
	m.rank(1).computes()
	if told := texts(approve(t, "of a receive that has matched", Analyse(m.Snapshot))); !strings.Contains(told, "from rank 1 with a tag that is not known on") {
		t.Errorf("of one that has matched: %q", told)
	}
}
