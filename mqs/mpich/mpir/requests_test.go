package mpir_test

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// Without the list of unmatched receives nothing is said to have matched.
func TestUnknownListIsNoMatch(t *testing.T) {
	p := mpichtest.Collect(t, inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")).RemoveSymbols("recvq_posted_head", "recvq_unexpected_head"))
	for _, class := range []mqs.OpClass{mqs.PendingReceives, mqs.UnexpectedMessages} {
		q := mpichtest.Queues(t, p, "wild").Queue[class]
		if q.Unavailable == "" || len(q.Operations) > 0 {
			t.Errorf("%s: %q, %d operations", class, q.Unavailable, len(q.Operations))
		}
	}
}

// TestOverlappingPools checks that queues are marked as incomplete if two pools of them have the same objects.
func TestOverlappingPools(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	pools, size := mpichtest.Symbol(t, tg, "MPIR_Request_mem"), mpichtest.Size(t, tg, "MPIR_Object_alloc_t")
	first, err := inferior.NewReader(t.Context(), tg).Bytes(pools, int(size))
	if err != nil {
		t.Fatal(err)
	}
	p := mpichtest.Collect(t, inferiortest.Patch(tg).PutBytes(pools+size, first))
	if !mpichtest.Queues(t, p, "wild").Queue[mqs.PendingReceives].Incomplete || !strings.Contains(strings.Join(p.Notes, "\n"), "is in two pools") {
		t.Errorf("notes: %q", p.Notes)
	}
}

// A list that leads back to itself ends, and says so.
func TestListInACircle(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	first := mpichtest.Pointer(t, tg, mpichtest.Symbol(t, tg, "recvq_unexpected_head"))
	at := first + mpichtest.Offset(t, tg, "MPIR_Request", "next")
	p := mpichtest.Collect(t, inferiortest.Patch(tg).PutPointer(at, first))
	if !strings.Contains(strings.Join(p.Notes, " "), "comes back") && !strings.Contains(mpichtest.Queues(t, p, "wild").Queue[mqs.UnexpectedMessages].Unavailable, "comes back") {
		t.Errorf("notes: %q", p.Notes)
	}
}
