package waitfor

import (
	"fmt"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A message that lies with the receiver is not the synchronous send's that is alike, if its own
// sender does not wait for it: that one may have been taken, and the answer be under way.
func TestSynchronousSendBehindOneAlike(t *testing.T) {
	for asks, want := range map[bool]Verdict{false: DeadlockedUnless, true: Deadlocked} {
		m := newMade(2)
		r := m.rank(0)
		r.thread("MPI_Wait", 10, r.isend(worldID, 1, 1, false))
		r.on(worldID).Queue[mqs.PendingSends].Operations[0].Kind = "issend"
		if lies := r.message(worldID, 1, 1); asks {
			lies.ExtraText = []string{mqs.Rendezvous}
		}
		r.counts(worldID, 1, 2, 0)
		m.rank(1).counts(worldID, 0, 0, 2)
		m.rank(1).recv(worldID, 0, 2)
		if r := approve(t, fmt.Sprintf("its sender waits %t", asks), Analyse(m.Snapshot)); r.Verdict != want {
			t.Errorf("its sender waits %v: %q, not %q: %s", asks, r.Verdict, want, r.Why)
		}
		if !asks {
			continue
		}
		r.isend(worldID, 1, 1, false) // that may be what lies there
		buffered := &r.on(worldID).Queue[mqs.PendingSends].Operations[1]
		buffered.Kind, buffered.Status = "bsend", mqs.Complete
		if r := approve(t, "with a buffered one", Analyse(m.Snapshot)); r.Verdict != DeadlockedUnless {
			t.Errorf("with a buffered one: %q: %s", r.Verdict, r.Why)
		}
	}
}
