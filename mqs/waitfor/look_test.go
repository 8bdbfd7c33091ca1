package waitfor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// ring is two ranks that wait for a message from each other, with an MPI that counts
// only the receives that had to wait.
func ring(first, second uint64) *mqs.Snapshot {
	s := &mqs.Snapshot{}
	for i, progress := range []uint64{first, second} {
		rank := int32(i)
		receive := mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: mqs.Known(1 - rank), DesiredTag: mqs.Known(int32(7)),
			TagWild: mqs.Known(false), Request: mqs.Known(inferior.Addr(0x10)), Kind: "recv"}
		c := &mqs.Queues{Communicator: mqs.Communicator{Name: mqs.Known("MPI_COMM_WORLD"), LocalRank: mqs.Known(rank), Size: mqs.Known(int32(2)),
			Group: []mqs.Maybe[int32]{mqs.Known(int32(0)), mqs.Known(int32(1))}, Context: "0"}}
		c.Queue = [3]*mqs.Queue{{}, {Operations: []mqs.PendingOperation{receive}, Total: 1}, {}}
		s.Processes = append(s.Processes, &mqs.Process{PID: 100 + i, GlobalRank: mqs.Known(rank), WorldSize: mqs.Known(int32(2)), Phase: mqs.Active,
			Progress:      mqs.Known(progress),
			Threads:       []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv", Comm: mqs.Known(inferior.Addr(0)), Requests: []inferior.Addr{0x10}, AllRequests: true}},
			Communicators: []*mqs.Queues{c}})
	}
	return s
}

// elsewhere has the first rank not wait yet.
func elsewhere(s *mqs.Snapshot) *mqs.Snapshot {
	s.Processes[0].Threads[0].Call, s.Processes[0].Threads[0].Requests = "", nil
	return s
}

// counted has messages counted, and nothing else.
func counted(s *mqs.Snapshot, traffic []mqs.Traffic) *mqs.Snapshot {
	for _, p := range s.Processes {
		p.Progress, p.Communicators[0].Traffic = mqs.Maybe[uint64]{}, traffic
	}
	return s
}

// past is that of a job that was looked at once, in which these ranks have run since.
func past(earlier *mqs.Snapshot, ran ...int) Past {
	p := Past{Looks: 1, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	for _, process := range earlier.Processes {
		p.Earlier[process.PID] = process
	}
	for _, rank := range ran {
		p.Ran[100+rank] = true
	}
	return p
}

// Where messages are not counted, one look proves no deadlock but on a condition; a second
// one does if the ranks have run and have not gone on.
func TestLook(t *testing.T) {
	for _, c := range []struct {
		name string
		past Past
		want Verdict
	}{
		{"one look", Past{}, DeadlockedUnless},
		{"nobody has gone on", past(ring(3, 4), 0, 1), Deadlocked},
		{"nobody has run", past(ring(3, 4)), DeadlockedUnless},
		{"one has not run", past(ring(3, 4), 0), DeadlockedUnless},
		{"one has gone on", past(ring(3, 3), 0, 1), DeadlockedUnless},
		{"one was elsewhere", past(elsewhere(ring(3, 4)), 0, 1), DeadlockedUnless},
		{"another process", past(&mqs.Snapshot{Processes: ring(3, 4).Processes[:1]}, 0, 1), DeadlockedUnless},
	} {
		r := approve(t, c.name, AnalyseLive(ring(3, 4), c.past))
		if r.Verdict != c.want || r.Moving != (c.want != Deadlocked) || len(r.Deadlocks) != 1 {
			t.Errorf("%s: %q, moving %v: %s", c.name, r.Verdict, r.Moving, r.Why)
		}
	}
}

// Ranks whose messages are not counted, and that have all got on since the look before, are no deadlock after some looks: met between two
// messages, they look like one. If one of them stood, or at a look that is alone, they may be.
func TestLooksAtWhatGetsOn(t *testing.T) {
	after := func(looks int, again bool, earlier *mqs.Snapshot) Past {
		p := past(earlier, 0, 1)
		p.Looks, p.Again = looks, again
		return p
	}
	for _, c := range []struct {
		name string
		past Past
		want Verdict
	}{
		{"all got on", after(LeastSettling, true, ring(2, 3)), NoDeadlock},
		{"all got on, at first", after(LeastSettling-1, true, ring(2, 3)), DeadlockedUnless},
		{"all got on, by chance", after(LeastSettling, false, ring(2, 3)), DeadlockedUnless},
		{"one stood", after(LeastSettling, true, ring(2, 4)), DeadlockedUnless},
		{"all stood", after(LeastSettling, true, ring(3, 4)), Deadlocked},
	} {
		r := approve(t, c.name, AnalyseLive(ring(3, 4), c.past))
		if r.Verdict != c.want || (c.want == NoDeadlock) != (len(r.Deadlocks) == 0) {
			t.Errorf("%s: %q with %d deadlocks: %s", c.name, r.Verdict, len(r.Deadlocks), r.Why)
		}
	}
}

// waitall has each rank wait for two messages, by requests in this order.
func waitall(s *mqs.Snapshot, requests ...inferior.Addr) *mqs.Snapshot {
	for _, p := range s.Processes {
		p.Threads[0].Call, p.Threads[0].Requests = "MPI_Waitall", requests
		q := p.Communicators[0].Queue[mqs.PendingReceives]
		q.Operations[0].Kind = "irecv"
		other := q.Operations[0]
		other.Request = mqs.Known(inferior.Addr(0x20))
		q.Operations, q.Total = append(q.Operations, other), 2
	}
	return s
}

// The order of a call's requests says nothing: who waits for the same ones has not moved.
func TestLookAtRequestsInAnyOrder(t *testing.T) {
	earlier, now := waitall(ring(3, 4), 0x20, 0x10), waitall(ring(3, 4), 0x10, 0x20)
	if r := approve(t, "for the same", AnalyseLive(now, past(earlier, 0, 1))); r.Verdict != Deadlocked || r.Moving {
		t.Errorf("%q, moving %v: %s", r.Verdict, r.Moving, r.Why)
	}
	if r := approve(t, "for others than before", AnalyseLive(now, past(waitall(ring(3, 4), 0x10, 0x30), 0, 1))); r.Verdict == Deadlocked {
		t.Errorf("for others than before: %q: %s", r.Verdict, r.Why)
	}
}

// begun has both ranks be in their calls, without having made their requests.
func begun(s *mqs.Snapshot) *mqs.Snapshot {
	for _, p := range s.Processes {
		p.Threads[0].Requests = nil
	}
	return s
}

// A call that had not made its requests when it was looked at before may since have sent a
// message that is in transit.
func TestLookAtCallsThatHadJustBegun(t *testing.T) {
	if r := approve(t, "", AnalyseLive(ring(3, 4), past(begun(ring(3, 4)), 0, 1))); r.Verdict != DeadlockedUnless {
		t.Errorf("%q: %s", r.Verdict, r.Why)
	}
}

// The operation of one thread's call is not another's, whose own has come.
func TestOtherThreadsOperation(t *testing.T) {
	m := newMade(2)
	m.rank(0).recv(worldID, 1, 7)
	m.rank(0).thread("MPI_Recv", 12, unlisted)
	m.rank(0).ThreadMultiple = mqs.Known(true)
	m.rank(1).recv(worldID, 0, 7)
	if r := approve(t, "", Analyse(m.Snapshot)); r.Verdict != Unknown {
		t.Errorf("%q: %s", r.Verdict, r.Why)
	}
}

// A rank that waits for one that is gone has to have run itself: what that one has sent it may
// not have taken yet.
func TestLookAfterTheEnd(t *testing.T) {
	s := ring(3, 4)
	s.Processes[1] = &mqs.Process{PID: 101, GlobalRank: mqs.Known(int32(1)), WorldSize: mqs.Known(int32(2)), Phase: mqs.Finished}
	for _, c := range []struct {
		past Past
		want Verdict
	}{{past(s), DeadlockedUnless}, {past(s, 0), Deadlocked}} {
		if r := approve(t, fmt.Sprintf("ran: %v", c.past.Ran), AnalyseLive(s, c.past)); r.Verdict != c.want {
			t.Errorf("%v: %q, not %q: %s", c.past.Ran, r.Verdict, c.want, r.Why)
		}
	}
}

// A rank that waits for a stuck one is stuck for certain only once that one has run too: what
// it has sent it may not have handed on yet.
func TestLookAtPeers(t *testing.T) {
	m := newMade(2)
	m.rank(0).recv(worldID, 1, 5)
	m.rank(1).send(worldID, 1, 7)
	for i, p := range m.Processes {
		p.PID, p.Progress = 100+i, mqs.Known(uint64(3))
		m.rank(i).uncounted()
	}
	for _, c := range []struct {
		past Past
		want string
	}{{past(m.Snapshot, 0), "WD"}, {past(m.Snapshot, 1), "WD"}, {past(m.Snapshot, 0, 1), "SD"}} {
		if r := approve(t, fmt.Sprintf("ran: %v", c.past.Ran), AnalyseLive(m.Snapshot, c.past)); states(r) != c.want {
			t.Errorf("%v: states %s, not %s: %s", c.past.Ran, states(r), c.want, r.Why)
		}
	}
}

// What keeps no count at all looks the same at two moments by chance, too.
func TestLookWithoutCounts(t *testing.T) {
	for traffic, want := range map[*[]mqs.Traffic]Verdict{nil: DeadlockedUnless, {}: Deadlocked} {
		var counts []mqs.Traffic
		if traffic != nil {
			counts = []mqs.Traffic{}
		}
		s := counted(ring(3, 4), counts)
		for _, p := range []Past{{}, past(s, 0, 1)} {
			if r := approve(t, fmt.Sprintf("messages counted %t, %d looks", counts != nil, p.Looks+1), AnalyseLive(s, p)); r.Verdict != want {
				t.Errorf("messages counted %v, %d looks: %q, not %q", counts != nil, p.Looks+1, r.Verdict, want)
			}
		}
	}
}

// Of a job that can be looked at again, a deadlock needs ranks that have run, whatever counts say.
func TestLookAgain(t *testing.T) {
	s := counted(ring(3, 4), []mqs.Traffic{})
	for _, c := range []struct {
		past Past
		want Verdict
	}{{Past{}, DeadlockedUnless}, {past(s), DeadlockedUnless}, {past(s, 1), DeadlockedUnless}, {past(s, 0, 1), Deadlocked}} {
		c.past.Again = true
		if r := approve(t, fmt.Sprintf("ran: %v", c.past.Ran), AnalyseLive(s, c.past)); r.Verdict != c.want {
			t.Errorf("%+v: %q, not %q", c.past.Ran, r.Verdict, c.want)
		}
	}
	s.Processes[0].State = mqs.Stopped
	p := past(s)
	p.Again = true
	if r := approve(t, "one is stopped", AnalyseLive(s, p)); !strings.Contains(r.Why, "Rank 0 is stopped by a signal") || !strings.Contains(r.Why, "Rank 1 has not run") {
		t.Errorf("why: %s", r.Why)
	}
}

// What is meant by a collective's messages is as certain as they are.
func TestLookAgainAtCollectives(t *testing.T) {
	m := newMade(2)
	for i := range 2 {
		r := m.rank(i)
		r.PID = 100 + i
		r.inside(r.enters(worldID, map[bool]string{true: "MPI_Comm_dup", false: "MPI_Barrier"}[i == 0]), worldID, int32(1-i))
	}
	p := past(m.Snapshot, 0, 1)
	p.Again = true
	if r := approve(t, "two looks", AnalyseLive(m.Snapshot, p)); r.Verdict != Deadlocked || r.Moving {
		t.Errorf("%q, moving %v: %s", r.Verdict, r.Moving, r.Why)
	}
	if r := approve(t, "one look", AnalyseLive(m.Snapshot, Past{Again: true})); r.Verdict != DeadlockedUnless || !r.Moving {
		t.Errorf("at first %q, moving %v: %s", r.Verdict, r.Moving, r.Why)
	}
}

// A rank that waits inside a collective for the message of one member waits for no other's,
// though one of those that have not run may still have to hand one on.
func TestLookAgainWhereOneSleeps(t *testing.T) {
	m := newMade(3)
	for i := range 3 {
		m.rank(i).PID, m.rank(i).Progress = 100+i, mqs.Known[uint64](7)
		m.rank(i).on(worldID).Traffic = nil // MPICH counts no messages
	}
	root := m.rank(0)
	call := root.enters(worldID, "MPI_Gather")
	call.Root = mqs.Known[int32](0)
	root.inside(call, worldID, 1)
	m.rank(1).recv(worldID, 0, 7)
	m.rank(2).computes()
	p := past(m.Snapshot, 0, 1)
	p.Again = true
	if r := approve(t, "", AnalyseLive(m.Snapshot, p)); r.Verdict != Deadlocked {
		t.Errorf("%q: %s", r.Verdict, r.Why)
	}
}

// The message of a non-blocking collective that a call is found to wait for may be of one that the
// program has begun before: only where the call is still there after it has run, it is its own.
func TestLookAgainAtNonBlockingCollectives(t *testing.T) {
	m := newMade(2)
	for i := range 2 {
		m.rank(i).PID = 100 + i
	}
	copier := m.rank(0)
	call := copier.enters(worldID, "MPI_Comm_dup")
	call.Requests = nil
	copier.inside(call, worldID, 1)
	ops := copier.on(worldID).Queue[mqs.PendingReceives].Operations
	ops[len(ops)-1].ExtraText = []string{mqs.NonBlockingCollective}
	m.rank(1).recv(worldID, 0, 7)
	for _, c := range []struct {
		name string
		past Past
		want Verdict
	}{
		{"one look", Past{}, Unknown},
		{"it has not run", past(m.Snapshot, 1), Unknown},
		{"it has run", past(m.Snapshot, 0, 1), Deadlocked},
	} {
		if r := approve(t, c.name, AnalyseLive(m.Snapshot, c.past)); r.Verdict != c.want {
			t.Errorf("%s: %q: %s", c.name, r.Verdict, r.Why)
		}
	}
}
