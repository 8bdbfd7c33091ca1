package inferior

import (
	"fmt"
	"iter"
)

// Walk follows a list from first until stop or a NULL pointer, with next
// reading a node's successor. It ends with an error where memory ends, where a
// node comes a second time, or after limit nodes: a stopped process can be in
// the middle of changing the list, and a broken one can hold anything.
func Walk[P ~uint64](first, stop P, limit int, next func(P) (P, error)) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		var seen Addrs
		WalkMarking(first, stop, limit, next, func(a P) bool { return seen.Add(Addr(a)) })(yield)
	}
}

// WalkMarking is [Walk] for those who know the nodes: mark returns false of a node that it was called with
// before in this walk.
func WalkMarking[P ~uint64](first, stop P, limit int, next func(P) (P, error), mark func(P) bool) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		n := 0
		for a := first; a != stop && a != 0; n++ {
			if !mark(a) {
				yield(a, fmt.Errorf("the list comes back to %s after %d elements", Addr(a), n))
				return
			}
			if n == limit {
				yield(a, fmt.Errorf("the list has more than %d elements", limit))
				return
			}
			after, err := next(a)
			if !yield(a, err) || err != nil {
				return
			}
			a = after
		}
	}
}
