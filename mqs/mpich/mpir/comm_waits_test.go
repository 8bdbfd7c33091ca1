package mpir_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// A call has its communicator as a handle of 32 bits, which a debugger may say is negative, or inside of the library as a
// pointer; and none if its argument is neither.
func TestCommunicatorOfCall(t *testing.T) {
	recording := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	p := mpichtest.Shown(t, recording)
	var world, direct *mqs.Queues
	for _, q := range p.Communicators {
		switch handle := uint32(q.Handle.Value); {
		case q.Name.Value == "MPI_COMM_WORLD":
			world = q
		case int32(handle) < 0 && !q.Internal:
			direct = q
		}
	}
	if world == nil || direct == nil {
		t.Fatalf("the handles are not of both kinds: %v, %v", world, direct)
	}
	worldHandle, directHandle := int64(world.Handle.Value), int64(direct.Handle.Value)
	for name, c := range map[string]struct {
		argument string
		value    int64
		want     *mqs.Queues
	}{
		"a handle":            {"comm", worldHandle, world},
		"one with a high bit": {"comm", directHandle, direct},
		"one below zero":      {"comm", int64(int32(directHandle)), direct},
		"a pointer":           {"comm_ptr", int64(direct.UniqueID), direct},
		"more than 32 bits":   {"comm", worldHandle | 1<<40, nil},
		"another handle":      {"comm", worldHandle + 77, nil},
	} {
		thread := inferiortest.Thread(1, "MPIDI_CH3I_Progress < PMPI_Barrier < main")
		thread.Frames[1].Variables = map[string]int64{c.argument: c.value}
		var want mqs.Maybe[inferior.Addr]
		if c.want != nil {
			want = mqs.Known(c.want.UniqueID)
		}
		if got := mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(thread)).Threads[0]; got.Call != "MPI_Barrier" || got.Comm != want {
			t.Errorf("%s: %s on %v, want %v", name, got.Call, got.Comm, want)
		}
	}
}
