package tagged

import (
	"errors"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
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

// taking is a matcher out of which messages were taken.
type taking struct {
	transport.Matcher
	messages map[inferior.Addr]transport.Message
}

func (m *taking) MessageAt(a inferior.Addr) (transport.Message, error) {
	if taken, ok := m.messages[a]; ok {
		return taken, nil
	}
	return transport.Message{}, errors.New("no message")
}

// A message that has left the queues is one of the communicator whose index its tag has.
func TestMessageAt(t *testing.T) {
	q, _ := openOf(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	world, self := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD"), ompitest.Comm(t, q.Process, "MPI_COMM_SELF")
	q.read = &contents{matcher: &taking{messages: map[inferior.Addr]transport.Message{0x10: {Tag: world.Index | 1<<20 | 7<<40, Length: 4}, 0x20: {Tag: self.Index | 7<<40}}}}
	for at, want := range map[inferior.Addr][2]bool{0x10: {true, false}, 0x20: {false, true}, 0x30: {}} {
		for i, comm := range []*ompi.Comm{world, self} {
			op, ok := q.MessageAt(at, comm)
			if ok != want[i] || ok && (op.DesiredTag != mqs.Known[int32](7) || op.Status != mqs.Matched) {
				t.Errorf("%s on %s: %+v, %t", at, comm.Model.Label(), op, ok)
			}
		}
	}
	q.read, q.readErr = nil, errors.New("no transport")
	if _, ok := q.MessageAt(0x10, world); ok {
		t.Error("without a transport there is a message")
	}
	if _, _, ok := q.RequestAt(0x10, ""); ok {
		t.Error("without a transport there is a request")
	}
}
