package ompi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// The messages of non-blocking collectives are on their way whatever the program does meanwhile: no
// call waits for them, and none is on their communicator for their sake.
func TestNonBlockingCollectivesAreNoCalls(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, q := ompitest.MustOpen(t, tg, ob1.Component)
	world := ompitest.Comm(t, p, "MPI_COMM_WORLD")
	pending := ompitest.Pending(t, p, q, mqs.PendingReceives, "irecv")
	if len(pending) == 0 {
		t.Fatal("no receive is pending")
	}
	recv := pending[len(pending)-1]
	const waits, progresses = "opal_progress < ompi_request_default_wait < ", "NBC_Progress < ompi_coll_libnbc_progress < opal_progress < "
	for name, c := range map[string]struct {
		stack string
		tag   int32
		held  bool
		want  bool // that the call waits for it
	}{
		"a barrier":                            {waits + "PMPI_Barrier", -16, true, true},
		"a barrier that does not hold it":      {waits + "PMPI_Barrier", -16, false, false},
		"a barrier near another's":             {waits + "PMPI_Barrier", -27, true, false},
		"a window, by a blocking collective":   {waits + "PMPI_Win_fence", -26, true, true},
		"a call for neighbours":                {waits + "PMPI_Neighbor_alltoall", -1<<30 + 1, true, true},
		"a call for neighbours near another's": {waits + "PMPI_Neighbor_alltoall", -1<<30 + 2, true, false},
		"a file while it looks after another":  {progresses + "PMPI_File_write_all", -27, true, false},
		"a file while there is another":        {"write < PMPI_File_write_all", -27, false, false},
		"a copy near another":                  {progresses + "PMPI_Comm_dup", -100, true, false},
		"a copy while there is another":        {waits + "PMPI_Comm_dup", -100, false, false},
		"a copy that agrees on its context":    {"opal_progress < ompi_comm_nextcid < ompi_comm_dup_with_info < PMPI_Comm_dup", -100, false, true},
		"a copy that agrees on it, from 5.0":   {"opal_progress < ? < ompi_comm_nextcid < ompi_comm_dup_with_info < PMPI_Comm_dup", -100, false, true},
		"a copy of attributes":                 {"opal_progress < PMPI_Test < copy < ompi_attr_copy_all < ompi_comm_dup_with_info < PMPI_Comm_dup", -100, false, false},
	} {
		thread := inferiortest.Thread(1, c.stack+" < main")
		if c.held {
			thread = inferiortest.Thread(1, c.stack+" < main", recv)
		}
		if strings.HasPrefix(c.stack, progresses) { // of which the communicator is the other's
			thread.Frames[0].Variables = map[string]int64{"comm": int64(world.At), "root": 1}
		}
		changed := inferiortest.Patch(tg)
		ompitest.Put(t, p, changed, recv, "mca_pml_ob1_recv_request_t", "req_recv.req_base.req_tag", c.tag)
		p, q := ompitest.MustOpen(t, changed.SetThreads(thread), ob1.Component)
		if got := ompitest.Wait(p, q); slices.Equal(got.Requests, []inferior.Addr{recv}) != c.want || len(got.Requests) > 0 != c.want || got.Comm.Known != c.want || got.Root.Known {
			t.Errorf("%s: it waits for %v on %+v, want: %v", name, got.Requests, got.Comm, c.want)
		}
	}
}
