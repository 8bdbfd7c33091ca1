package tagged

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A persistent request that is complete is on the communicator that it names, whatever index is in its
// tag: that of a send is the receiver's. Where the program has freed that, the tag alone is left.
func TestAssignComplete(t *testing.T) {
	q, _ := openOf(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	world := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	const index = 999
	all := &contents{sends: map[inferior.Addr][]send{}, receives: map[inferior.Addr][]receive{}, freed: map[inferior.Addr]bool{}}
	q.assignComplete(all, []ownRequest{
		{at: 0x10, comm: world.At, tag: index, isSend: true},
		{at: 0x20, comm: world.At, tag: index + 1, message: status{source: 1, tag: 7, length: 8}},
		{at: 0x30, request: 0x40, comm: world.At, tag: index},
		{at: 0x50, tag: index + 2, message: status{isCancelled: true}},
	})
	id := world.Model.UniqueID
	if len(all.sends[id]) != 1 || len(all.receives[id]) != 1 || len(all.receives[index+2]) != 1 || len(all.freed) != 1 {
		t.Fatalf("%+v", all)
	}
	got := q.describeReceive(world.Model, &all.receives[id][0])
	if got.Status != mqs.Complete || got.Kind != "recv_init" || got.ActualLocalRank != mqs.Known[int32](1) || got.ActualTag != mqs.Known[int32](7) || got.ActualLength != mqs.Known[int64](8) {
		t.Errorf("what has arrived is %+v", got)
	}
	got = q.describeReceive(&mqs.Communicator{}, &all.receives[index+2][0])
	if len(got.ExtraText) != 1 || got.ExtraText[0] != mqs.Cancelled || got.ActualTag.Known || !got.DesiredLocalRank.Known {
		t.Errorf("what was cancelled is %+v", got)
	}
}
