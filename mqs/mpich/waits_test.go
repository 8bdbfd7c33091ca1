package mpich

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// standing is a process whose only thread stands elsewhere.
type standing struct {
	target.Target
	thread target.Thread
}

func (s *standing) Threads(context.Context, int, []string) ([]target.Thread, error) {
	return []target.Thread{s.thread}, nil
}

// The request that a call is near is its own only where the call waits: before, it is one that the
// program has made, whose address the stack or a register still holds.
func TestOldRequestsAreNoCalls(t *testing.T) {
	for name, waits := range map[string]string{
		"mpich-4.0.2-ch3/recv-rank-0":       "MPIDI_CH3I_Progress < MPIR_Wait_state < MPIR_Wait_impl < MPID_Wait < internal_Recv",
		"mpich-4.0.2-ch4-debug/recv-rank-0": "MPIDI_progress_test < MPID_Progress_wait < MPIR_Wait_state < MPID_Wait < internal_Recv",
		"mpich-4.0.2-stock/recv-rank-0":     "ucp_worker_progress < ? < ?",
	} {
		recording := recorded(t, name)
		read := func(tg target.Target) *mqs.Process {
			p, err := mqs.Read(context.Background(), tg, []mqs.Decoder{Decoder{}}, mqs.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		there := read(recording).Threads[0]
		if len(there.Requests) != 1 || !there.AllRequests {
			t.Fatalf("%s: its thread is %+v", name, there)
		}
		for inside, want := range map[string][]target.Addr{"": nil, "MPID_Recv < ": nil, waits + " < ": there.Requests} {
			thread := target.Thread{Number: 1, Complete: true, Registers: []uint64{uint64(there.Requests[0])}}
			for _, f := range strings.Split(inside+"PMPI_Recv < main", " < ") {
				thread.Frames = append(thread.Frames, target.Frame{Function: strings.TrimPrefix(f, "?"), StackPointer: 0x7000})
			}
			if got := read(&standing{recording, thread}).Threads[0]; !slices.Equal(got.Requests, want) || got.AllRequests != (want != nil) {
				t.Errorf("%s, in %sPMPI_Recv: it waits for %v, all: %v; want %v", name, inside, got.Requests, got.AllRequests, want)
			}
		}
	}
}
