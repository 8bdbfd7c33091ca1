package tagged

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// A call waits for what it has made for itself. Where other threads' calls may have made a send, too, that
// is known of what stands on its own stack alone.
func TestOwn(t *testing.T) {
	const stack, elsewhere = inferior.Addr(0x1000), inferior.Addr(0x9000)
	onStack := ompi.Waitable{Addr: stack + 8, Class: mqs.PendingReceives, Own: true}
	made := ompi.Waitable{Addr: elsewhere, Class: mqs.PendingSends, Own: true}
	older := ompi.Waitable{Addr: elsewhere + 24, Class: mqs.PendingSends, Own: true}
	otherStack := ompi.Waitable{Addr: elsewhere + 32, Class: mqs.PendingReceives, Own: true}
	program := ompi.Waitable{Addr: elsewhere + 8, Class: mqs.PendingSends}
	received := ompi.Waitable{Addr: elsewhere + 16, Class: mqs.PendingReceives}
	const waits = "opal_progress < mca_pml_ucx_wait < "
	for name, c := range map[string]struct {
		functions string
		held      []ompi.Waitable
		isAlone   bool
		want      []inferior.Addr
		all       bool
	}{
		"a receive on its stack":                    {"PMPI_Recv", []ompi.Waitable{onStack}, true, []inferior.Addr{onStack.Addr}, true},
		"a receive on its stack, among threads":     {"PMPI_Recv", []ompi.Waitable{onStack}, false, []inferior.Addr{onStack.Addr}, true},
		"a send of its own":                         {"PMPI_Send", []ompi.Waitable{made, program}, true, []inferior.Addr{made.Addr}, true},
		"a send of its own or of another thread's":  {"PMPI_Send", []ompi.Waitable{made, program}, false, nil, false},
		"nothing but the program's":                 {"PMPI_Send", []ompi.Waitable{program}, true, nil, false},
		"two, of which one is an older one":         {"PMPI_Ssend", []ompi.Waitable{made, older}, true, []inferior.Addr{made.Addr, older.Addr}, false},
		"a send near a receive":                     {"PMPI_Ssend", []ompi.Waitable{made, onStack}, true, []inferior.Addr{made.Addr}, true},
		"a receive on another thread's stack":       {"PMPI_Recv", []ompi.Waitable{otherStack}, true, nil, false},
		"an exchange that has not come to its wait": {"mca_pml_ucx_irecv < PMPI_Sendrecv", []ompi.Waitable{made, received}, true, nil, false},
		"an exchange that sends":                    {waits + "PMPI_Sendrecv", []ompi.Waitable{made, received}, true, []inferior.Addr{made.Addr, received.Addr}, true},
		"an exchange among threads":                 {waits + "PMPI_Sendrecv", []ompi.Waitable{made, received}, false, nil, false},
		"an exchange that receives":                 {"opal_progress < ompi_request_default_wait < PMPI_Sendrecv", []ompi.Waitable{made, received}, true, []inferior.Addr{received.Addr}, true},
		"an exchange near the program's send":       {waits + "PMPI_Sendrecv", []ompi.Waitable{program, received}, true, []inferior.Addr{received.Addr}, false},
	} {
		thread := inferiortest.Thread(1, c.functions+" < main")
		for i := range thread.Frames {
			thread.Frames[i].StackPointer = stack
		}
		own := len(thread.Frames) - 2
		thread.Frames[own].Variables = map[string]int64{"source": 1}
		thread.Frames[own+1].StackPointer = stack + 32
		of := inferiortest.Patch(inferiortest.Recorded(t, "openmpi-4.1.4-ucx/recv-old-rank-0")).SetThreads(thread).AddPointers(stack, 0, 0, received.Addr)
		p, q := ompitest.MustOpen(t, of, Components...)
		calls, err := p.Calls()
		if err != nil || len(calls) != 1 {
			t.Fatalf("%d calls, %v", len(calls), err)
		}
		got, all := q.Own(&calls[0], c.held, c.isAlone)
		var addrs []inferior.Addr
		for _, w := range got {
			addrs = append(addrs, w.Addr)
		}
		if !slices.Equal(addrs, c.want) || all != c.all {
			t.Errorf("%s: %v, all: %v; want %v, %v", name, addrs, all, c.want, c.all)
		}
	}
}

// What is on a call's own stack is its own, whatever other threads do.
func TestCallsOfThreads(t *testing.T) {
	for _, name := range []string{"recv-old-rank-0", "send-new-rank-1"} {
		tg := inferiortest.Recorded(t, "openmpi-4.1.4-ucx/"+name)
		p, q := ompitest.MustOpen(t, tg, Components...)
		want := ompitest.Wait(p, q)
		recorded, err := tg.Threads(t.Context(), 1, nil) // a recording has all frames
		if err != nil || len(want.Requests) != 1 {
			t.Fatalf("%s: %+v, %v", name, want, err)
		}
		threads := append(slices.Clone(recorded), inferiortest.Thread(99, "opal_progress < mca_pml_ucx_send < PMPI_Send < main", want.Requests...))
		p, q = ompitest.MustOpen(t, inferiortest.Patch(tg).SetThreads(threads...), Components...)
		got := []mqs.Thread{{Number: 1}, {Number: 99}}
		p.SetWaits(q, got)
		if !slices.Equal(got[0].Requests, want.Requests) || !got[0].AllRequests || len(got[1].Requests) > 0 || got[1].AllRequests {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// What is not complete can be waited for, but for a buffered send: of any tag or of one, and by the call that has made it
// if it is known that one has.
func TestIncomplete(t *testing.T) {
	q, _ := openOf(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	made := map[maker]inferior.Addr{}
	for at, m := range q.pml.(*pmlUCX).makers {
		made[m] = at
	}
	world := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	id, tag, all := world.Model.UniqueID, world.Index|7<<40, ^uint64(0)
	pending := ompitest.Pending(t, q.Process, q, mqs.PendingReceives, "irecv")
	if len(pending) == 0 {
		t.Fatal("the program receives nothing")
	}
	kept, err := q.requestAt(pending[0])
	if err != nil || kept.Complete == ompi.RequestCompleted {
		t.Fatal(kept, err)
	}
	done := func(m maker, state transport.State) transport.Request {
		return transport.Request{Done: made[m], State: state}
	}
	call := &callstack.Call{}
	q.read = &contents{
		receives: map[inferior.Addr][]receive{id: {
			{transport.Receive{Tag: tag, Mask: all}, owner{handle: 0x10}},
			{transport.Receive{Tag: tag, Mask: 0x800000_fffff_fffff}, owner{handle: 0x20, call: call}},
			{transport.Receive{Request: transport.Request{State: transport.Complete}, Tag: tag, Mask: all}, owner{handle: 0x30}},
			{transport.Receive{Tag: tag, Mask: all}, owner{handle: 0x40, own: &ownRequest{complete: 5}}},
			{transport.Receive{Tag: tag, Mask: all}, owner{handle: pending[0]}},
		}},
		sends: map[inferior.Addr][]send{id: {
			{Send: transport.Send{Request: done(madeForProgram, transport.Posted), Tag: tag}, owner: owner{handle: 0x50}},
			{Send: transport.Send{Request: done(madeForCall, transport.Posted), Tag: tag}, owner: owner{handle: 0x60}},
			{Send: transport.Send{Request: done(madeForBuffer, transport.Posted), Tag: tag}, owner: owner{handle: 0x70}},
			{Send: transport.Send{Request: done(madeForProgram, transport.Complete), Tag: tag}, owner: owner{handle: 0x80}},
			{Send: transport.Send{Request: done(madeForProgram, transport.Posted), Tag: tag}, owner: owner{handle: 0x8, call: call}},
		}},
	}
	want := []ompi.Waitable{
		{Addr: 0x8, Class: mqs.PendingSends, Comm: world.At, Tag: 7, Own: true}, {Addr: 0x10, Class: mqs.PendingReceives, Comm: world.At, Tag: 7},
		{Addr: 0x20, Class: mqs.PendingReceives, Comm: world.At, Tag: ompi.AnyTag, Own: true}, {Addr: 0x40, Class: mqs.PendingReceives, Comm: world.At, Tag: 7, Complete: 5},
		{Addr: 0x50, Class: mqs.PendingSends, Comm: world.At, Tag: 7}, {Addr: 0x60, Class: mqs.PendingSends, Comm: world.At, Tag: 7, Own: true},
		{Addr: pending[0], Class: mqs.PendingReceives, Comm: world.At, Tag: 7, Complete: kept.Complete},
	}
	if got := q.Incomplete(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
