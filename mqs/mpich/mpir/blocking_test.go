package mpir_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// Of several receives that a call holds, its own is the one that its function for waiting was given; if that is not
// known, it may be any of them.
func TestKindsOfCalls(t *testing.T) {
	recording := inferiortest.Recorded(t, "mpich-4.0.2-ch3/requests-rank-0")
	kinds := func(tg inferior.Inferior) map[inferior.Addr]mqs.PendingOperation {
		out := map[inferior.Addr]mqs.PendingOperation{}
		for _, q := range mpichtest.Shown(t, tg).Communicators {
			for _, op := range q.Queue[mqs.PendingReceives].Operations {
				if op.Kind == "irecv" && op.Status == mqs.Pending || op.Kind == "recv" || op.Kind == "" {
					out[op.Request.Value] = op
				}
			}
		}
		return out
	}
	var held []inferior.Addr
	for a := range kinds(recording) {
		held = append(held, a)
	}
	if len(held) < 3 {
		t.Fatalf("%d receives are pending", len(held))
	}
	const waits = "MPIDI_CH3I_Progress < MPIR_Wait_state < "
	for name, c := range map[string]struct {
		functions string
		given     map[string]int64
		want      [3]string
	}{
		"one of them was given":      {waits + "PMPI_Recv < main", map[string]int64{"request_ptr": int64(held[1])}, [3]string{"irecv", "recv", "irecv"}},
		"which one is not known":     {waits + "PMPI_Recv < main", nil, [3]string{"", "", "irecv"}},
		"before it waits":            {"MPID_Recv < MPIR_Recv_impl < PMPI_Recv < main", map[string]int64{"request_ptr": int64(held[1])}, [3]string{"irecv", "", "irecv"}},
		"it may have made both":      {waits + "PMPI_Sendrecv < main", map[string]int64{"request_ptr": int64(held[1])}, [3]string{"", "", "irecv"}},
		"a call for others":          {waits + "PMPI_Waitany < main", nil, [3]string{"irecv", "irecv", "irecv"}},
		"a send, which makes no one": {waits + "PMPI_Send < main", nil, [3]string{"irecv", "irecv", "irecv"}},
	} {
		thread := inferiortest.Thread(1, c.functions, held[:2]...)
		thread.Frames[1].Variables = c.given
		got := kinds(inferiortest.Patch(recording).SetThreads(thread))
		for i, want := range c.want {
			if kind := got[held[i]].Kind; kind != want {
				t.Errorf("%s: receive %d is a %q, want %q", name, i, kind, want)
			}
		}
	}
}
