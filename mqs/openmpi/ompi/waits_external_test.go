package ompi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
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

// waitables are queues of which nothing is asked but the requests that are not complete.
type waitables struct {
	ompi.Queues
	open []ompi.Waitable
}

func (q *waitables) Incomplete() []ompi.Waitable { return q.open }

// A call has marked all that it waits for, or else there are others: their number stands at the mark or, where one is
// enough, the array that the program has passed tells.
func TestMarks(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	const request = "ompi_request_t"
	null := o.Object(request)
	o.To.SetSymbol("ompi_request_null", inferior.Symbol{Addr: null})
	mark, stack := o.Memory(64), inferior.Addr(64)
	marked := func(complete inferior.Addr) inferior.Addr {
		at := o.Object(request)
		o.Put(at, request, "req_complete", uint64(complete))
		return at
	}
	first, second, hidden, other, complete := marked(mark), marked(mark), marked(mark), marked(mark+1), marked(1)
	array := func(words ...inferior.Addr) inferior.Addr {
		list := make([]uint64, len(words))
		for i, w := range words {
			list[i] = uint64(w)
		}
		return o.Words(list...)
	}
	const waitany, waitall = "MPI_Waitany", "MPI_Waitall"
	for name, c := range map[string]struct {
		call  string
		count uint32 // at the mark
		held  []inferior.Addr
		all   bool
	}{
		"as many as are marked":                {waitall, 2, nil, true},
		"more than are marked":                 {waitall, 3, nil, false},
		"one of an array":                      {waitany, 1, []inferior.Addr{array(first, second)}, true},
		"one of an array, of MPI_Waitsome":     {"MPI_Waitsome", 1, []inferior.Addr{array(first, second)}, true},
		"an array of one more":                 {waitany, 1, []inferior.Addr{array(first, hidden, second)}, false},
		"an array of one more behind":          {waitany, 1, []inferior.Addr{array(first, second, hidden)}, false},
		"an array of others":                   {waitany, 1, []inferior.Addr{array(other, first, null, complete, second)}, true},
		"an array that lacks one":              {waitany, 1, []inferior.Addr{array(first, null, complete)}, false},
		"an array, before what is no request":  {waitany, 1, []inferior.Addr{array(first, second, 0x10, hidden)}, true},
		"an array, before nothing":             {waitany, 1, []inferior.Addr{array(second, first, 0, hidden)}, true},
		"an array, before an object":           {waitany, 1, []inferior.Addr{array(second, first, o.Object("ompi_info_t"), hidden)}, true},
		"two arrays":                           {waitany, 1, []inferior.Addr{array(first), array(first, second)}, true},
		"what lies across an array":            {waitany, 1, []inferior.Addr{array(0, first, second) + 4}, false},
		"an array that the call does not hold": {waitany, 2, nil, false},
	} {
		thread := inferiortest.Thread(1, "opal_progress < ompi_request_default_wait < P"+c.call+" < main", c.held...)
		for i := range thread.Frames {
			thread.Frames[i].StackPointer = mark
		}
		thread.Frames[3].StackPointer += stack
		o.To.PutUint32(mark, c.count).SetThreads(thread)
		p, _ := o.Open(ob1.Component)
		got := ompitest.Wait(p, &waitables{open: []ompi.Waitable{{Addr: first, Complete: uint64(mark)}, {Addr: second, Complete: uint64(mark)}, {Addr: other, Complete: uint64(mark + stack)}}})
		if !slices.Equal(got.Requests, []inferior.Addr{first, second}) || got.AllRequests != c.all {
			t.Errorf("%s: it waits for %v, all: %t", name, got.Requests, got.AllRequests)
		}
	}
}

// What is known of a call's arguments is told in the model's values.
func TestArgumentsOfCalls(t *testing.T) {
	tg := inferiortest.Recorded(t, queuesOf414)
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	world := ompitest.Comm(t, p, "MPI_COMM_WORLD")
	of := func(source, tag int64) map[string]int64 {
		return map[string]int64{"comm": int64(world.At), "source": source, "tag": tag}
	}
	for name, c := range map[string]struct {
		call              string
		arguments         map[string]int64
		source, tag, root mqs.Maybe[int32]
		isOnWorld         bool
	}{
		"a probe":                   {"MPI_Iprobe", of(2, 7), mqs.Known[int32](2), mqs.Known[int32](7), mqs.Maybe[int32]{}, true},
		"a probe that takes":        {"MPI_Improbe", of(-1, ompi.AnyTag), mqs.Known[int32](-1), mqs.Known[int32](-1), mqs.Maybe[int32]{}, true},
		"a probe that is not known": {"MPI_Iprobe", map[string]int64{"comm": int64(world.At), "source": 2}, mqs.Maybe[int32]{}, mqs.Maybe[int32]{}, mqs.Maybe[int32]{}, true},
		"another call":              {"MPI_Recv", of(2, 7), mqs.Maybe[int32]{}, mqs.Maybe[int32]{}, mqs.Maybe[int32]{}, true},
		"a root":                    {"MPI_Bcast", map[string]int64{"root": 1}, mqs.Maybe[int32]{}, mqs.Maybe[int32]{}, mqs.Known[int32](1), false},
	} {
		thread := inferiortest.Thread(1, "opal_progress < mca_pml_ob1_iprobe < P"+c.call+" < main")
		thread.Frames[2].Variables = c.arguments
		p, q := ompitest.MustOpen(t, inferiortest.Patch(tg).SetThreads(thread), ob1.Component)
		got := ompitest.Wait(p, q)
		if got.Source != c.source || got.Tag != c.tag || got.Root != c.root || got.Comm != (mqs.Maybe[inferior.Addr]{Value: world.Model.UniqueID, Known: c.isOnWorld}) && c.isOnWorld || got.Comm.Known != c.isOnWorld {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestWaitOnIntercommunicator checks that a collective on an intercommunicator is shown on it also while its messages go over the
// communicator of the local group inside it, which the program does not know.
func TestWaitOnIntercommunicator(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, q := ompitest.MustOpen(t, tg, ob1.Component)
	world, bridge := ompitest.Comm(t, p, "MPI_COMM_WORLD"), ompitest.Comm(t, p, "bridge")
	recv := ompitest.Pending(t, p, q, mqs.PendingReceives, "irecv")[0]
	for inside, want := range map[inferior.Addr]inferior.Addr{world.At.Addr(): bridge.Model.UniqueID, bridge.LocalComm.Addr(): world.Model.UniqueID} {
		changed := inferiortest.Patch(tg)
		ompitest.Put(t, p, changed, recv, "mca_pml_ob1_recv_request_t", "req_recv.req_base.req_tag", -16)
		changed.PutPointer(bridge.At.Addr()+ompitest.Offset(t, p, "ompi_communicator_t", "c_local_comm"), inside)
		p, q := ompitest.MustOpen(t, changed.SetThreads(inferiortest.Thread(1, "opal_progress < ompi_request_default_wait < PMPI_Barrier < main", recv)), ob1.Component)
		if got := ompitest.Wait(p, q); got.Comm != mqs.Known(want) {
			t.Errorf("with %s inside it waits on %+v, want %s", inside, got.Comm, want)
		}
	}
}
