package waitfor

import (
	"strings"
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

// A rank waits for the members that have not entered what it has entered.
func TestNonBlocking(t *testing.T) {
	twoWait := func(m *made) {
		m.countsCollectives()
		m.rank(0).waits(worldID, 2)
		m.rank(1).waits(worldID, 0)
	}
	check(t, []verdictCase{
		{
			name: "a member that waits has not entered", ranks: 3,
			make:    func(m *made) { twoWait(m); m.rank(2).recv(worldID, 0, 7) },
			verdict: Deadlocked, states: "DSD", cycles: "0,2: 0>2 2>0",
		},
		{
			name: "a member that computes has not entered", ranks: 3,
			make:    func(m *made) { twoWait(m); m.rank(2).computes() },
			verdict: Undecided, states: "WWR",
		},
		{
			name: "a member that is gone has not entered", ranks: 3,
			make:    func(m *made) { twoWait(m); m.Processes[2].Phase = mqs.Finished },
			verdict: Deadlocked, states: "DDE", cycles: "0-1: 0>2", why: "Ranks 0-1 wait for rank 2",
		},
		{
			name: "nothing is known of a member", ranks: 3,
			make:    func(m *made) { twoWait(m); m.Processes = m.Processes[:2] },
			verdict: Unknown, states: "WWU", why: "of which too little is known",
		},
		{
			name: "a member that does not count waits", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(2).on(worldID).NonBlockingCollectives = mqs.Maybe[int64]{}
				m.rank(2).recv(worldID, 0, 7)
			},
			verdict: Deadlocked, states: "DSD", cycles: "0,2: 0>2 2>0",
		},
		{
			name: "a member has entered and computes", ranks: 3,
			make: func(m *made) {
				m.countsCollectives()
				m.rank(0).begins(worldID, -1)
				m.rank(0).recv(worldID, 2, 7)
				m.rank(1).begins(worldID, 0)
				m.rank(1).computes()
				m.rank(2).waits(worldID, 1)
			},
			verdict: Undecided, states: "WRW",
		},
		{
			name: "a member has done its part and computes", ranks: 3,
			make: func(m *made) {
				m.countsCollectives()
				m.rank(0).waits(worldID, 1)
				m.rank(1).recv(worldID, 0, 7)
				m.rank(2).begins(worldID, -1)
				m.rank(2).computes()
			},
			verdict: Deadlocked, states: "DDR", cycles: "0-1: 0>1 1>0",
		},
		{
			name: "a member is about to have a request of it", ranks: 3,
			make: func(m *made) {
				m.countsCollectives()
				m.rank(0).waits(worldID, 1)
				m.rank(1).recv(worldID, 0, 7)
				m.rank(2).begins(worldID, -1)
				m.rank(2).thread("MPI_Igather", 50)
			},
			verdict: Unknown, states: "WWR", why: someUnknown,
		},
		{
			name: "a member has entered and waits for one that computes", ranks: 4,
			make: func(m *made) {
				m.countsCollectives()
				m.rank(0).waits(worldID, 2)
				m.rank(1).begins(worldID, 0)
				m.rank(1).recv(worldID, 3, 7)
				m.rank(2).recv(worldID, 0, 7)
				m.rank(3).begins(worldID, -1)
				m.rank(3).computes()
			},
			verdict: Deadlocked, states: "DWDR", cycles: "0,2: 0>2 2>0",
		},
		{
			name: "a member that has entered may wait without carrying on", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(1).Threads = nil
				m.rank(1).thread("MPI_Win_lock", 40)
				m.rank(2).recv(worldID, 0, 7)
			},
			verdict: Unknown, states: "WWW", why: someUnknown,
		},
		{
			name: "a message of it has come", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(2).recv(worldID, 0, 7)
				m.rank(0).message(worldID, 1, -27).Internal = true
			},
			verdict: Unknown, states: "WWW", why: roundUnknown,
		},
		{
			name: "a message is on its way", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(2).recv(worldID, 0, 7)
				m.rank(0).counts(worldID, 1, 1, 0)
				m.rank(1).counts(worldID, 0, 0, 0)
			},
			verdict: Unknown, states: "WWW", why: comingUnknown,
		},
		{
			name: "all have entered, and a message is on its way", ranks: 2,
			make: func(m *made) {
				m.countsCollectives()
				m.rank(0).waits(worldID, 1)
				m.rank(1).waits(worldID, 0)
				m.rank(0).counts(worldID, 1, 1, 0)
				m.rank(1).counts(worldID, 0, 0, 0)
			},
			verdict: Undecided, states: "WW",
		},
		{
			name: "its messages are not known", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(2).recv(worldID, 0, 7)
				m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations = nil
			},
			verdict: Unknown, states: "WWW", why: roundUnknown,
		},
		{
			name: "a count has begun again", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(2).recv(worldID, 0, 7)
				m.rank(2).on(worldID).NonBlockingCollectives = mqs.Known[int64](1 << 30)
			},
			verdict: Unknown, states: "WWW", why: whoEnteredUnknown,
		},
		{
			name: "its number is not known", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(2).recv(worldID, 0, 7)
				m.rank(0).CollectiveRequests[0].Sequence = mqs.Maybe[int64]{}
			},
			verdict: Unknown, states: "WWW", why: numberUnknown,
		},
		{
			name: "all have entered different ones", ranks: 2,
			make: func(m *made) {
				m.countsCollectives()
				m.rank(0).waits(worldID, 1)
				m.rank(1).waits(worldID, 0)
			},
			verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0",
		},
		{
			name: "a persistent one that a member may have started before", ranks: 3,
			make: func(m *made) {
				m.countsCollectives()
				for i := range 3 {
					r := m.rank(i)
					r.begins(worldID, int32(i+1)%3)
					r.CollectiveRequests[0].Persistent = true
				}
				m.rank(0).thread("MPI_Wait", 30, m.rank(0).CollectiveRequests[0].Request)
				m.rank(1).recv(worldID, 0, 7)
				m.rank(1).CollectiveRequests[0].Status = mqs.Inactive
				m.rank(2).computes()
			},
			verdict: Unknown, states: "WWR", why: someUnknown,
		},
		{
			name: "a persistent one that a member has not started", ranks: 2,
			make: func(m *made) {
				m.countsCollectives()
				for i := range 2 {
					m.rank(i).begins(worldID, int32(1-i))
					m.rank(i).CollectiveRequests[0].Persistent = true
				}
				m.rank(0).thread("MPI_Wait", 30, m.rank(0).CollectiveRequests[0].Request)
				m.rank(1).recv(worldID, 0, 7)
				m.rank(1).CollectiveRequests[0].Status = mqs.Inactive
			},
			verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0",
		},
		{
			name: "a persistent one that a member may have to start once more", ranks: 4,
			make: func(m *made) {
				m.comm(dupID, "part", 0, 1, 2)
				m.countsCollectives()
				for _, i := range []int{0, 2} {
					m.rank(i).begins(dupID, 1)
					m.rank(i).CollectiveRequests[0].Persistent = true
				}
				m.rank(0).thread("MPI_Wait", 30, m.rank(0).CollectiveRequests[0].Request)
				m.rank(1).recv(worldID, 0, 7)
				m.rank(2).recv(worldID, 3, 7)
				m.rank(3).computes()
			},
			verdict: Unknown, states: "WWWR", why: someUnknown,
		},
		{
			name: "it is complete", ranks: 2,
			make: func(m *made) {
				m.countsCollectives()
				m.rank(0).waits(worldID, 1)
				m.rank(0).CollectiveRequests[0].Status = mqs.Complete
				m.rank(1).recv(worldID, 0, 7)
			},
			verdict: Undecided, states: "WW",
		},
		{
			name: "any of two, one of which can come", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(0).Threads = nil
				m.rank(0).thread("MPI_Waitany", 30, m.rank(0).CollectiveRequests[0].Request, m.rank(0).irecv(worldID, 1, 7))
				m.rank(1).Threads = nil
				m.rank(1).computes()
				m.rank(2).recv(worldID, 0, 7)
			},
			verdict: Undecided, states: "WRW",
		},
		{
			name: "all of two, one of which a member that computes may carry on", ranks: 3,
			make: func(m *made) {
				twoWait(m)
				m.rank(0).Threads = nil
				m.rank(0).thread("MPI_Waitall", 30, m.rank(0).CollectiveRequests[0].Request, m.rank(0).irecv(worldID, 1, 7))
				m.rank(1).Threads = nil
				m.rank(1).computes()
				m.rank(2).recv(worldID, 0, 7)
			},
			verdict: Unknown, states: "WRW", why: someUnknown,
		},
		{
			name: "the member of a communicator of one", ranks: 2,
			make: func(m *made) {
				m.comm(dupID, "alone", 0)
				m.countsCollectives()
				m.rank(0).waits(dupID, 0)
				m.rank(1).recv(worldID, 0, 7)
			},
			verdict: Unknown, states: "WW", why: roundUnknown,
		},
	})
}

// A library may carry a collective out by messages on a communicator of its own, and lists them.
func TestNonBlockingMessages(t *testing.T) {
	job := func(isListed bool) *Report {
		m := newMade(3)
		m.comm(dupID, "", 0, 1, 2)
		m.countsCollectives()
		m.rank(0).waits(worldID, 2)
		r := m.rank(1)
		r.begins(worldID, -1)
		receive := r.irecv(dupID, 0, -27)
		r.on(dupID).Queue[mqs.PendingReceives].Operations[0].Internal = true
		c := mqs.CollectiveRequest{Request: 0x9000, Comm: mqs.Known(worldID), Sequence: mqs.Known[int64](1), Status: mqs.Pending, Tag: mqs.Known[int32](-27)}
		if isListed {
			c.Messages = []inferior.Addr{receive}
		}
		r.CollectiveRequests = append(r.CollectiveRequests, c)
		r.thread("MPI_Wait", 30, c.Request)
		m.rank(2).recv(worldID, 0, 7)
		return Analyse(m.Snapshot)
	}
	if r := job(true); r.Verdict != Deadlocked || states(r) != "DSD" {
		t.Errorf("listed: %q, %s: %s", r.Verdict, states(r), r.Why)
	}
	if r := job(false); r.Verdict != Unknown {
		t.Errorf("not listed: %q: %s", r.Verdict, r.Why)
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

// Where messages are not counted, ranks are stuck that have run since the look before.
func TestNonBlockingUncounted(t *testing.T) {
	job := func() *made {
		m := newMade(3)
		m.countsCollectives()
		m.rank(0).waits(worldID, 2)
		m.rank(1).waits(worldID, 0)
		m.rank(2).recv(worldID, 0, 7)
		return m
	}
	m := job()
	past := m.runsOn()
	if r := AnalyseLive(m.Snapshot, past); r.Verdict != Deadlocked {
		t.Errorf("all have run: %q, %s", r.Verdict, r.Why)
	}
	if r := Analyse(m.Snapshot); r.Verdict != DeadlockedUnless {
		t.Errorf("one look: %q, %s", r.Verdict, r.Why)
	}
	either := job()
	either.rank(1).Threads = nil
	either.rank(1).thread("MPI_Waitany", 30, either.rank(1).CollectiveRequests[0].Request, either.rank(1).irecv(worldID, 0, 9))
	if r := AnalyseLive(either.Snapshot, either.runsOn()); r.Verdict != Deadlocked || states(r) != "DSD" {
		t.Errorf("any of two: %q, %s, %s", r.Verdict, states(r), r.Why)
	}
	past.Ran = map[int]bool{100: true, 102: true}
	if r := AnalyseLive(m.Snapshot, past); r.Verdict == Deadlocked {
		t.Errorf("rank 1 has not run: %s", r.Why)
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

// The words say which collective it is, and who has not entered it.
func TestNonBlockingWords(t *testing.T) {
	m := newMade(3)
	m.countsCollectives()
	m.rank(0).begins(worldID, -1)
	m.rank(1).begins(worldID, -1)
	m.rank(2).begins(worldID, -1)
	m.rank(0).waits(worldID, 2)
	m.rank(1).waits(worldID, 0)
	m.rank(2).recv(worldID, 0, 7)
	r := Analyse(m.Snapshot)
	if len(r.Deadlocks) != 1 {
		t.Fatal(r.Why)
	}
	const want = "non-blocking collective number 2 on MPI_COMM_WORLD, which rank 2 has not entered"
	if got := r.Deadlocks[0].Cycle[0].Operation; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	for _, e := range r.Edges {
		if strings.Contains(e.Text, "collective") && e.Text != "non-blocking collective number 2 on MPI_COMM_WORLD" {
			t.Errorf("an edge says %q", e.Text)
		}
	}
}
