package ob1

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// stackAt is where the stacks of made-up threads are that have something on them.
const stackAt = inferior.Addr(1 << 30)

// pending are the synchronous sends and the receives of a process on MPI_COMM_WORLD that are not
// complete, the newest one last; there are several of each.
func pending(t *testing.T, tg inferior.Inferior) (sends, recvs []inferior.Addr) {
	t.Helper()
	p, q := ompitest.MustOpen(t, tg, Component)
	sends = ompitest.Pending(t, p, q, mqs.PendingSends, "issend")
	recvs = ompitest.Pending(t, p, q, mqs.PendingReceives, "irecv")
	if len(sends) < 2 || len(recvs) < 2 {
		t.Fatalf("%d sends and %d receives are pending", len(sends), len(recvs))
	}
	return sends, recvs
}

// Requests that the program has made before are near a call too: the stack keeps old values,
// and registers the program's variables. A call is said to wait only for what it can be shown to.
func TestOldRequestsAreNoCalls(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	sends, recvs := pending(t, tg)
	send, recv := sends[len(sends)-1], recvs[len(recvs)-1]
	for name, c := range map[string]struct {
		thread inferior.Thread
		want   []inferior.Addr
		all    bool
	}{
		"a send that has not begun":                  {inferiortest.Thread(1, "PMPI_Ssend < main", recv, send), nil, false},
		"a send that makes its request":              {inferiortest.Thread(1, "mca_pml_ob1_send < PMPI_Ssend < main", send), nil, false},
		"a send that waits, near a receive":          {inferiortest.Thread(1, "opal_progress < mca_pml_ob1_send < PMPI_Send < main", recv), nil, false},
		"a send that waits":                          {inferiortest.Thread(1, "opal_progress < mca_pml_ob1_send < PMPI_Ssend < main", recv, send), []inferior.Addr{send}, true},
		"a standard one, near a synchronous one":     {inferiortest.Thread(1, "opal_progress < mca_pml_ob1_send < PMPI_Send < main", send), nil, false},
		"a send that sets up a connection":           {inferiortest.Thread(1, "opal_progress < pmix < modex < bml < mca_pml_ob1_send < PMPI_Ssend < main", send), nil, false},
		"a receive that has not begun":               {inferiortest.Thread(1, "PMPI_Recv < main", recv), nil, false},
		"a receive that waits":                       {inferiortest.Thread(1, "sched_yield < mca_pml_ob1_recv < PMPI_Recv < main", recv, send), []inferior.Addr{recv}, true},
		"a receive that waits, near an older one":    {inferiortest.Thread(1, "opal_progress < mca_pml_ob1_recv < PMPI_Recv < main", recvs...), []inferior.Addr{recv}, true},
		"a wait without a handle":                    {inferiortest.Thread(1, "opal_progress < ompi_request_default_wait < PMPI_Wait < main", recv), nil, false},
		"a wait for all that has not begun":          {inferiortest.Thread(1, "ompi_request_default_wait_all < PMPI_Waitall < main", recv), nil, false},
		"a wait for any that has not put its mark":   {inferiortest.Thread(1, "PMPI_Waitany < main", recv), nil, false},
		"a barrier near requests of the program's":   {inferiortest.Thread(1, "opal_progress < ompi_request_default_wait < PMPI_Barrier < main", recv, send), nil, false},
		"an exchange that has not come to its waits": {inferiortest.Thread(1, "PMPI_Sendrecv < main", recv, send), nil, false},
	} {
		p, q := ompitest.MustOpen(t, inferiortest.Patch(tg).SetThreads(c.thread), Component)
		if got := ompitest.Wait(p, q); !slices.Equal(got.Requests, c.want) || got.AllRequests != c.all {
			t.Errorf("%s: it waits for %v, all: %v; want %v, %v", name, got.Requests, got.AllRequests, c.want, c.all)
		}
	}
}

// Where several threads may call MPI, a call that waits has put its mark into its request. One that
// holds a request without it has nothing more to wait for, however near another thread's is.
func TestCallsOfThreads(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	sends, recvs := pending(t, tg)
	send, recv := sends[len(sends)-1], recvs[len(recvs)-1]
	p, _ := ompitest.MustOpen(t, tg, Component)
	const flagAt, handleAt = stackAt + 1<<20, stackAt + 1<<19
	completeAt := ompitest.Offset(t, p, "ompi_request_t", "req_complete")
	for name, c := range map[string]struct {
		functions string
		held      inferior.Addr
		mark      inferior.Addr
		want      []inferior.Addr
		kind      string
	}{
		"a receive without a mark":           {"sched_yield < mca_pml_ob1_recv < PMPI_Recv < main", recv, 0, nil, callstack.KindNotKnown},
		"a receive with another one's mark":  {"sched_yield < mca_pml_ob1_recv < PMPI_Recv < main", recv, stackAt + 1<<16, nil, callstack.KindNotKnown},
		"a receive with its mark":            {"sched_yield < mca_pml_ob1_recv < PMPI_Recv < main", recv, stackAt + 8, []inferior.Addr{recv}, "recv"},
		"a send without a mark":              {"opal_progress < mca_pml_ob1_send < PMPI_Ssend < main", send, 0, nil, callstack.KindNotKnown},
		"a wait without a mark":              {"opal_progress < ompi_request_default_wait < PMPI_Wait < main", recv, 0, nil, "irecv"},
		"an exchange that has received":      {"opal_progress < ompi_request_default_wait < PMPI_Sendrecv < main", recv, 0, nil, callstack.KindNotKnown},
		"an exchange that waits for nothing": {"opal_progress < ompi_request_wait_completion < PMPI_Sendrecv < main", recv, 0, nil, callstack.KindNotKnown},
	} {
		thread := inferiortest.Thread(1, c.functions, c.held, handleAt)
		thread.Frames[0].StackPointer, thread.Frames[len(thread.Frames)-1].StackPointer = stackAt, stackAt+64
		for i := range thread.Frames[1 : len(thread.Frames)-1] {
			thread.Frames[i+1].StackPointer = stackAt
		}
		p, q := ompitest.MustOpen(t, inferiortest.Patch(tg).SetThreads(thread).AddMemory(stackAt, make([]byte, 2<<20)).
			PutPointer(stackAt+16, c.held).PutPointer(handleAt, c.held).
			SetSymbol(ompi.SymMultiple, inferior.Symbol{Addr: flagAt}).PutUint64(flagAt, 1).PutPointer(c.held+completeAt, c.mark), Component)
		kind := "none"
		for _, on := range p.Comms {
			for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.PendingReceives} {
				operations, _ := ompitest.Operations(q, on, class)
				for _, op := range operations {
					if op.Request == mqs.Known(c.held) {
						kind = op.Kind
					}
				}
			}
		}
		if got := ompitest.Wait(p, q); !slices.Equal(got.Requests, c.want) || kind != c.kind {
			t.Errorf("%s: it waits for %v, want %v, and its kind is %q, want %q", name, got.Requests, c.want, kind, c.kind)
		}
	}
}

// MPI_Wait waits for the request of which it holds the handle, too.
func TestWaitOfHandle(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	_, recvs := pending(t, tg)
	const handleAt = stackAt + 1<<12 // behind the call's part of the stack
	const waits = "opal_progress < ompi_request_default_wait < PMPI_Wait < main"
	for name, c := range map[string]struct {
		thread inferior.Thread
		want   []inferior.Addr
	}{
		"it waits":                       {inferiortest.Thread(1, waits, recvs[0], recvs[1], handleAt), recvs[:1]},
		"it has not come to wait":        {inferiortest.Thread(1, "ompi_request_default_wait < PMPI_Wait < main", recvs[0], handleAt), nil},
		"it has another pair":            {inferiortest.Thread(1, waits, recvs[0], recvs[1], handleAt, handleAt+8), nil},
		"its handle's request is no one": {inferiortest.Thread(1, waits, recvs[1], handleAt), nil},
	} {
		of := inferiortest.Patch(tg).SetThreads(c.thread).AddMemory(stackAt, make([]byte, 2<<12)).PutPointer(handleAt, recvs[0]).PutPointer(handleAt+8, recvs[1])
		p, q := ompitest.MustOpen(t, of, Component)
		if got := ompitest.Wait(p, q); !slices.Equal(got.Requests, c.want) || got.AllRequests != (c.want != nil) {
			t.Errorf("%s: it waits for %v, all: %v; want %v", name, got.Requests, got.AllRequests, c.want)
		}
	}
}

// MPI_Mprobe takes its request from the library's list, where the program's receives are, too.
func TestMatchedProbe(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	_, recvs := pending(t, tg)
	p, _ := ompitest.MustOpen(t, tg, Component)
	probing := inferiortest.Patch(tg)
	ompitest.Put(t, p, probing, recvs[0], "mca_pml_ob1_recv_request_t", "req_recv.req_base.req_type", typeMprobe)
	const waits = "sched_yield < mca_pml_ob1_mprobe < PMPI_Mprobe < main"
	for name, c := range map[string]struct {
		held []inferior.Addr
		want []inferior.Addr
	}{
		"its own":             {recvs[:2], recvs[:1]},
		"another thread's":    {nil, nil},
		"the program's alone": {recvs[1:], nil},
	} {
		p, q := ompitest.MustOpen(t, probing.SetThreads(inferiortest.Thread(1, waits, c.held...)), Component)
		if got := ompitest.Wait(p, q); !slices.Equal(got.Requests, c.want) || got.AllRequests != (len(c.want) > 0) || got.Comm.Known != (len(c.want) > 0) {
			t.Errorf("%s: it waits for %v on %+v, want %v", name, got.Requests, got.Comm, c.want)
		}
	}
}

// MPI_Sendrecv waits for its send and then for its receive. It has none of which the peer is
// MPI_PROC_NULL, and then an older one of the program's that is near is not its own.
func TestExchanges(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	sends, recvs := pending(t, tg)
	send, recv, older := sends[len(sends)-1], recvs[len(recvs)-1], recvs[0]
	p, _ := ompitest.MustOpen(t, tg, Component)
	const sending, receiving = "opal_progress < mca_pml_ob1_send < PMPI_Sendrecv < main", "opal_progress < ompi_request_default_wait < PMPI_Sendrecv < main"
	const unknown, nobody = 99, -2
	for name, c := range map[string]struct {
		stack  string
		source int64
		pushed []inferior.Addr
		want   []inferior.Addr
		all    bool
	}{
		"it sends, near a receive":                     {sending, unknown, []inferior.Addr{recv}, []inferior.Addr{send}, false},
		"it sends and receives from nobody":            {sending, nobody, []inferior.Addr{recv}, []inferior.Addr{send}, true},
		"it sends and receives":                        {sending, 1, []inferior.Addr{recv}, []inferior.Addr{send, recv}, true},
		"it sends and receives, near an older receive": {sending, 1, []inferior.Addr{older, recv}, []inferior.Addr{send, recv}, true},
		"it sends, and its receive is not seen":        {sending, 1, []inferior.Addr{older}, []inferior.Addr{send}, false},
		"it receives, near a send":                     {receiving, unknown, []inferior.Addr{recv}, []inferior.Addr{recv}, true},
		"it receives, near an older receive":           {receiving, 1, []inferior.Addr{recv, older}, []inferior.Addr{recv}, true},
		"its receive is not seen":                      {receiving, 1, []inferior.Addr{older}, nil, false},
	} {
		thread := inferiortest.Thread(1, c.stack, send)
		for i := range thread.Frames {
			thread.Frames[i].StackPointer = stackAt
		}
		own := len(thread.Frames) - 2
		thread.Frames[own+1].StackPointer += inferior.Addr(8 * len(c.pushed))
		if c.source != unknown {
			thread.Frames[own].Variables = map[string]int64{"source": c.source}
		}
		// It sends in standard mode.
		standard := inferiortest.Patch(tg)
		ompitest.Put(t, p, standard, send, "mca_pml_ob1_send_request_t", "req_send.req_send_mode", ompi.ModeStandard)
		p, q := ompitest.MustOpen(t, standard.SetThreads(thread).AddPointers(stackAt, c.pushed...), Component)
		if got := ompitest.Wait(p, q); !slices.Equal(got.Requests, c.want) || got.AllRequests != c.all {
			t.Errorf("%s: it waits for %v, all: %v; want %v, %v", name, got.Requests, got.AllRequests, c.want, c.all)
		}
	}
}

// Where not all requests can be read, the newest of those that can be need not be the newest one.
func TestNewestOfAPart(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	sends, recvs := pending(t, tg)
	p, opened := ompitest.MustOpen(t, tg, Component)
	class := ompitest.Offset(t, p, "opal_object_t", "obj_class")
	var sent, received []inferior.Addr // in the order of reading
	for _, list := range opened.(*queues).allRequests().sends {
		for _, r := range list {
			sent = append(sent, r.at.Addr())
		}
	}
	for _, list := range opened.(*queues).allRequests().recvs {
		for _, r := range list {
			received = append(received, r.at.Addr())
		}
	}
	for _, c := range []struct {
		stack string
		made  []inferior.Addr
		older inferior.Addr
	}{
		{"opal_progress < mca_pml_ob1_send < PMPI_Ssend < main", sent, sends[0]},
		{"opal_progress < mca_pml_ob1_recv < PMPI_Recv < main", received, recvs[0]},
		{"opal_progress < ompi_request_default_wait < PMPI_Sendrecv < main", received, recvs[0]},
	} {
		older, next := c.older, c.made[slices.Index(c.made, c.older)+1]
		thread := inferiortest.Thread(1, c.stack, older)
		for i := range thread.Frames {
			thread.Frames[i].StackPointer = stackAt
		}
		thread.Frames[len(thread.Frames)-1].StackPointer += 8
		broken := inferiortest.Patch(tg).PutUint64(next+class, 0)
		p, q := ompitest.MustOpen(t, broken.SetThreads(thread).AddPointers(stackAt, older), Component)
		got := ompitest.Wait(p, q).Requests
		if all := q.(*queues).allRequests(); all.sendErr == nil && all.recvErr == nil {
			t.Error("all requests have been read")
		}
		if len(got) > 0 {
			t.Errorf("%s: it waits for %v", c.stack, got)
		}
	}
}

// Requests on several communicators have equal numbers. Their order is the same at each look.
func TestRequestsKeepTheirOrder(t *testing.T) {
	var first []inferior.Addr
	for look := range 4 {
		_, q := ompitest.MustOpen(t, inferiortest.Recorded(t, "openmpi-4.1.4/groups-rank-0"), Component)
		var order []inferior.Addr
		for _, w := range q.Incomplete() {
			order = append(order, w.Addr)
		}
		if look == 0 {
			first = order
		}
		if len(order) < 20 || !slices.Equal(order, first) {
			t.Fatalf("look %d: %v, before: %v", look, order, first)
		}
	}
}

// A call whose request has become complete, and that waits all the same, waits for that: its library has lost the wake-up.
func TestLostWakeUp(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	_, recvs := pending(t, tg)
	recv, other := recvs[len(recvs)-1], recvs[0]
	p, _ := ompitest.MustOpen(t, tg, Component)
	const flagAt, handleAt, otherAt = stackAt + 1<<20, stackAt + 1<<19, stackAt + 1<<18
	completeAt := ompitest.Offset(t, p, "ompi_request_t", "req_complete")
	const wait = "opal_progress < ompi_request_default_wait < PMPI_Wait < main"
	for name, c := range map[string]struct {
		functions string
		held      []inferior.Addr
		complete  []inferior.Addr
		isUsed    uint64 // whether there are threads
		want      []inferior.Addr
	}{
		"with threads":                      {wait, []inferior.Addr{recv, handleAt}, []inferior.Addr{recv}, 1, []inferior.Addr{recv}},
		"without":                           {wait, []inferior.Addr{recv, handleAt}, []inferior.Addr{recv}, 0, []inferior.Addr{recv}},
		"one that is not complete":          {wait, []inferior.Addr{recv, handleAt}, nil, 1, nil},
		"a request without a handle":        {wait, []inferior.Addr{recv}, []inferior.Addr{recv}, 1, nil},
		"a handle whose request it has not": {wait, []inferior.Addr{handleAt}, []inferior.Addr{recv}, 1, nil},
		"two":                               {wait, []inferior.Addr{recv, handleAt, other, otherAt}, []inferior.Addr{recv, other}, 1, nil},
		"one of two that is not complete":   {wait, []inferior.Addr{recv, handleAt, other, otherAt}, []inferior.Addr{recv}, 1, nil},
		"it does not wait yet":              {"PMPI_Wait < main", []inferior.Addr{recv, handleAt}, []inferior.Addr{recv}, 1, nil},
		"another call":                      {"opal_progress < ompi_request_default_wait_all < PMPI_Waitall < main", []inferior.Addr{recv, handleAt}, []inferior.Addr{recv}, 1, nil},
	} {
		thread := inferiortest.Thread(1, c.functions, c.held...)
		changed := inferiortest.Patch(tg).SetThreads(thread).AddMemory(stackAt, make([]byte, 2<<20)).PutPointer(handleAt, recv).PutPointer(otherAt, other).
			SetSymbol(ompi.SymMultiple, inferior.Symbol{Addr: flagAt}).PutUint64(flagAt, c.isUsed)
		for _, a := range c.complete {
			changed.PutUint64(a+completeAt, ompi.RequestCompleted)
		}
		p, q := ompitest.MustOpen(t, changed, Component)
		if got := ompitest.Wait(p, q); !slices.Equal(got.Requests, c.want) || got.AllRequests != (c.want != nil) {
			t.Errorf("%s: it waits for %v, all: %t; want %v", name, got.Requests, got.AllRequests, c.want)
		}
	}
}
