package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// TestMayAct checks which threads are reported as able to call MPI by themselves: those that the condition of a deadlock names, and no
// thread that waits in MPI or for another thread of its process.
func TestMayAct(t *testing.T) {
	yes, no, unknown := mqs.Known(true), mqs.Known(false), mqs.Maybe[bool]{}
	inCall := mqs.Thread{Number: 1, Placed: true, Call: "MPI_Recv"}
	computes := mqs.Thread{Number: 2, Placed: true, Activity: mqs.Computes}
	for name, c := range map[string]struct {
		thread   mqs.Thread
		multiple mqs.Maybe[bool]
		signal   string
		want     mqs.Maybe[bool]
	}{
		"computes":                         {computes, yes, "", yes},
		"computes, and must not call":      {computes, no, "", no},
		"computes, the level unknown":      {computes, unknown, "", unknown},
		"sleeps":                           {mqs.Thread{Number: 2, Placed: true, Activity: mqs.Sleeps}, yes, "", yes},
		"not placed":                       {mqs.Thread{Number: 2}, yes, "", unknown},
		"not placed, and must not call":    {mqs.Thread{Number: 2}, no, "", no},
		"waits in another call":            {mqs.Thread{Number: 2, Placed: true, Call: "MPI_Barrier"}, yes, "", no},
		"in a call that returns by itself": {mqs.Thread{Number: 2, Placed: true, Call: "MPI_Isend"}, yes, "", yes},
		"waits for a listed thread":        {mqs.Thread{Number: 2, Placed: true, Activity: mqs.Locks, Holder: mqs.Known(1)}, yes, "", no},
		"waits for an unlisted thread":     {mqs.Thread{Number: 2, Placed: true, Activity: mqs.Locks, Holder: mqs.Known(9)}, yes, "", yes},
		"of a crashed rank":                {computes, yes, "SIGSEGV", no},
	} {
		p := &mqs.Process{Threads: []mqs.Thread{inCall, c.thread}, ThreadMultiple: c.multiple, Signal: c.signal, SignalThread: mqs.Known(2)}
		if got := mayAct(p, &p.Threads[1], isBlockedInCall(p)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	alone := &mqs.Process{Threads: []mqs.Thread{computes}}
	if got := mayAct(alone, &alone.Threads[0], isBlockedInCall(alone)); got != yes {
		t.Errorf("alone outside MPI: %v", got)
	}
}
