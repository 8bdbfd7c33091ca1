package waitfor

import (
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/traverse"
)

// cycleBudget bounds the steps taken to find a smaller cycle than the first one found. It suffices
// for the smallest one among some thousand ranks.
const cycleBudget = 1_000_000

// cycle returns a smallest cycle among ranks that wait for each other, beginning with its lowest
// rank. Of several that are as small, it returns one with the lowest ranks.
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

// shortest returns the shortest cycle through a rank; nil if there is none that is shorter than
// limit. A limit of 0 means none.
func (s *search) shortest(v relation, from int32, limit int) []int32 {
	start, last := int64(from), int64(-1)
	cameFrom := map[int64]int64{}
	// A rank that waits for any message on a communicator is itself a member of the set that it waits
	// for, but waits for the other members only: the way back to it goes through them.
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
