package live

import (
	"reflect"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// inCall is how many ticks of processor time take a rank from saying that it will wait into the call in which it does, if it
// looks for messages all the time there.
const inCall = 5

// enoughEqual is how many equal reports in a row show that a job will not change any more.
const enoughEqual = 5

// standstill counts equal reports.
type standstill struct {
	last  expect.Report
	equal int
}

// add returns how many reports in a row, with this one, were equal. One counts if all ranks have had their chance to move
// while it was made, and unless it says itself that a message may have been in transit at that moment.
func (s *standstill) add(r *expect.Report, counts bool) int {
	essence := r.Essence()
	counts = counts && r.Verdict != expect.InTransit
	if !counts || !reflect.DeepEqual(essence, s.last) {
		s.equal = 0
	}
	if s.last = essence; counts {
		s.equal++
	}
	return s.equal
}

// clock is how much processor time a rank has had, in ticks, and whether it sleeps. Without a process it has had -1.
type clock struct {
	ticks  int
	asleep bool
}

// haveRun reports whether each rank has either slept all the time or had enough time to come to its call.
func haveRun(before, after []clock) bool {
	for i, b := range before {
		a := after[i]
		sleeps := a.asleep && b.asleep && a.ticks == b.ticks
		if a.ticks >= 0 && !sleeps && a.ticks < b.ticks+inCall {
			return false
		}
	}
	return true
}
