package mpich

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// Where the types don't say how a partitioned operation is kept, it is shown, and nothing of it
// is made up.
func TestBarePartitioned(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")
	s := mustStart(t, tg)
	for _, c := range []struct {
		of    []*requestAt
		kind  uint32
		class mqs.OpClass
		want  string
	}{
		{s.allRequests().sends, kindPartitionedSend, mqs.PendingSends, mqs.KindPartitionedSend},
		{s.allRequests().sends, kindPartitionedRecv, mqs.PendingReceives, mqs.KindPartitionedRecv},
	} {
		r := c.of[0]
		for _, one := range c.of {
			if !one.complete() && one.Comm != 0 {
				r = one
			}
		}
		again := mustStart(t, inferiortest.Patch(tg).PutUint32(r.at+offset(t, s, "MPIR_Request", "kind"), c.kind))
		var got []mqs.PendingOperation
		for comm, err := range again.Communicators() {
			if err != nil {
				t.Fatal(err)
			}
			for op, err := range again.Operations(&comm, c.class) {
				if err == nil && op.IsPartitioned() {
					got = append(got, op)
				}
			}
		}
		if len(got) != 1 || got[0].Kind != c.want || got[0].Request != mqs.Known(r.at) || got[0].Status != mqs.Pending ||
			got[0].DesiredTag.Known || got[0].Count.Known || got[0].DesiredLocalRank.Known {
			t.Errorf("%s: %+v", c.want, got)
		}
		if notes := strings.Join(again.Notes(), "\n"); !strings.Contains(notes, "partitioned operations") {
			t.Errorf("no note says so: %s", notes)
		}
	}
}

func TestProduct(t *testing.T) {
	for _, c := range []struct {
		a, b, want int64
		ok         bool
	}{{3, 4, 12, true}, {1 << 40, 1 << 40, 0, false}, {1 << 62, 2, 0, false}, {-1, 4, 0, false}, {0, 9, 0, true}} {
		if got, ok := product(c.a, c.b); ok != c.ok || ok && got != c.want {
			t.Errorf("%d times %d: %d, %t", c.a, c.b, got, ok)
		}
	}
}
