package openmpi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// UCX gives requests to others again: of one that has found its message at once, the function to
// call on completion is the former user's.
func TestFormerUsersOfUCX(t *testing.T) {
	s, err := start(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.ucxQueues()
	if err != nil {
		t.Fatal(err)
	}
	done := q.symbols[symPrecvDone].Addr
	for state, want := range map[ucx.State]string{ucx.Posted: "recv_init", ucx.Matched: "recv_init", ucx.Complete: callstack.KindNotKnown} {
		got := s.ucxReceive(&mqs.Communicator{}, &ucxReceive{Receive: ucx.Receive{State: state, Done: done}})
		if got.Kind != want {
			t.Errorf("in state %d its kind is %q, want %q", state, got.Kind, want)
		}
	}
}
