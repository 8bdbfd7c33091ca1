package waitfor

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/digraph"
)

// findCauses finds why ranks hang: sets of ranks that wait for each other, each of which would hang
// even if all the other sets were resolved; and ranks that are gone while others wait for them.
func (a *analysis) findCauses() {
	a.inDeadlock = map[int32]bool{}
	var hanging []int32
	for i := range a.ranks {
		if a.hangs(int32(i)) {
			hanging = append(hanging, int32(i))
		}
	}
	if len(hanging) == 0 {
		return
	}
	s := &search{analysis: a, released: a.resolved(), need: make([]int32, len(a.graph.nodes)), budget: cycleBudget, sets: make([]int32, len(a.ranks)), finder: digraph.NewFinder(a.relationSize())}
	s.searchIn(hanging)
	a.addWaitsForGone(hanging)
	slices.SortFunc(a.deadlocks, func(x, y Deadlock) int { return cmp.Compare(x.Ranks[0], y.Ranks[0]) })
}

// resolved returns the nodes that are released once all ranks that are not gone are. The other
// nodes depend on ranks that are gone.
func (a *analysis) resolved() []bool {
	out := make([]bool, len(a.graph.nodes))
	for i := range a.ranks {
		out[i] = !a.ranks[i].gone()
	}
	for i := len(a.ranks); i < len(a.ranks)+len(a.rankSets); i++ {
		out[i] = a.graph.nodes[i].lacks(out, true) == 0
	}
	return out
}

// search is a search for sets of ranks that wait for each other.
type search struct {
	*analysis
	released []bool
	need     []int32
	budget   int
	sets     []int32 // for relations
	set      int32   // the last one
	finder   *digraph.Finder
}

// relation returns the relation among some ranks. It takes these ranks out of all earlier relations.
func (s *search) relation(ranks []int32) relation {
	s.set++
	for _, r := range ranks {
		s.sets[r] = s.set
	}
	return relation{s.job, s.sets, s.set}
}

// searchIn searches among ranks that hang.
func (s *search) searchIn(ranks []int32) {
	v := s.relation(ranks)
	for _, component := range s.finder.Components(ranks, v.next) {
		var members, part []int32
		for _, id := range component {
			switch {
			case v.isRank(id):
				members = append(members, id)
				part = append(append(part, id), s.graph.nodes[id].deps...)
			case id < v.singleNode(0):
				part = append(part, id) // sets have the same numbers in both graphs
			}
		}
		if len(members) == 0 || len(members) == 1 && !s.waitsForItself(members[0]) {
			continue
		}
		slices.Sort(members)
		switch left := s.stillHanging(members, part); {
		case len(left) == len(members):
			s.addDeadlock(Deadlock{members, s.cycle(members)})
		case len(left) > 0:
			s.searchIn(left)
		}
	}
}

func (a *analysis) waitsForItself(rank int32) bool {
	_, g := a.dependencyOn(rank, rank)
	return g != nil
}

// stillHanging returns the members of a part of the graph that hang even if everything outside of
// the part is resolved.
func (s *search) stillHanging(members, part []int32) []int32 {
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

func (a *analysis) addDeadlock(d Deadlock) {
	a.deadlocks = append(a.deadlocks, d)
	for _, r := range d.Ranks {
		a.inDeadlock[r] = true
	}
}

// addWaitsForGone adds the ranks that hang only because a rank is gone: they are in no cycle, but
// will never go on either. Ranks that wait for the same one are one deadlock.
func (a *analysis) addWaitsForGone(hanging []int32) {
	goneIn := make([]goneMembers, len(a.rankSets))
	for i, g := range a.rankSets {
		goneIn[i] = a.goneMembersOf(g)
	}
	byGone := map[int32][]int32{}
	var order []int32
	for _, r := range hanging {
		if a.inDeadlock[r] {
			continue
		}
		gone := a.goneDependency(r, goneIn)
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
		a.addDeadlock(Deadlock{ranks, []Wait{a.waitFor(ranks[0], gone)}})
	}
}

// goneMembers says which ranks of a set are gone.
type goneMembers struct {
	first     int32 // the lowest one that is gone; -1 if none is
	remaining int   // how many are not gone
	last      int32 // the last one that is not gone
}

func (a *analysis) goneMembersOf(g *rankSet) goneMembers {
	l := goneMembers{first: -1, last: -1}
	for _, r := range g.ranks {
		if !a.ranks[r].gone() {
			l.remaining++
			l.last = r
		} else if l.first < 0 || r < l.first {
			l.first = r
		}
	}
	return l
}

// goneDependency returns the lowest rank that is gone and without which a rank will never be
// released, whatever others do; -1 if there is none.
func (a *analysis) goneDependency(rank int32, goneIn []goneMembers) int32 {
	lowest := int32(-1)
	for i := range a.ranks[rank].waits {
		w := &a.ranks[rank].waits[i]
		hopeless := false
		for k := range w.deps {
			if !a.holds(&w.deps[k]) {
				if !w.all {
					return -1
				}
				continue
			}
			gone := a.goneOf(rank, &w.deps[k], goneIn)
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

func (a *analysis) goneOf(rank int32, g *dependency, goneIn []goneMembers) int32 {
	if g.rank >= 0 {
		if a.ranks[g.rank].gone() {
			return g.rank
		}
		return -1
	}
	l := goneIn[g.set.id]
	if g.set.all || g.set.unknown == "" && (l.remaining == 0 || l.remaining == 1 && l.last == rank) {
		return l.first
	}
	return -1
}
