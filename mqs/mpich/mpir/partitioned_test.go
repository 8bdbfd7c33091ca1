package mpir_test

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// Where the types don't say how a partitioned operation is kept, it is shown, and nothing of it
// is made up.
func TestBarePartitioned(t *testing.T) {
	const send, recv = 6, 7 // kinds of requests
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")
	for _, c := range []struct {
		kind  uint32
		class mqs.OpClass
		want  string
	}{
		{send, mqs.PendingSends, mqs.KindPartitionedSend},
		{recv, mqs.PendingReceives, mqs.KindPartitionedRecv},
	} {
		r := mqs.Maybe[mqs.PendingOperation]{}
		for _, q := range mpichtest.Collect(t, tg).Communicators {
			for _, op := range q.Queue[mqs.PendingSends].Operations {
				if op.Status == mqs.Pending {
					r = mqs.Known(op)
				}
			}
		}
		if !r.Known {
			t.Fatal("no send is pending")
		}
		p := mpichtest.Collect(t, inferiortest.Patch(tg).PutUint32(r.Value.Request.Value+mpichtest.Offset(t, tg, "MPIR_Request", "kind"), c.kind))
		var got []mqs.PendingOperation
		for _, q := range p.Communicators {
			for _, op := range q.Queue[c.class].Operations {
				if op.IsPartitioned() {
					got = append(got, op)
				}
			}
		}
		if len(got) != 1 || got[0].Kind != c.want || got[0].Request != r.Value.Request || got[0].Status != mqs.Pending ||
			got[0].DesiredTag.Known || got[0].Count.Known || got[0].DesiredLocalRank.Known {
			t.Errorf("%s: %+v", c.want, got)
		}
		if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "partitioned operations") {
			t.Errorf("no note says so: %s", notes)
		}
	}
}
