package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// looped is a job of an MPI that counts only the receives that had to wait (UCX): ranks 0, 1 and 3
// wait for a message, and rank 2 in its send to another rank, which is a call in a loop.
func looped(to int32, arrives bool, id uint64) *made {
	m := newMade(4)
	m.rank(0).recv(worldID, 2, 7)
	m.rank(1).recv(worldID, 0, 7)
	m.rank(3).recv(worldID, 0, 7)
	r := m.rank(2)
	r.thread("MPI_Send", 11, r.isend(worldID, to, 8, arrives))
	op := &r.on(worldID).Queue[mqs.PendingSends].Operations[0]
	op.MessageID = mqs.Known(id)
	if arrives {
		m.rank(int(to)).on(worldID).Queue[mqs.UnexpectedMessages].Operations[0].MessageID = mqs.Known(id)
	}
	return m
}

// A rank in a loop that sends a small message and a large one may stand in the same line with the
// same request in both looks, and have sent a small one meanwhile that is in transit.
func TestLookAtLoops(t *testing.T) {
	for _, c := range []struct {
		name   string
		before *made
		want   Verdict
	}{
		{"it sent to another rank", looped(3, true, 1), DeadlockedUnless},
		{"it sent another message", looped(1, true, 2), DeadlockedUnless},
		{"its message may have been taken", looped(1, false, 1), DeadlockedUnless},
		{"its message lay there", looped(1, true, 1), Deadlocked},
	} {
		now := looped(1, true, 1)
		past := c.before.runsOn()
		now.runsOn()
		if r := approve(t, c.name, AnalyseLive(now.Snapshot, past)); r.Verdict != c.want {
			t.Errorf("%s: %q, not %q, states %s: %s", c.name, r.Verdict, c.want, states(r), r.Why)
		}
	}
}

// What is one call's is not the next one's that stands at the same place.
func TestHasMovedWithTheSameRequest(t *testing.T) {
	now := looped(1, true, 1)
	now.runsOn()
	now.Processes[2].Communicators[0].Queue[mqs.PendingSends].Operations[0].Buffer = mqs.Known(worldID)
	for name, change := range map[string]func(op *mqs.PendingOperation){
		"peer":                   func(op *mqs.PendingOperation) { op.DesiredLocalRank = mqs.Known[int32](3) },
		"tag":                    func(op *mqs.PendingOperation) { op.DesiredTag = mqs.Known[int32](9) },
		"length":                 func(op *mqs.PendingOperation) { op.DesiredLength = mqs.Known[int64](9) },
		"buffer":                 func(op *mqs.PendingOperation) { op.Buffer = mqs.Known(dupID) },
		"id":                     func(op *mqs.PendingOperation) { op.MessageID.Value++ },
		"none":                   func(op *mqs.PendingOperation) { op.Status = mqs.Matched },
		"tag that was not known": func(op *mqs.PendingOperation) { op.DesiredTag = mqs.Maybe[int32]{} },
	} {
		before := now.clone()
		change(&before.Processes[2].Communicators[0].Queue[mqs.PendingSends].Operations[0])
		if moved := HasMoved(now.Processes[2], before.Processes[2]); moved != (name != "none" && name != "tag that was not known") {
			t.Errorf("another %s: moved %v", name, moved)
		}
	}
	before := now.clone()
	before.Processes[2].Communicators[0].UniqueID++
	if !HasMoved(now.Processes[2], before.Processes[2]) {
		t.Error("on another communicator: not moved")
	}
}

// What a rank that has ended between two looks has sent may be in transit at the second one.
func TestLookAtTheEndBetween(t *testing.T) {
	gone := newMade(2)
	gone.rank(0).recv(worldID, 1, 7)
	gone.Processes[1].Phase, gone.Processes[1].Communicators = mqs.Exited, nil
	past := gone.runsOn()
	if r := approve(t, "it had ended", AnalyseLive(gone.Snapshot, past)); r.Verdict != Deadlocked {
		t.Errorf("it had ended before: %q: %s", r.Verdict, r.Why)
	}
	delete(past.Earlier, 101)
	if r := approve(t, "it was not seen", AnalyseLive(gone.Snapshot, past)); r.Verdict != DeadlockedUnless {
		t.Errorf("it was not seen before: %q: %s", r.Verdict, r.Why)
	}
	there := newMade(2)
	there.rank(1).computes()
	there.runsOn()
	past.Earlier[101] = there.Processes[1]
	if r := approve(t, "it was there", AnalyseLive(gone.Snapshot, past)); r.Verdict != DeadlockedUnless {
		t.Errorf("it was there before: %q: %s", r.Verdict, r.Why)
	}
}
