package waitfor

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Analyse looks at the ranks of a snapshot together. It works with and without
// the library's own operations, with which more can be concluded.
//
// A deadlock is only called one if nothing that is unknown could resolve it. Of messages
// on their way, that some MPIs do not count, it is taken that there are none, with a note.
func Analyse(s *mqs.Snapshot) *Report { return newJob(s).analyse() }

// Look is [Analyse] for a job that may be running. Of a rank whose MPI does not count
// messages it is believed that none is on its way to it if it waited for the same when it
// was looked at earlier. That has those processes only that have run since; it may be nil.
func Look(s, earlier *mqs.Snapshot) *Report {
	before := map[int]*mqs.Process{}
	if earlier != nil {
		for _, p := range earlier.Processes {
			before[p.PID] = p
		}
	}
	j := newJob(s)
	for i := range j.ranks {
		if r := &j.ranks[i]; r.process != nil && !r.counts() {
			r.confirmed = stillWaits(r.process, before[r.process.PID])
			r.inDoubt = !r.confirmed
		}
	}
	return j.analyse()
}

// stillWaits says whether all calls of a process are the same as before, for the same
// requests, and it has got nothing done in between, as far as that is counted.
func stillWaits(p, before *mqs.Process) bool {
	if before == nil || before.Progress != p.Progress {
		return false
	}
	calls := func(p *mqs.Process) []mqs.Thread {
		return slices.DeleteFunc(slices.Clone(p.Threads), func(t mqs.Thread) bool { return t.Call == "" })
	}
	return slices.EqualFunc(calls(p), calls(before), func(a, b mqs.Thread) bool {
		return a.Number == b.Number && a.Call == b.Call && a.Function == b.Function && a.Line == b.Line && slices.Equal(a.Requests, b.Requests)
	})
}

func (j *job) analyse() *Report {
	j.communicators()
	j.messages()
	j.findWaits()
	a := &analysis{job: j, graph: newAndOr(j.nodes()), unsure: map[*group]int32{}}
	a.free = a.graph.releases(true)
	a.certain = a.graph.releases(false)
	if a.explain() {
		a.graph = newAndOr(j.nodes())
	}
	a.deadlocks()

	r := &Report{Deadlocks: a.locks, Missing: j.missing()}
	if j.worldKnown {
		r.WorldSize = mqs.Known(int32(len(j.ranks)))
	}
	r.Verdict, r.Why = a.verdict()
	r.Moving = r.Verdict == Unknown && a.moving(a.mayHang()) || r.Verdict == Deadlocked && a.doubted()
	a.groups(r)
	a.edges(r)
	r.NearMisses = a.nearMisses()
	r.Notes = append(j.notes, a.doubts()...)
	return r
}

// analysis is a job and what its wait-for graph tells.
type analysis struct {
	*job
	graph *andOr
	// free nodes can be released if what is not known is for the best, certain
	// ones in any case.
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
				w.all, w.goals, changed = true, []goal{{rank: -1, group: w.meaning}}, true
			}
		}
	}
	return changed
}

// hangs says whether a rank can't be released by any rank that can still move.
func (a *analysis) hangs(rank int32) bool { return !a.free[rank] && !a.ranks[rank].gone() }

// mayHang are the ranks of which it can't be known that they will be released. If
// everybody else will move, so will the one that is left, as long as it waits for
// somebody of this job.
func (a *analysis) mayHang() []int32 {
	var out []int32
	for i := range a.ranks {
		if !a.certain[i] && !a.ranks[i].gone() {
			out = append(out, int32(i))
		}
	}
	if len(out) == 1 && a.worldKnown && len(a.ranks) > 1 && a.free[out[0]] && a.ranks[out[0]].mobility == waiting &&
		!slices.ContainsFunc(a.ranks[out[0]].waits, a.ranks[out[0]].mayLeadOutside) {
		return nil
	}
	return slices.DeleteFunc(out, func(r int32) bool { return a.ranks[r].mobility != waiting })
}

// mayLeadOutside says whether a wait of the rank may be for processes of another job.
func (r *rank) mayLeadOutside(w wait) bool {
	if w.thread != nil {
		switch w.thread.Call {
		case "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_disconnect":
			return true
		}
	}
	return w.unknown == peerUnknown && !r.isInside(w.thread) || w.unknown == membersUnknown ||
		slices.ContainsFunc(w.goals, func(g goal) bool { return g.group != nil && g.group.unknown == membersUnknown })
}

// isInside says whether all with whom a call communicates are of this job, whoever that is.
func (r *rank) isInside(t *mqs.Thread) bool {
	if t == nil {
		return false
	}
	m := r.member(t.Comm)
	return m != nil && len(m.Peers()) > 0 && !slices.ContainsFunc(m.Peers(), func(g mqs.Maybe[int32]) bool { return !g.Known })
}

// nodes makes the wait-for graph of a job: first its ranks, each of which is
// released with any of its threads, then the groups that are waited for as
// one, then the threads' waits.
func (j *job) nodes() []node {
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
			nodes = append(nodes, j.waitNode(&r.waits[k]))
		}
	}
	return nodes
}

func (j *job) waitNode(w *wait) node {
	if w.free {
		return node{all: true}
	}
	n := node{all: w.all, unknown: w.unknown != "", kids: make([]int32, len(w.goals))}
	for i := range w.goals {
		n.kids[i] = j.nodeOf(&w.goals[i])
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
