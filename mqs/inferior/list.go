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
		seen := map[P]struct{}{}
		for a := first; a != stop && a != 0; {
			if _, again := seen[a]; again {
				yield(a, fmt.Errorf("the list comes back to %s after %d elements", Addr(a), len(seen)))
				return
			}
			if len(seen) == limit {
				yield(a, fmt.Errorf("the list has more than %d elements", limit))
				return
			}
			seen[a] = struct{}{}
			after, err := next(a)
			if !yield(a, err) || err != nil {
				return
			}
			a = after
		}
	}
}
