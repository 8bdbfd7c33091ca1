package waitfor

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// decide finds the verdict on a job. [analysis.complete] adds what else is to be said.
func (j *job) decide() *analysis {
	j.match()
	j.findStays()
	j.findWaits()
	a := &analysis{job: j, uncertainRanks: map[*rankSet]int32{}}
	a.findDeadlocks()
	if len(a.deadlocks) == 0 && a.doubtsTransit() {
		j.assumeNoTransit = true
		a.findDeadlocks()
		if a.getOn() {
			j.assumeNoTransit, a.deadlocks, a.passed = false, nil, true
			a.findDeadlocks()
		}
	}
	if j.assumeNoTransit = len(a.deadlocks) > 0 && j.assumeNoTransit; !j.assumeNoTransit && len(a.deadlocks) == 0 {
		a.surelyReleasable = newAndOr(j.nodes(true)).releases(false)
	}

	r := &Report{Deadlocks: a.deadlocks, Missing: j.missing()}
	a.report = r
	if j.worldKnown {
		r.WorldSize = mqs.Known(int32(len(j.ranks)))
	}
	r.Verdict, r.Why = a.verdict()
	r.NotJoined = a.whyAlone()
	r.Why = joined(r.NotJoined, r.Why)
	r.Open, _ = a.open()
	r.GetsOn = a.hasRank(func(r *rank) bool { return r.gotOn })
	switch r.Verdict {
	case Unknown:
		open := a.mayHang()
		r.Moving = a.moving(open) || a.passing(open) || slices.ContainsFunc(open, func(i int32) bool { return a.ranks[i].gotOn })
	case Deadlocked, DeadlockedUnless: // there may be more of it than is proved
		r.Moving = a.maySettleTransit()
	case DeadlockedUnlessPollingEnds:
		r.Moving = true // it is the less likely the more often the ranks are met there
	}
	return a
}

// getOn says whether all ranks that would hang if no message were in transit have got on since the previous look, after some
// looks: none of them hung then, and a rank whose message the MPI does not count is met between two such waits as often as not.
func (a *analysis) getOn() bool {
	if len(a.deadlocks) == 0 || !a.past.Again || a.past.Apart || a.past.Looks < LeastSettling {
		return false
	}
	return !slices.ContainsFunc(a.deadlocks, func(d Deadlock) bool {
		return slices.ContainsFunc(d.Ranks, func(i int32) bool { r := a.at(i); return r == nil || !r.gotOn })
	})
}

// complete returns the report with what else is to be said than the verdict.
func (a *analysis) complete() *Report {
	r := a.report
	a.groups(r)
	a.edges(r)
	if r.NearMisses = a.nearer; r.NearMisses == nil {
		r.NearMisses = slices.DeleteFunc(a.nearMisses(r.Verdict), a.isOfMoments)
	}
	r.Notes = append(a.notes, a.doubts()...)
	return r
}

// match puts the processes' communicators and messages together.
func (j *job) match() {
	if !j.isMatched {
		j.communicators()
		j.messages()
		j.isMatched = true
	}
}

// isOfMoments says whether a near miss may be of ranks that have not stood so at one moment.
func (a *analysis) isOfMoments(n NearMiss) bool {
	return a.past.Apart && slices.ContainsFunc(n.Ranks, func(i int32) bool {
		r := a.at(i)
		return r != nil && r.process != nil && !r.stays && !r.same && r.mobility != mobile
	})
}

// findDeadlocks finds the ranks that no rank that can still move can release, and why.
func (a *analysis) findDeadlocks() {
	a.graph = newAndOr(a.nodes(false))
	a.releasable = a.graph.releases(true)
	if a.explain() {
		a.graph = newAndOr(a.nodes(false))
	}
	a.findCauses()
}

// doubtsTransit says whether a message in transit may end some wait.
func (j *job) doubtsTransit() bool {
	return slices.ContainsFunc(j.ranks, func(r rank) bool { return slices.ContainsFunc(r.waits, mayEndByTransit) })
}

// maySettleTransit reports whether another sample may rule out that a message in transit ends a wait. After some samples it can't if the
// rank that waits has had time to take the message and its peer sleeps: a rank that does not run neither sends nor answers.
func (j *job) maySettleTransit() bool {
	const leastLooks = 3 // before this one
	isOver := j.past.Looks >= leastLooks
	return slices.ContainsFunc(j.ranks, func(r rank) bool {
		return slices.ContainsFunc(r.waits, func(w wait) bool {
			return slices.ContainsFunc(w.deps, func(g dependency) bool { return g.transit && (!isOver || !r.confirmed || !j.sleeps(g.rank)) })
		})
	})
}

// sleeps reports whether a rank slept at this sample and at the previous one, and has not run in between.
func (j *job) sleeps(number int32) bool {
	r := j.at(number)
	if r == nil || r.process == nil || r.ran || !r.same {
		return false
	}
	before := j.past.Earlier[r.process.PID]
	return before != nil && before.State == mqs.Sleeping && r.process.State == mqs.Sleeping
}

func mayEndByTransit(w wait) bool {
	return slices.ContainsFunc(w.deps, func(g dependency) bool { return g.transit })
}

// analysis is a job with its wait-for graph.
type analysis struct {
	*job
	graph *andOr
	// releasable nodes can be released if everything unknown turns out well; surelyReleasable ones
	// can be released in any case, and are found only if there is no deadlock.
	releasable, surelyReleasable []bool
	deadlocks                    []Deadlock
	uncertainRanks               map[*rankSet]int32 // the results of uncertainRank
	inDeadlock                   map[int32]bool     // the ranks in deadlocks
	passed                       bool               // what would be deadlocks if no message were in transit have got on: see getOn
	report                       *Report
	nearer                       []NearMiss // in place of those that it would find
}

// explain replaces, in ranks that hang inside a collective, the library's messages by what they
// mean: that members have not entered the collective. It does so if one of these members hangs too,
// and returns whether there was anything to replace.
func (a *analysis) explain() bool {
	changed := false
	for i := range a.ranks {
		if !a.hangs(int32(i)) {
			continue
		}
		for k := range a.ranks[i].waits {
			w := &a.ranks[i].waits[k]
			if w.standardMeaning != nil && slices.ContainsFunc(w.standardMeaning.ranks, func(r int32) bool { return a.hangs(r) || a.ranks[r].gone() }) {
				w.all, w.deps, changed = true, []dependency{{rank: -1, set: w.standardMeaning, transit: a.assumeNoTransit && mayEndByTransit(*w)}}, true
			}
		}
	}
	return changed
}

// hangs says whether a rank can't be released by any rank that can still move.
func (a *analysis) hangs(rank int32) bool { return !a.releasable[rank] && !a.ranks[rank].gone() }

// mayHang returns the ranks that are not sure to be released.
func (a *analysis) mayHang() []int32 {
	return a.which(func(r *rank) bool { return r.mobility == waiting && !a.surelyReleasable[r.number] })
}

// nodes makes the wait-for graph of a job. Its nodes are first the ranks, each of which is released
// with any of its threads, then the sets of ranks that are waited for together, then the waits of
// threads. If it is not known for whom a thread waits, the wait has as few dependencies as it may
// have, or as many if worst.
func (j *job) nodes(worst bool) []node {
	n := len(j.ranks) + len(j.rankSets)
	for i := range j.ranks {
		n += len(j.ranks[i].waits)
	}
	nodes := make([]node, len(j.ranks), n)
	for _, g := range j.rankSets {
		nodes = append(nodes, node{all: g.all || worst && g.someOf, deps: g.ranks, unknown: g.unknown != ""})
	}
	for i := range j.ranks {
		r := &j.ranks[i]
		nodes[i] = node{all: r.mobility == mobile, unknown: r.mobility == uncertain}
		for k := range r.waits {
			nodes[i].deps = append(nodes[i].deps, int32(len(nodes)))
			nodes = append(nodes, j.waitNode(&r.waits[k], worst))
		}
	}
	return nodes
}

func (j *job) waitNode(w *wait, worst bool) node {
	if w.satisfied {
		return node{all: true}
	}
	n := node{all: w.all || worst && w.someOf, unknown: w.unknown != "" || w.unsure != "" && !worst, deps: make([]int32, 0, len(w.deps))}
	for i := range w.deps {
		switch g := &w.deps[i]; {
		case worst || j.holds(g):
			n.deps = append(n.deps, j.nodeOf(g))
		default:
			n.unknown = true
		}
	}
	return n
}

// nodeOf returns the node of a dependency.
func (j *job) nodeOf(g *dependency) int32 {
	if g.rank >= 0 {
		return g.rank
	}
	return int32(len(j.ranks)) + g.set.id
}
