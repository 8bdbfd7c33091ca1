package mpir_test

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// The request that a call is near is its own only where the call waits: before, it is one that the
// program has made, whose address the stack or a register still holds.
func TestOldRequestsAreNoCalls(t *testing.T) {
	for name, waits := range map[string]string{
		"mpich-4.0.2-ch3/recv-rank-0":       "MPIDI_CH3I_Progress < MPIR_Wait_state < MPIR_Wait_impl < MPID_Wait < internal_Recv",
		"mpich-4.0.2-ch4-debug/recv-rank-0": "MPIDI_progress_test < MPID_Progress_wait < MPIR_Wait_state < MPID_Wait < internal_Recv",
	} {
		recording := inferiortest.Recorded(t, name)
		there := mpichtest.Shown(t, recording).Threads[0]
		if len(there.Requests) != 1 || !there.AllRequests {
			t.Fatalf("%s: its thread is %+v", name, there)
		}
		for inside, want := range map[string][]inferior.Addr{"": nil, "MPID_Recv < ": nil, waits + " < ": there.Requests} {
			thread := inferiortest.Thread(1, inside+"PMPI_Recv < main", there.Requests[0])
			if got := mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(thread)).Threads[0]; !slices.Equal(got.Requests, want) || got.AllRequests != (want != nil) {
				t.Errorf("%s, in %sPMPI_Recv: it waits for %v, all: %v; want %v", name, inside, got.Requests, got.AllRequests, want)
			}
		}
	}
}

// A call whose own request is complete may hold another thread's: then it is not known which is whose.
func TestCallsOfThreads(t *testing.T) {
	recording := inferiortest.Recorded(t, "mpich-4.0.2-ch3/requests-rank-0")
	var pending, complete []inferior.Addr
	for _, q := range mpichtest.Shown(t, recording).Communicators {
		for _, op := range q.Queue[mqs.PendingReceives].Operations {
			switch {
			case op.Kind != "irecv":
			case op.Status == mqs.Pending:
				pending = append(pending, op.Request.Value)
			case op.Status == mqs.Complete:
				complete = append(complete, op.Request.Value)
			}
		}
	}
	if len(pending) == 0 || len(complete) == 0 {
		t.Fatalf("%v are pending, %v complete", pending, complete)
	}
	const waits = "MPIDI_CH3I_Progress < MPID_Wait < PMPI_Recv < main"
	got := mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(inferiortest.Thread(1, waits, pending[0]), inferiortest.Thread(2, waits, pending[0], complete[0]))).Threads
	if !slices.Equal(got[0].Requests, pending[:1]) || len(got[1].Requests) > 0 || got[1].AllRequests {
		t.Errorf("they wait for %v and for %v", got[0].Requests, got[1].Requests)
	}
	if got = mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(inferiortest.Thread(1, waits, pending[0], complete[0]))).Threads; !slices.Equal(got[0].Requests, pending[:1]) {
		t.Errorf("alone it waits for %v", got[0].Requests)
	}
}

// MPI_Sendrecv has no request for MPI_PROC_NULL: an older one of the program's that is near is not its own.
func TestExchanges(t *testing.T) {
	recording := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	var pending, complete [2][]inferior.Addr
	for _, q := range mpichtest.Shown(t, recording).Communicators {
		for class := range pending {
			for _, op := range q.Queue[class].Operations {
				if list := &pending[class]; op.Status == mqs.Pending && q.Name.Value == "MPI_COMM_WORLD" {
					*list = append(*list, op.Request.Value)
				} else if op.Status == mqs.Complete {
					complete[class] = append(complete[class], op.Request.Value)
				}
			}
		}
	}
	if len(pending[0]) == 0 || len(pending[1]) < 2 || len(complete[0]) == 0 {
		t.Fatalf("%v are pending, %v complete", pending, complete)
	}
	send, recv, older, sent := pending[0][0], pending[1][0], pending[1][1], complete[0][0]
	const nobody, anyone = -1, -2
	for name, c := range map[string]struct {
		arguments map[string]int64
		held      []inferior.Addr
		want      []inferior.Addr
	}{
		"both":                                    {map[string]int64{"dest": 1, "source": 1}, []inferior.Addr{send, recv}, []inferior.Addr{send, recv}},
		"a receive from any":                      {map[string]int64{"dest": nobody, "source": anyone}, []inferior.Addr{recv}, []inferior.Addr{recv}},
		"a send, near a receive":                  {map[string]int64{"dest": 1, "source": nobody}, []inferior.Addr{send, recv}, []inferior.Addr{send}},
		"a receive, near a send":                  {map[string]int64{"dest": nobody, "source": 1}, []inferior.Addr{send, recv}, []inferior.Addr{recv}},
		"to and from whom is not known":           {nil, []inferior.Addr{send, recv}, nil},
		"near another receive":                    {map[string]int64{"dest": 1, "source": 1}, []inferior.Addr{send, recv, older}, []inferior.Addr{send}},
		"its send is complete, near another":      {map[string]int64{"dest": 1, "source": 1}, []inferior.Addr{send, sent, recv}, []inferior.Addr{recv}},
		"from whom is not known, near a send":     {map[string]int64{"dest": 1}, []inferior.Addr{send, recv}, []inferior.Addr{send}},
		"from whom is not known, without a send":  {map[string]int64{"dest": 1}, []inferior.Addr{recv}, nil},
		"to whom is not known, without a receive": {map[string]int64{"source": 1}, []inferior.Addr{send}, nil},
		"neither is known, near a receive":        {nil, []inferior.Addr{recv}, nil},
		"neither is known, near a send":           {nil, []inferior.Addr{send}, nil},
		"to nobody and from whom is not known":    {map[string]int64{"dest": nobody}, []inferior.Addr{send, recv}, []inferior.Addr{recv}},
		"from nobody and to whom is not known":    {map[string]int64{"source": nobody}, []inferior.Addr{send, recv}, []inferior.Addr{send}},
		"to whom is not known":                    {map[string]int64{"source": 1}, []inferior.Addr{send, recv}, []inferior.Addr{recv}},
		"to whom is not known, one complete":      {map[string]int64{"source": 1}, []inferior.Addr{send, sent, recv}, []inferior.Addr{recv}},
		"it holds nothing that it can wait for":   {map[string]int64{"dest": 1, "source": 1}, nil, nil},
	} {
		thread := inferiortest.Thread(1, "MPIDI_CH3I_Progress < MPIR_Sendrecv_impl < PMPI_Sendrecv < main", c.held...)
		thread.Frames[2].Variables = c.arguments
		if got := mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(thread)).Threads[0]; !slices.Equal(got.Requests, c.want) || got.AllRequests {
			t.Errorf("%s: it waits for %v, all: %v; want %v", name, got.Requests, got.AllRequests, c.want)
		}
	}
}

// Where not all requests can be read, the one that a blocking call holds may be an older one.
func TestRequestsInPart(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/recv-rank-0")
	second := mpichtest.Symbol(t, tg, mpir.SymRequestPools) + mpichtest.Size(t, tg, "MPIR_Object_alloc_t")
	unreadable := inferiortest.Patch(tg).PutUint32(second+mpichtest.Offset(t, tg, "MPIR_Object_alloc_t", "initialized"), 1).
		PutUint32(second+mpichtest.Offset(t, tg, "MPIR_Object_alloc_t", "size"), 1)
	for _, of := range []inferior.Inferior{tg, unreadable} {
		isWhole := of == tg
		p := mpichtest.Shown(t, of)
		receives := mpichtest.Queues(t, p, "MPI_COMM_WORLD").Queue[mqs.PendingReceives]
		if receives.Incomplete == isWhole || len(receives.Operations) != 1 {
			t.Fatalf("the receives are %+v", receives)
		}
		if got := p.Threads[0]; (len(got.Requests) == 1) != isWhole || got.AllRequests != isWhole {
			t.Errorf("of all: %t, it waits for %v, all: %v", isWhole, got.Requests, got.AllRequests)
		}
		if kind := receives.Operations[0].Kind; (kind == "recv") != isWhole || !isWhole && kind != "" {
			t.Errorf("of all: %t, the request is a %q", isWhole, kind)
		}
	}
}
