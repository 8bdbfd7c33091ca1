package waitfor

import (
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/traverse"
)

// cycleBudget bounds how many steps are taken to find a smaller cycle than the
// first one that is found. The smallest one of some thousand ranks is within it.
const cycleBudget = 1_000_000

// cycle returns a smallest cycle among ranks that wait for each other. It
// starts with its lowest rank; of several that are as small, it is one with
// the lowest ranks.
func (s *search) cycle(ranks []int32) []Wait {
	v := s.relation(ranks)
	if i := slices.IndexFunc(ranks, s.waitsForItself); i >= 0 {
		return []Wait{s.waitFor(ranks[i], ranks[i])}
	}
	var best []int32
	for _, from := range ranks {
		if best != nil && (len(best) == 2 || s.budget <= 0) {
			break
		}
		if c := s.shortest(v, from, len(best)); c != nil {
			best = c
		}
	}
	lowest := slices.Index(best, slices.Min(best))
	best = slices.Concat(best[lowest:], best[:lowest])
	waits := make([]Wait, len(best))
	for i, r := range best {
		waits[i] = s.waitFor(r, best[(i+1)%len(best)])
	}
	return waits
}

// shortest returns the shortest cycle through a rank, if it is shorter than
// limit; nil if there is none. Limit 0 is none.
func (s *search) shortest(v relation, from int32, limit int) []int32 {
	start, last := int64(from), int64(-1)
	cameFrom := map[int64]int64{}
	// A rank that waits for any message on a communicator is a member itself,
	// but it waits for the others only: they are what leads back to it.
	own := map[int64]bool{}
	b := traverse.BreadthFirst{Traverse: func(e graph.Edge) bool {
		s.budget--
		at, to := e.From().ID(), e.To().ID()
		switch {
		case last >= 0:
			return false
		case to == start && cameFrom[at] == start && at < v.singleNode(0):
			own[at] = true
			return false
		case to == start:
			last = cameFrom[at]
			return false
		case own[to] && at != start:
			last = at
			return false
		}
		if _, seen := cameFrom[to]; !seen {
			cameFrom[to] = at
		}
		return true
	}}
	b.Walk(v, simple.Node(start), func(_ graph.Node, depth int) bool {
		return last >= 0 || limit > 0 && (depth >= 2*(limit-1) || s.budget <= 0)
	})
	if last < 0 {
		return nil
	}
	out := []int32{int32(last)}
	for at := last; at != start; {
		at = cameFrom[cameFrom[at]]
		out = append(out, int32(at))
	}
	slices.Reverse(out)
	return out
}
