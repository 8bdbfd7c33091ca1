package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// begins lets the rank have entered its next non-blocking collective on a communicator, in which it waits for a message
// from another; from none if it has done its part. The request is returned.
func (r *madeRank) begins(id inferior.Addr, from int32) inferior.Addr {
	q := r.on(id)
	q.NonBlockingCollectives = mqs.Known(q.NonBlockingCollectives.Value + 1)
	if r.CollectiveRequests == nil {
		r.CollectiveRequests = []mqs.CollectiveRequest{}
	}
	if from < 0 {
		return 0
	}
	number := q.NonBlockingCollectives.Value
	tag := int32(-26 - number)
	r.irecv(id, from, tag)
	q.Queue[mqs.PendingReceives].Operations[len(q.Queue[mqs.PendingReceives].Operations)-1].Internal = true
	r.of.next += 0x10
	r.CollectiveRequests = append(r.CollectiveRequests, mqs.CollectiveRequest{Request: r.of.next, Comm: mqs.Known(id), Sequence: mqs.Known(number),
		Status: mqs.Pending, Tag: mqs.Known(tag)})
	return r.of.next
}

// waits lets the rank wait in the collective that it begins.
func (r *madeRank) waits(id inferior.Addr, from int32) { r.thread("MPI_Wait", 30, r.begins(id, from)) }

// countsCollectives lets it be known of the ranks that they have entered no collective.
func (m *made) countsCollectives() {
	for i := range m.Processes {
		m.rank(i).CollectiveRequests = []mqs.CollectiveRequest{}
		for _, q := range m.Processes[i].Communicators {
			q.NonBlockingCollectives = mqs.Known[int64](0)
		}
	}
}

// Who waits in MPI carries on what it has entered, but for calls that may leave that to others.
func TestProgresses(t *testing.T) {
	for call, want := range map[string]bool{
		"MPI_Recv": true, "MPI_Probe": true, "MPI_Waitany": true, "MPI_Allreduce": true, "MPI_Test": true,
		"MPI_Win_lock": false, "MPI_Win_start": false, "MPI_File_open": false, "MPI_Finalize": false,
		"MPI_Comm_spawn": false, "MPI_Comm_accept": false, "MPI_Buffer_detach": false, "MPI_Init": false,
	} {
		thread := mqs.Thread{Call: call, Polls: isPoll(call)}
		r := &rank{process: &mqs.Process{Threads: []mqs.Thread{thread}}}
		if got := r.progresses(); got != want {
			t.Errorf("%s: %t", call, got)
		}
	}
}

// A rank that waits for another collective than before has moved, though the library uses the memory again.
func TestNonBlockingMoves(t *testing.T) {
	before, now := newMade(2), newMade(2)
	for _, m := range []*made{before, now} {
		m.countsCollectives()
		m.rank(0).waits(worldID, 1)
	}
	if HasMoved(now.Processes[0], before.Processes[0]) {
		t.Error("it waits for the same collective and has moved")
	}
	now.Processes[0].CollectiveRequests[0].Sequence = mqs.Known[int64](2)
	if !HasMoved(now.Processes[0], before.Processes[0]) {
		t.Error("it waits for another collective and has not moved")
	}
}
