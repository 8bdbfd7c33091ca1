package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Most hangs are no deadlock: one rank computes, sleeps, or is blocked in a system call, and all others wait for it in MPI. Ranks are
// held up if none of those that wait in MPI can be released, even if every rank inside MPI does whatever it can, until a rank outside
// MPI acts. Whether that rank ever acts is unknown, and nothing is claimed about it.

// uncountedCaveat says on what a claim rests that no message is in transit.
const uncountedCaveat = "Not all messages are counted on both sides, so a message that is stuck in transit would not be noticed."

// isHolder reports whether a rank does nothing inside MPI: all of its threads are known to be outside MPI, a signal has stopped it, or the
// kernel lets it do nothing. One that accesses other ranks' memory in a loop is as good as outside. A rank that another debugger traces may run.
func (r *rank) isHolder() bool {
	p := r.process
	switch {
	case p == nil || r.gone() || areClosed(p):
		return false
	case r.isStopped() || r.isUnstoppable() && (p.Hold == mqs.Unwakeable || p.Hold == mqs.Frozen):
		return true
	case p.Signal != "" || len(p.Threads) == 0 || !isPlaced(p):
		return false
	case r.isLooping():
		return true
	}
	return !slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool { return t.Call != "" })
}

// isOutside reports whether a rank holds up others and is in no MPI call.
func (r *rank) isOutside() bool {
	return r.mobility != waiting && r.isHolder() && !slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return t.Call != "" })
}

// holders returns the ranks that may hold up others.
func (a *analysis) holders() []int32 {
	return a.which(func(r *rank) bool {
		// Sampled at another moment, a rank that has moved since may have released the others by now.
		return r.isHolder() && (!a.past.Apart || !r.moved && a.past.Looks > 0)
	})
}

// isHeldUp reports whether no rank that waits in MPI can be released before a holder acts, and whether each of them surely can go on once
// all holders have acted. It returns the wait-for graph in which holders are never released.
func (a *analysis) isHeldUp(holders []int32) (graph *andOr, is, isAll bool) {
	if len(holders) == 0 || a.hasRank(func(r *rank) bool { return r.process == nil || r.mobility == uncertain && !r.isHolder() }) {
		return nil, false, false
	}
	held := a.which(func(r *rank) bool { return r.mobility == waiting && !r.isHolder() })
	if len(held) == 0 {
		return nil, false, false
	}
	if graph, is = a.holdUp(holders); !is {
		return nil, false, false
	}
	released := a.graphWith(holders, true, node{all: true}).releases(false)
	return graph, true, !slices.ContainsFunc(held, func(i int32) bool { return !released[i] })
}

// graphWith returns the wait-for graph, with n in place of the nodes of the holders. worst is as for nodes.
func (a *analysis) graphWith(holders []int32, worst bool, n node) *andOr {
	nodes := a.nodes(worst)
	for _, h := range holders {
		nodes[h] = n
	}
	return newAndOr(nodes)
}

// isUnchanged reports whether the holders are where they were at the previous sample, and the ranks that wait for messages have had
// time to take what had been sent by then. Only a message sent between the two samples may then be in transit.
func (a *analysis) isUnchanged(holders []int32) bool {
	return a.past.Looks > 0 && !slices.ContainsFunc(holders, func(h int32) bool {
		p := a.ranks[h].process
		before := a.past.Earlier[p.PID]
		return before == nil || !a.ranks[h].isLooping() && (a.ranks[h].moved || !slices.EqualFunc(p.Threads, before.Threads, isAtSamePlace))
	}) && !a.mayTransit()
}

// mayTransit reports whether a rank may wait for a message that is in transit, because it has had no time to take it.
func (a *analysis) mayTransit() bool {
	return a.hasRank(func(r *rank) bool {
		return r.mobility == waiting && !r.isStopped() && !r.confirmed && slices.ContainsFunc(r.waits, mayEndByTransit)
	})
}

// isAtSamePlace reports whether two samples of a thread show the same place in the program.
func isAtSamePlace(a, b mqs.Thread) bool {
	return a.Number == b.Number && a.Call == b.Call && a.Function == b.Function && a.File == b.File && a.Line == b.Line && slices.Equal(a.Callers, b.Callers)
}

// heldUp returns why the ranks that wait in MPI are held up; it is empty if they are not known to be. isAll is
// true if it is also known that each of them can go on once the holders act.
func (a *analysis) heldUp() (why string, isAll bool) {
	holders := a.holders()
	graph, is, isAll := a.isHeldUp(holders)
	uncounted := !is && a.isUnchanged(holders)
	if uncounted {
		a.assumeNoTransit = true
		graph, is, isAll = a.isHeldUp(holders)
		a.assumeNoTransit = false
	}
	if !is {
		return "", false
	}
	// Where others have left MPI_Init, a rank has called it, too, and has then executed another program.
	isStart := !a.hasRank((*rank).hasLeftInit)
	out := a.waitersOf(graph, holders, func(of []int32) string { return a.holderWords(of, isStart) })
	if len(out) == 0 {
		return "", false
	}
	nothing := "Nothing"
	if slices.ContainsFunc(holders, func(h int32) bool { return a.ranks[h].isLooping() }) {
		nothing = "Nothing else"
	}
	switch {
	case a.past.Looks > 0 && a.past.Watched > 0:
		out = append(out, fmt.Sprintf("%s has moved in the %.1f s that the job was watched.", nothing, a.past.Watched.Seconds()))
	case a.past.Looks > 0:
		out = append(out, nothing+" has moved since the previous sample.")
	}
	if uncounted {
		out = append(out, uncountedCaveat)
	}
	return joined(out...), isAll
}

// waitersOf says which ranks wait for the holders, in one sentence for all holders that words describes alike. graph is the wait-for graph.
func (a *analysis) waitersOf(graph *andOr, holders []int32, words func(of []int32) string) []string {
	byWords := map[string][]int32{}
	var order []string
	for _, h := range holders {
		if graph.first[h] == graph.first[h+1] {
			continue // nobody waits for it
		}
		does := words([]int32{h})
		if byWords[does] == nil {
			order = append(order, does)
		}
		byWords[does] = append(byWords[does], h)
	}
	var out []string
	for _, does := range order {
		of := byWords[does]
		ranks, direct := graph.behind(of, len(a.ranks))
		ranks = slices.DeleteFunc(ranks, func(i int32) bool { return a.ranks[i].mobility != waiting })
		if len(ranks) == 0 {
			continue
		}
		if len(out) == maxReasons {
			return append(out, "Ranks wait for others, too, which are not listed.")
		}
		slices.Sort(ranks)
		how := ""
		if slices.ContainsFunc(ranks, func(i int32) bool { return !direct[i] }) {
			how = ", directly or through others,"
		}
		out = append(out, fmt.Sprintf("%s %s%s for %s, which %s.", capital(rankWords(ranks)), verb(ranks, "waits", "wait"), how, rankWords(of), words(of)))
	}
	return out
}

// whoAwaits says which ranks wait for those that can move, and what the latter do. It is empty at the first sample, if no rank can move, if
// a rank that waits may go on without them, or if no rank waits for one of them.
func (a *analysis) whoAwaits() string {
	moving := a.which(canMove)
	if a.past.Looks == 0 || len(moving) == 0 {
		return ""
	}
	graph, hold := a.holdUp(moving)
	caveat := ""
	if !hold && a.isUnchanged(moving) && !a.hasRank(func(r *rank) bool { return r.mobility == waiting && r.isStopped() }) {
		a.assumeNoTransit = true
		graph, hold = a.holdUp(moving)
		a.assumeNoTransit = false
		caveat = uncountedCaveat
	}
	if !hold || slices.ContainsFunc(moving, func(m int32) bool { return graph.first[m] == graph.first[m+1] }) {
		return ""
	}
	return joined(append(a.waitersOf(graph, moving, func(of []int32) string { return a.ranks[of[0]].doing().words(of) }), caveat)...)
}

// holdUp reports whether no rank that waits can be released before one of these acts. It returns the wait-for graph in which these are
// never released.
func (a *analysis) holdUp(ranks []int32) (graph *andOr, is bool) {
	graph = a.graphWith(ranks, false, node{})
	released := graph.releases(true)
	return graph, !a.hasRank(func(r *rank) bool { return r.mobility == waiting && !r.isHolder() && released[r.number] })
}

// behind returns the ranks, which are the first n nodes, that wait for some of these ranks, directly or through others, and which of them
// do so directly.
func (g *andOr) behind(ranks []int32, n int) ([]int32, map[int32]bool) {
	seen, direct := make([]bool, len(g.nodes)), map[int32]bool{}
	var out []int32
	next := slices.Clone(ranks)
	for _, r := range ranks {
		seen[r] = true
	}
	for isDirect := true; len(next) > 0; isDirect = false {
		var reached []int32
		for len(next) > 0 {
			node := next[len(next)-1]
			next = next[:len(next)-1]
			for _, w := range g.waiters[g.first[node]:g.first[node+1]] {
				switch {
				case seen[w]:
					continue
				case int(w) < n:
					out, reached = append(out, w), append(reached, w)
					direct[w] = isDirect
				default:
					next = append(next, w)
				}
				seen[w] = true
			}
		}
		next = reached
	}
	return out, direct
}

// holderWords says what holders do that do the same, as the rest of a sentence: "computes in compute (misc.c:8), outside MPI".
// isStart is true if MPI_Init has returned on no rank.
func (a *analysis) holderWords(holders []int32, isStart bool) string {
	r := &a.ranks[holders[0]]
	t := r.thread()
	is := verb(holders, "is ", "are ")
	switch {
	case r.isUnstoppable():
		return is + r.holdWords()
	case r.isStopped() && t != nil && t.Call != "":
		return is + "stopped by a signal such as SIGSTOP, in " + callWords(t)
	case r.isStopped():
		return is + "stopped by a signal such as SIGSTOP"
	case r.isLooping():
		return a.loopWords(r, holders)
	}
	words := ""
	switch {
	case r.mobility == uncertain:
		words = blockedWords(t, holders)
		if where := functionAt(t); where != "" {
			words += ", in " + where
		}
	case r.doing().kind == isThere:
		words = r.doing().words(holders)
	default:
		words = r.doing().words(holders) + ", outside MPI"
	}
	if isStart && r.hasNotStarted() {
		return verb(holders, "has", "have") + " not called MPI_Init and " + words
	}
	return words
}

// blockedWords says what threads like this one of ranks wait for outside MPI, as the rest of a sentence: "is blocked in write on a pipe".
func blockedWords(t *mqs.Thread, ranks []int32) string {
	if (t.Activity == mqs.Blocks || t.Activity == mqs.InKernel) && t.BlockedIn != "" {
		words := verb(ranks, "is", "are") + " blocked in " + t.BlockedIn
		if t.BlockedOn != "" {
			words += " on " + fileWords(t.BlockedOn)
		}
		return words
	}
	does, what, _ := strings.Cut(outsideWords(t), " ") // "waits for a lock" or "is in the kernel"
	if does == "is" {
		return verb(ranks, "is ", "are ") + what
	}
	return verb(ranks, "waits ", "wait ") + what
}

// stoppedFirst says that a job waits for ranks of its deadlocks that a signal has stopped; it is empty if there are none.
func (a *analysis) stoppedFirst() string {
	stopped := a.which(func(r *rank) bool { return r.isStopped() && a.inDeadlock[r.number] })
	if len(stopped) == 0 {
		return ""
	}
	return fmt.Sprintf("The job waits for %s, which %s stopped by a signal such as SIGSTOP.", rankWords(stopped), verb(stopped, "is", "are"))
}
