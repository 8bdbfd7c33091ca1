package tagged

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// UCX gives requests to others again: of one that has found its message at once, the function to
// call on completion is the former user's.
func TestFormerUsersOfUCX(t *testing.T) {
	q, _ := openOf(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	done, err := q.R.Symbol("mca_pml_ucx_precv_completion")
	if err != nil || done == nil {
		t.Fatalf("%v, %v", done, err)
	}
	for state, want := range map[transport.State]string{transport.Posted: "recv_init", transport.Matched: "recv_init", transport.Complete: callstack.KindNotKnown} {
		got := q.describeReceive(&mqs.Communicator{}, &receive{Receive: transport.Receive{Request: transport.Request{State: state, Done: done.Addr}}})
		if got.Kind != want {
			t.Errorf("in state %d its kind is %q, want %q", state, got.Kind, want)
		}
	}
}
