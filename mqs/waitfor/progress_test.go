package waitfor

import (
	"fmt"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// untold gives a rank's call a send to wait for of which, as of those of MPICH's device ch4, it is
// known neither that the library has made it nor with which tag.
func (r *madeRank) untold(t *mqs.Thread, id inferior.Addr, to int32) {
	t.Requests = append(t.Requests, r.isend(id, to, 0, false))
	ops := r.on(id).Queue[mqs.PendingSends].Operations
	op := &ops[len(ops)-1]
	op.Kind, op.DesiredTag = callstack.KindNotKnown, mqs.Maybe[int32]{}
}

// runsOn makes a job one of an MPI that counts only what a process has done, of which all ranks
// have run since they were looked at before, and stand where they stood.
func (m *made) runsOn() Past {
	out := Past{Looks: 1, Again: true, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	for i, p := range m.Processes {
		p.PID, p.Progress = 100+i, mqs.Known[uint64](7)
		m.rank(i).uncounted()
		out.Earlier[p.PID], out.Ran[p.PID] = p, true
	}
	return out
}

// A member of a broadcast that has to hand on what it has does not wait for the root, which may
// be through; nor may one of which it is not known what it waits for: others hand on, too.
func TestBroadcastIsHandedOn(t *testing.T) {
	for what, waits := range map[string]func(r *madeRank, call *mqs.Thread){
		"a send":                        func(r *madeRank, call *mqs.Thread) { r.untold(call, worldID, 3) },
		"something that is in no queue": func(_ *madeRank, call *mqs.Thread) { call.Requests = []inferior.Addr{unlisted} },
	} {
		m := newMade(4)
		m.rank(0).recv(worldID, 2, 7)
		call := m.rank(2).thread("MPI_Bcast", 20)
		call.Comm, call.Root = mqs.Known(worldID), mqs.Known[int32](0)
		waits(m.rank(2), call)
		m.rank(1).computes()
		m.rank(3).computes()
		if r := approve(t, what, AnalyseLive(m.Snapshot, m.runsOn())); claim(r.Verdict) != "" || states(r) != "WRWR" {
			t.Errorf("%s: %q, states %s: %s", what, r.Verdict, states(r), r.Why)
		}
		for _, i := range []int{1, 3} { // nobody is left to hand it on
			m.rank(i).Threads = nil
			m.rank(i).recv(worldID, 2, 7)
		}
		if r := approve(t, what+", and the others wait too", AnalyseLive(m.Snapshot, m.runsOn())); r.Verdict != DeadlockedUnless || states(r) != "DDDD" {
			t.Errorf("%s, and the others wait too: %q, states %s: %s", what, r.Verdict, states(r), r.Why)
		}
	}
}

// As long as the message between two members of a collective is transferred, those that are
// not in it may be through with it.
func TestCollectiveInTransfer(t *testing.T) {
	for _, also := range []bool{false, true} {
		m := newMade(4)
		first, second := m.rank(0), m.rank(1)
		call := first.thread("MPI_Allreduce", 20)
		call.Comm = mqs.Known(worldID)
		first.inside(call, worldID, 1)
		first.on(worldID).Queue[mqs.PendingReceives].Operations[0].Status = mqs.Matched
		if also { // it waits for another one's besides
			first.inside(call, worldID, 3)
		}
		call = second.thread("MPI_Allreduce", 20)
		call.Comm = mqs.Known(worldID)
		second.untold(call, worldID, 0)
		call = m.rank(3).thread("MPI_Allreduce", 20)
		call.Comm = mqs.Known(worldID)
		m.rank(3).inside(call, worldID, 1)
		m.rank(2).recv(worldID, 1, 7)
		if r := approve(t, fmt.Sprintf("another one's besides %t", also), AnalyseLive(m.Snapshot, m.runsOn())); claim(r.Verdict) != "" {
			t.Errorf("another one's besides %v: %q, states %s: %s", also, r.Verdict, states(r), r.Why)
		}
		first.on(worldID).Queue[mqs.PendingReceives].Operations[0].Status = mqs.Pending
		if r := approve(t, fmt.Sprintf("another one's besides %t, nothing is transferred", also), AnalyseLive(m.Snapshot, m.runsOn())); r.Verdict != DeadlockedUnless {
			t.Errorf("nothing is transferred: %q, states %s: %s", r.Verdict, states(r), r.Why)
		}
	}
}
