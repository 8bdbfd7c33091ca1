package transport

import (
	"math"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Progress counts the receives that have had to wait for their messages, as [mqs.Process] has it. It is not
// known if one does not count them, or if a process claims more than a signed number of 64 bits holds, which no count can be.
func Progress(matchers []Matcher) mqs.Maybe[uint64] {
	sum := uint64(0)
	for _, m := range matchers {
		if m.Queues().Uncounted {
			return mqs.Maybe[uint64]{}
		}
		waited := m.Queues().Waited
		if waited > math.MaxInt64-sum {
			return mqs.Maybe[uint64]{}
		}
		sum += waited
	}
	return mqs.Known(sum)
}
