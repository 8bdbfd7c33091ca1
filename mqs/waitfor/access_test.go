package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A rank that asks again and again for a value in another one's memory, which that one sets
// after a call that the first one has yet to enter, does not get on, whatever it is in.
func TestPollsMemory(t *testing.T) {
	job := func(call string, progress uint64) *made {
		m := newMade(2)
		m.rank(0).computes()
		m.rank(0).Threads[0].Call = call
		m.rank(1).enters(worldID, "MPI_Barrier")
		for i, p := range m.Processes {
			p.PID = 100 + i
		}
		m.rank(0).Progress = mqs.Known(progress)
		return m
	}
	for _, c := range []struct {
		name        string
		before, now *made
		want        Verdict
	}{
		{"leaves a flush", job("MPI_Win_flush", 1), job("", 1), NoProgress},
		{"enters a flush", job("", 1), job("MPI_Win_flush_local_all", 1), Unknown},
		{"its requests are counted", job("MPI_Win_unlock", 1), job("MPI_Fetch_and_op", 2), NoProgress},
		{"it has received", job("", 1), job("", 2), NoDeadlock},
		{"it has left a receive", job("MPI_Recv", 1), job("", 1), NoDeadlock},
		{"it has left a receive for a flush", job("MPI_Recv", 1), job("MPI_Win_flush", 1), Unknown},
	} {
		past := Past{Looks: 1, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{100: true, 101: true}}
		for _, p := range c.before.Processes {
			past.Earlier[p.PID] = p
		}
		if r := approve(t, c.name, AnalyseLive(c.now.Snapshot, past)); r.Verdict != c.want {
			t.Errorf("%s: %q, not %q: %s", c.name, r.Verdict, c.want, r.Why)
		}
	}
	if m := job("MPI_Recv", 1); !HasMoved(job("MPI_Win_flush", 1).Processes[0], m.Processes[0]) {
		t.Error("one that has left a receive has not moved")
	}
}
