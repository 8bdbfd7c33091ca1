package compare

import (
	"math/rand/v2"
	"testing"
)

// However the order differs, taking out what has moved leaves one order, and something has moved.
func TestMoved(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		pairs := rnd.Perm(1 + rnd.IntN(8))
		pairs[rnd.IntN(len(pairs))] = -1
		out, order := moved(pairs), placesInOrder(pairs)
		last, sorted, seen, here := -1, true, false, 0
		highest := -1
		for i, k := range pairs {
			if k < 0 {
				if out[i] {
					t.Errorf("%v: %d is in no pair and moved", pairs, i)
				}
				continue
			}
			sorted = sorted && k > highest
			highest = max(highest, k)
			seen = seen || out[i] && order[i] != here
			here++
			if out[i] {
				continue
			}
			if k < last {
				t.Errorf("%v: what has not moved is out of order at %d", pairs, i)
			}
			last = k
		}
		if seen == sorted {
			t.Errorf("%v: sorted %v, something to show of what moved %v (%v)", pairs, sorted, seen, out)
		}
	}
}
