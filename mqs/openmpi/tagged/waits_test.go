package tagged

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
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
