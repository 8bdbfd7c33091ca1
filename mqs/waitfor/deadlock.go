package waitfor

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/graph/topo"
)

// deadlocks finds the causes of ranks that hang: sets of ranks that wait for
// each other, each of which would hang even if all the others were resolved;
// and ranks that are gone while others wait for them.
func (a *analysis) deadlocks() {
	a.locked = map[int32]bool{}
	var hanging []int32
	for i := range a.ranks {
		if a.hangs(int32(i)) {
			hanging = append(hanging, int32(i))
		}
	}
	if len(hanging) == 0 {
		return
	}
	s := &search{analysis: a, released: a.resolved(), need: make([]int32, len(a.graph.nodes)), budget: cycleBudget, sets: make([]int32, len(a.ranks))}
	s.among(hanging)
	a.forGone(hanging)
	slices.SortFunc(a.locks, func(x, y Deadlock) int { return cmp.Compare(x.Ranks[0], y.Ranks[0]) })
}

// resolved are the nodes that can be released once all ranks that are there
// can: what is left depends on those that are gone.
func (a *analysis) resolved() []bool {
	out := make([]bool, len(a.graph.nodes))
	for i := range a.ranks {
		out[i] = !a.ranks[i].gone()
	}
	for i := len(a.ranks); i < len(a.ranks)+len(a.job.groups); i++ {
		out[i] = a.graph.nodes[i].lacks(out, true) == 0
	}
	return out
}

// search looks for sets of ranks that wait for each other.
type search struct {
	*analysis
	released []bool
	need     []int32
	budget   int
	sets     []int32 // for relations
	set      int32   // the last one
}

// relation is that among some ranks. It takes them out of all others.
func (s *search) relation(ranks []int32) relation {
	s.set++
	for _, r := range ranks {
		s.sets[r] = s.set
	}
	return relation{s.job, s.sets, s.set}
}

// among looks among ranks that hang.
func (s *search) among(ranks []int32) {
	v := s.relation(ranks)
	for _, component := range topo.TarjanSCC(v) {
		var members, part []int32
		for _, n := range component {
			switch id := n.ID(); {
			case v.isRank(id):
				members = append(members, int32(id))
				part = append(append(part, int32(id)), s.graph.nodes[id].kids...)
			case id < int64(len(v.ranks)+len(v.groups)):
				part = append(part, int32(id)) // the groups have the same numbers in both graphs
			}
		}
		if len(members) == 0 || len(members) == 1 && !s.waitsForItself(members[0]) {
			continue
		}
		slices.Sort(members)
		switch left := s.left(members, part); {
		case len(left) == len(members):
			s.lock(Deadlock{members, s.cycle(members)})
		case len(left) > 0:
			s.among(left)
		}
	}
}

func (a *analysis) waitsForItself(rank int32) bool {
	_, g := a.goalTo(rank, rank)
	return g != nil
}

// left are the members of a part of the graph that still hang if everything
// outside of it is resolved.
func (s *search) left(members, part []int32) []int32 {
	before := make([]bool, len(part))
	for i, n := range part {
		before[i], s.released[n] = s.released[n], false
	}
	s.graph.release(part, s.released, s.need, true)
	left := slices.DeleteFunc(slices.Clone(members), func(r int32) bool { return s.released[r] })
	for i, n := range part {
		s.released[n] = before[i]
	}
	return left
}

func (a *analysis) lock(d Deadlock) {
	a.locks = append(a.locks, d)
	for _, r := range d.Ranks {
		a.locked[r] = true
	}
}

// forGone adds the ranks that hang for nothing else than that one is gone: no
// cycle, but as dead. They are taken together by whom they wait for.
func (a *analysis) forGone(hanging []int32) {
	losses := make([]loss, len(a.job.groups))
	for i, g := range a.job.groups {
		losses[i] = a.lossOf(g)
	}
	byGone := map[int32][]int32{}
	var order []int32
	for _, r := range hanging {
		if a.locked[r] {
			continue
		}
		gone := a.missed(r, losses)
		if gone < 0 {
			continue
		}
		if byGone[gone] == nil {
			order = append(order, gone)
		}
		byGone[gone] = append(byGone[gone], r)
	}
	for _, gone := range order {
		ranks := byGone[gone]
		a.lock(Deadlock{ranks, []Wait{a.waitFor(ranks[0], gone)}})
	}
}

// loss is what is gone of a group.
type loss struct {
	first int32 // -1 if none is
	left  int   // how many are not
	last  int32 // the last one of those
}

func (a *analysis) lossOf(g *group) loss {
	l := loss{first: -1, last: -1}
	for _, r := range g.ranks {
		if !a.ranks[r].gone() {
			l.left++
			l.last = r
		} else if l.first < 0 || r < l.first {
			l.first = r
		}
	}
	return l
}

// missed returns the lowest rank that is gone and without which a rank will
// never be released, whatever others do; -1 if there is none.
func (a *analysis) missed(rank int32, losses []loss) int32 {
	lowest := int32(-1)
	for i := range a.ranks[rank].waits {
		w := &a.ranks[rank].waits[i]
		hopeless := false
		for k := range w.goals {
			if !a.holds(&w.goals[k]) {
				if !w.all {
					return -1
				}
				continue
			}
			gone := a.missedBy(rank, &w.goals[k], losses)
			if gone >= 0 {
				hopeless = true
				if lowest < 0 || gone < lowest {
					lowest = gone
				}
			} else if !w.all {
				return -1
			}
		}
		if !hopeless {
			return -1
		}
	}
	return lowest
}

func (a *analysis) missedBy(rank int32, g *goal, losses []loss) int32 {
	if g.rank >= 0 {
		if a.ranks[g.rank].gone() {
			return g.rank
		}
		return -1
	}
	l := losses[g.group.id]
	if g.group.all || g.group.unknown == "" && (l.left == 0 || l.left == 1 && l.last == rank) {
		return l.first
	}
	return -1
}
