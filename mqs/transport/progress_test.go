package transport_test

import (
	"math"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// waiting is a matcher whose receives have had to wait so many times.
type waiting struct {
	transport.Matcher
	times uint64
}

func (w waiting) Queues() *transport.Queues { return &transport.Queues{Waited: w.times} }

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		times []uint64
		want  mqs.Maybe[uint64]
	}{
		{nil, mqs.Known[uint64](0)},
		{[]uint64{3, 4}, mqs.Known[uint64](7)},
		{[]uint64{math.MaxInt64}, mqs.Known[uint64](math.MaxInt64)},
		{[]uint64{1 << 63}, mqs.Maybe[uint64]{}},
		{[]uint64{1, math.MaxInt64}, mqs.Maybe[uint64]{}},
		{[]uint64{math.MaxUint64, 1}, mqs.Maybe[uint64]{}},
	} {
		var matchers []transport.Matcher
		for _, n := range c.times {
			matchers = append(matchers, waiting{times: n})
		}
		if got := transport.Progress(matchers); got != c.want {
			t.Errorf("%d: %+v, want %+v", c.times, got, c.want)
		}
	}
}
