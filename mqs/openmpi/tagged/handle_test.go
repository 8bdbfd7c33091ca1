package tagged

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A request by its handle is what it is in the queues. Persistent ones say all themselves when they are not
// started.
func TestRequestsByHandle(t *testing.T) {
	of := inferiortest.Patch(inferiortest.Recorded(t, "openmpi-4.1.4-ucx/requests-new-rank-0"))
	p, q := ompitest.MustOpen(t, of, Components...)
	seen, persistents := 0, 0
	for _, c := range p.Comms {
		for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.PendingReceives} {
			operations, err := ompitest.Operations(q, c, class)
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range operations {
				got, comm, ok := q.RequestAt(op.Request.Value, "")
				if !ok || comm != c.At || !reflect.DeepEqual(got, op) {
					t.Errorf("%+v, %v, want %+v", got, ok, op)
				}
				seen++
				if op.Kind != "send_init" && op.Kind != "recv_init" {
					continue
				}
				persistents++
				to := inferiortest.Patch(of)
				ompitest.Put(t, p, to, op.Request.Value, "ompi_request_t", "req_state", ompi.RequestInactive)
				_, q := ompitest.MustOpen(t, to, Components...)
				got, comm, ok = q.RequestAt(op.Request.Value, "mca_pml_ucx_persistent_request_t")
				if !ok || comm != c.At || got.Status != mqs.Inactive || got.Kind != op.Kind || got.DesiredTag != op.DesiredTag || got.ActualTag.Known {
					t.Errorf("not started: %+v, %v, want %+v", got, ok, op)
				}
			}
		}
	}
	if seen < 10 || persistents < 2 {
		t.Errorf("%d requests, of which %d are persistent", seen, persistents)
	}
}
