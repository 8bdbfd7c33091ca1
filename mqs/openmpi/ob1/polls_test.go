package ob1

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A call that asks about requests asks about some of those whose handles it holds, or that stand behind one another
// where it points to. Before it looks after messages, nothing is known.
func TestAsked(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	_, recvs := pending(t, tg)
	const handleAt = stackAt + 1<<12 // behind the call's part of the stack
	const tests, testsAll = "opal_progress < ompi_request_default_test < PMPI_Test < main", "opal_progress < ompi_request_default_test_all < PMPI_Testall < main"
	const status = "opal_progress < PMPI_Request_get_status < main"
	first, both := slices.Clone(recvs[:1]), slices.Clone(recvs[:2])
	slices.Sort(both)
	for name, c := range map[string]struct {
		thread inferior.Thread
		second inferior.Addr // the handle behind the first
		want   []inferior.Addr
	}{
		"a handle":               {inferiortest.Thread(1, tests, handleAt), 0, first},
		"an array":               {inferiortest.Thread(1, testsAll, handleAt), recvs[1], both},
		"a request":              {inferiortest.Thread(1, status, recvs[0]), 0, first},
		"it does not look yet":   {inferiortest.Thread(1, "PMPI_Test < main", handleAt), 0, nil},
		"it holds nothing":       {inferiortest.Thread(1, tests), 0, nil},
		"it may be an old one":   {inferiortest.Thread(1, tests, handleAt, recvs[1]), 0, both},
		"what follows is no one": {inferiortest.Thread(1, testsAll, handleAt), handleAt, first},
	} {
		of := inferiortest.Patch(tg).SetThreads(c.thread).AddMemory(stackAt, make([]byte, 2<<12)).PutPointer(handleAt, recvs[0]).PutPointer(handleAt+8, c.second)
		p, q := ompitest.MustOpen(t, of, Component)
		got := ompitest.Wait(p, q)
		if slices.Sort(got.Requests); !slices.Equal(got.Requests, c.want) || got.AllRequests != (c.want != nil) {
			t.Errorf("%s: it asks about %v, all: %v; want %v", name, got.Requests, got.AllRequests, c.want)
		}
	}
}

// MPI_Improbe has taken its request from the library's list; which message it asks for stands there.
func TestProbed(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	_, recvs := pending(t, tg)
	p, _ := ompitest.MustOpen(t, tg, Component)
	probing := inferiortest.Patch(tg)
	ompitest.Put(t, p, probing, recvs[0], "mca_pml_ob1_recv_request_t", "req_recv.req_base.req_type", typeImprobe)
	const asks = "opal_progress < mca_pml_ob1_improbe < PMPI_Improbe < main"
	for name, c := range map[string]struct {
		stack string
		held  []inferior.Addr
		want  bool
	}{
		"its own":               {asks, recvs[:2], true},
		"where it matches":      {"mca_pml_ob1_recv_req_start < mca_pml_ob1_improbe < PMPI_Improbe < main", recvs[:1], true},
		"the program's alone":   {asks, recvs[1:2], false},
		"it has yet to ask":     {"mca_pml_ob1_improbe < PMPI_Improbe < main", recvs[:1], false},
		"it is that of a probe": {"opal_progress < mca_pml_ob1_iprobe < PMPI_Iprobe < main", recvs[:1], false},
	} {
		p, q := ompitest.MustOpen(t, probing.SetThreads(inferiortest.Thread(1, c.stack, c.held...)).AddMemory(stackAt, make([]byte, 2<<12)), Component)
		got := ompitest.Wait(p, q)
		r, err := q.(*queues).RecvRequest.Read(q.(*queues).R, inferior.Ptr[recvRequest](recvs[0]))
		if err != nil {
			t.Fatal(err)
		}
		want := mqs.Thread{}
		if c.want {
			want.Source, want.Tag = mqs.Known(r.Base.Peer), mqs.Known(r.Base.Tag)
			if r.Base.Tag == ompi.AnyTag {
				want.Tag = mqs.Known[int32](-1)
			}
		}
		if got.Source != want.Source || got.Tag != want.Tag || got.Comm.Known != c.want {
			t.Errorf("%s: it asks for a message from %v with tag %v on %v, want %v and %v", name, got.Source, got.Tag, got.Comm, want.Source, want.Tag)
		}
	}
}
