package waitfor

import "slices"

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
	last := int32(-1)
	cameFrom := map[int32]int32{}
	// A rank that waits for any message on a communicator is itself a member of the set that it waits
	// for, but waits for the other members only: the way back to it goes through them.
	own := map[int32]bool{}
	var buffer []int32
	level := []int32{from}
	for depth := 0; len(level) > 0 && last < 0; depth++ {
		var following []int32
		for _, at := range level {
			if limit > 0 && (depth >= 2*(limit-1) || s.budget <= 0) {
				return nil
			}
			buffer = v.next(at, buffer[:0])
			s.budget -= len(buffer)
			for _, to := range buffer {
				_, isSeen := cameFrom[to]
				switch {
				case last >= 0:
				case to == from && cameFrom[at] == from && at < v.singleNode(0):
					own[at] = true
				case to == from:
					last = cameFrom[at]
				case own[to] && at != from:
					last = at
				case !isSeen:
					cameFrom[to] = at
					following = append(following, to)
				}
			}
			if last >= 0 {
				break
			}
		}
		level = following
	}
	if last < 0 {
		return nil
	}
	out := []int32{last}
	for at := last; at != from; {
		at = cameFrom[cameFrom[at]]
		out = append(out, at)
	}
	slices.Reverse(out)
	return out
}
