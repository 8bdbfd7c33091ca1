package symbolless_test

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// Of a stripped MPICH what is complete is not known to have been a call's: each call must have its own.
func TestCallsOfThreads(t *testing.T) {
	recording := inferiortest.Recorded(t, "mpich-4.0.2-stock/recv-rank-0")
	const waits = "ucp_worker_progress < ? < ? < PMPI_Recv < main"
	own := mpichtest.Shown(t, recording).Threads[0].Requests
	if len(own) != 1 {
		t.Fatalf("its thread waits for %v", own)
	}
	for name, c := range map[string]struct {
		threads []inferior.Thread
		want    []inferior.Addr
	}{
		"alone":                   {[]inferior.Thread{inferiortest.Thread(1, waits, own...)}, own},
		"the same in two calls":   {[]inferior.Thread{inferiortest.Thread(1, waits, own...), inferiortest.Thread(2, waits, own...)}, nil},
		"another one has no such": {[]inferior.Thread{inferiortest.Thread(1, waits, own...), inferiortest.Thread(2, waits)}, nil},
	} {
		for i, thread := range mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(c.threads...)).Threads {
			if !slices.Equal(thread.Requests, c.want) {
				t.Errorf("%s: thread %d waits for %v, want %v", name, i+1, thread.Requests, c.want)
			}
		}
	}
}

// The request that a call is near is its own only where the call waits: before, it is one that the
// program has made, whose address the stack or a register still holds.
func TestOldRequestsAreNoCalls(t *testing.T) {
	recording := inferiortest.Recorded(t, "mpich-4.0.2-stock/recv-rank-0")
	there := mpichtest.Shown(t, recording).Threads[0]
	if len(there.Requests) != 1 || !there.AllRequests {
		t.Fatalf("its thread is %+v", there)
	}
	for inside, want := range map[string][]inferior.Addr{"": nil, "MPID_Recv < ": nil, "ucp_worker_progress < ? < ? < ": there.Requests, "ucp_tag_recv_nbx < ? < ? < ": nil} {
		thread := inferiortest.Thread(1, inside+"PMPI_Recv < main", there.Requests[0])
		if got := mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(thread)).Threads[0]; !slices.Equal(got.Requests, want) || got.AllRequests != (want != nil) {
			t.Errorf("in %sPMPI_Recv: it waits for %v, all: %v; want %v", inside, got.Requests, got.AllRequests, want)
		}
	}
}

// A call that makes a communicator waits for one of the requests that it holds; a call for a send or a receive for
// its own, and no other for any.
func TestCallsThatHoldRequests(t *testing.T) {
	const waits = "ucp_worker_progress < ? < ? < "
	for _, c := range []struct {
		recording string
		functions string
		isHeld    bool
		want, all bool
	}{
		{"recv-rank-0", waits + "PMPI_Recv", true, true, true},
		{"recv-rank-0", waits + "PMPI_Recv", false, false, false},
		{"recv-rank-0", waits + "PMPI_Send", true, false, false},
		{"recv-rank-0", waits + "PMPI_Sendrecv", true, false, false},
		{"recv-rank-0", waits + "PMPI_Barrier", true, false, false},
		{"recv-rank-0", waits + "PMPI_Intercomm_create", true, true, false},
		{"recv-rank-0", waits + "PMPI_Comm_create_group", true, true, false},
		{"recv-rank-0", waits + "PMPI_Comm_create_group", false, false, false},
		{"recv-rank-0", "ucp_worker_progress < PMPI_Comm_create_group", true, false, false},
		{"recv-rank-0", "ucp_tag_recv_nbx < ? < ? < PMPI_Intercomm_create", true, false, false},
		{"send-rank-1", waits + "PMPI_Send", true, true, true},
		{"send-rank-1", waits + "PMPI_Ssend", true, true, true},
		{"send-rank-1", waits + "PMPI_Recv", true, false, false},
		{"send-rank-1", waits + "PMPI_Sendrecv", true, false, false},
		{"send-rank-1", waits + "PMPI_Intercomm_create", true, true, false},
	} {
		recording := inferiortest.Recorded(t, "mpich-4.0.2-stock/"+c.recording)
		before := mpichtest.Shown(t, recording).Threads[0]
		if len(before.Requests) != 1 {
			t.Fatalf("%s: %v", c.recording, before.Requests)
		}
		var held []inferior.Addr
		if c.isHeld {
			held = before.Requests
		}
		got := mpichtest.Shown(t, inferiortest.Patch(recording).SetThreads(inferiortest.Thread(1, c.functions+" < main", held...))).Threads[0]
		if slices.Equal(got.Requests, before.Requests) != c.want || len(got.Requests) > 0 != c.want || got.AllRequests != c.all || got.Comm.Known != c.want || c.want && got.Comm != before.Comm {
			t.Errorf("%s, in %s: it waits for %v on %v, all: %t", c.recording, c.functions, got.Requests, got.Comm, got.AllRequests)
		}
	}
}
