package waitfor

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

func (j *job) analyse() *Report {
	j.communicators()
	j.messages()
	j.findStays()
	j.findWaits()
	a := &analysis{job: j, unsure: map[*group]int32{}}
	a.findDeadlocks()
	if len(a.locks) == 0 && a.doubtsTransit() {
		j.assumed = true
		a.findDeadlocks()
	}
	if j.assumed = len(a.locks) > 0 && j.assumed; !j.assumed && len(a.locks) == 0 {
		a.certain = newAndOr(j.nodes(true)).releases(false)
	}

	r := &Report{Deadlocks: a.locks, Missing: j.missing()}
	if j.worldKnown {
		r.WorldSize = mqs.Known(int32(len(j.ranks)))
	}
	r.Verdict, r.Why = a.verdict()
	switch r.Verdict {
	case Unknown:
		r.Moving = a.moving(a.mayHang()) || a.passing(a.mayHang())
	case Deadlocked, DeadlockedUnless: // there may be more of it than is proved
		r.Moving = a.doubtsTransit()
	}
	a.groups(r)
	a.edges(r)
	r.NearMisses = a.nearMisses(r.Verdict)
	r.Notes = append(j.notes, a.doubts()...)
	return r
}

// findDeadlocks finds who can't be released by any rank that can still move, and why.
func (a *analysis) findDeadlocks() {
	a.graph = newAndOr(a.nodes(false))
	a.free = a.graph.releases(true)
	if a.explain() {
		a.graph = newAndOr(a.nodes(false))
	}
	a.deadlocks()
}

// doubtsTransit says whether there is a wait that a message in transit may end.
func (j *job) doubtsTransit() bool {
	return slices.ContainsFunc(j.ranks, func(r rank) bool { return slices.ContainsFunc(r.waits, mayEndByTransit) })
}

func mayEndByTransit(w wait) bool {
	return slices.ContainsFunc(w.goals, func(g goal) bool { return g.transit })
}

// analysis is a job and what its wait-for graph tells.
type analysis struct {
	*job
	graph *andOr
	// free nodes can be released if what is not known is for the best; certain ones, which
	// are found if there is no deadlock, in any case.
	free, certain []bool
	locks         []Deadlock
	unsure        map[*group]int32 // what doubtful has found
	locked        map[int32]bool   // the ranks in locks
}

// explain replaces, in ranks that hang inside a collective, the messages by which
// the library carries it out by what they mean, that members have not entered, if
// one of those hangs too. It says whether there was anything to replace.
func (a *analysis) explain() bool {
	changed := false
	for i := range a.ranks {
		if !a.hangs(int32(i)) {
			continue
		}
		for k := range a.ranks[i].waits {
			w := &a.ranks[i].waits[k]
			if w.meaning != nil && slices.ContainsFunc(w.meaning.ranks, func(r int32) bool { return a.hangs(r) || a.ranks[r].gone() }) {
				w.all, w.goals, changed = true, []goal{{rank: -1, group: w.meaning, transit: a.assumed && mayEndByTransit(*w)}}, true
			}
		}
	}
	return changed
}

// hangs says whether a rank can't be released by any rank that can still move.
func (a *analysis) hangs(rank int32) bool { return !a.free[rank] && !a.ranks[rank].gone() }

// mayHang are the ranks of which it can't be known that they will be released.
func (a *analysis) mayHang() []int32 {
	return a.which(func(r *rank) bool { return r.mobility == waiting && !a.certain[r.number] })
}

// nodes makes the wait-for graph of a job: first its ranks, each of which is
// released with any of its threads, then the groups that are waited for as
// one, then the threads' waits. Where it is not known for whom a thread waits it
// has as little as it may, or if worst as much.
func (j *job) nodes(worst bool) []node {
	n := len(j.ranks) + len(j.groups)
	for i := range j.ranks {
		n += len(j.ranks[i].waits)
	}
	nodes := make([]node, len(j.ranks), n)
	for _, g := range j.groups {
		nodes = append(nodes, node{all: g.all, kids: g.ranks, unknown: g.unknown != ""})
	}
	for i := range j.ranks {
		r := &j.ranks[i]
		nodes[i] = node{all: r.mobility == free, unknown: r.mobility == uncertain}
		for k := range r.waits {
			nodes[i].kids = append(nodes[i].kids, int32(len(nodes)))
			nodes = append(nodes, j.waitNode(&r.waits[k], worst))
		}
	}
	return nodes
}

func (j *job) waitNode(w *wait, worst bool) node {
	if w.free {
		return node{all: true}
	}
	n := node{all: w.all || worst && w.vague, unknown: w.unknown != "", kids: make([]int32, 0, len(w.goals))}
	for i := range w.goals {
		switch g := &w.goals[i]; {
		case worst || j.holds(g):
			n.kids = append(n.kids, j.nodeOf(g))
		default:
			n.unknown = true
		}
	}
	return n
}

// nodeOf is the node that a goal stands for.
func (j *job) nodeOf(g *goal) int32 {
	if g.rank >= 0 {
		return g.rank
	}
	return int32(len(j.ranks)) + g.group.id
}
