package openmpi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
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
	for state, want := range map[transport.State]string{transport.Posted: "recv_init", transport.Matched: "recv_init", transport.Complete: callstack.KindNotKnown} {
		got := s.ucxReceive(&mqs.Communicator{}, &ucxReceive{Receive: transport.Receive{Request: transport.Request{State: state, Done: done}}})
		if got.Kind != want {
			t.Errorf("in state %d its kind is %q, want %q", state, got.Kind, want)
		}
	}
}
