package waitfor

import (
	"maps"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// TestOutsideCounts checks at how many samples in a row threads were outside MPI: a report names that number as a reason to believe
// that a thread does not act.
func TestOutsideCounts(t *testing.T) {
	waiting := mqs.Thread{Number: 1, Placed: true, Call: "MPI_Recv"}
	sleeper := mqs.Thread{Number: 2, Placed: true, Activity: mqs.Sleeps}
	worker := mqs.Thread{Number: 3, Placed: true, Activity: mqs.Waits}
	sample := func(progress uint64, threads ...mqs.Thread) *mqs.Process {
		return &mqs.Process{Phase: mqs.Active, Progress: mqs.Known(progress), Threads: threads}
	}
	var before *mqs.Process
	var seen map[int]int
	for i, c := range []struct {
		now  *mqs.Process
		want map[int]int
	}{
		{sample(1, waiting, sleeper, worker), map[int]int{2: 1}},
		{sample(1, waiting, sleeper, worker), map[int]int{2: 2}},
		{sample(1, waiting, mqs.Thread{Number: 2, Placed: true, Call: "MPI_Isend"}), nil}, // it has called MPI
		{sample(1, waiting, sleeper), map[int]int{2: 1}},
		{sample(1, waiting, sleeper), map[int]int{2: 2}},
		{sample(2, waiting, sleeper), map[int]int{2: 1}}, // the process has moved
	} {
		if seen = Outside(c.now, before, seen); !maps.Equal(seen, c.want) {
			t.Errorf("sample %d: %v, want %v", i+1, seen, c.want)
		}
		before = c.now
	}
}
