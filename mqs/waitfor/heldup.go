package waitfor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Most hangs are no deadlock: one rank computes, sleeps, or is blocked in a system call, and all others wait for it in MPI. Ranks are
// held up if none of those that wait in MPI can be released, even if every rank inside MPI does whatever it can, until a rank outside
// MPI acts. Whether that rank ever acts is unknown, and nothing is claimed about it.

// isHolder reports whether a rank does nothing inside MPI: all of its threads are known to be outside MPI, a signal has
// stopped it, or it can't be stopped since the kernel holds it.
func (r *rank) isHolder() bool {
	p := r.process
	switch {
	case p == nil || r.gone() || areClosed(p):
		return false
	case r.isStopped() || r.isHeld():
		return true
	case p.Signal != "" || len(p.Threads) == 0 || !isPlaced(p):
		return false
	}
	return !slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool { return t.Call != "" })
}

// holders returns the ranks for which ranks may be held up.
func (a *analysis) holders() []int32 {
	return a.which(func(r *rank) bool {
		// Sampled at another moment, a rank that has moved since may have released the others by now.
		return r.isHolder() && !(a.past.Apart && (r.moved || a.past.Looks == 0))
	})
}

// isHeldUp reports whether no rank that waits in MPI can be released until one of the holders acts, and whether each surely can once all
// of them have. It returns the graph of the waits.
func (a *analysis) isHeldUp(holders []int32) (graph *andOr, is, isAll bool) {
	if len(holders) == 0 || a.hasRank(func(r *rank) bool { return r.process == nil || r.mobility == uncertain && !r.isHolder() }) {
		return nil, false, false
	}
	held := a.which(func(r *rank) bool { return r.mobility == waiting && !r.isHolder() })
	if len(held) == 0 {
		return nil, false, false
	}
	graph = a.graph
	if !a.assumeNoTransit && a.doubtsTransit() { // then that graph has the waits as if no message were in transit
		graph = newAndOr(a.nodes(false))
	}
	released := make([]bool, len(graph.nodes))
	isHolder := a.setOf(holders)
	others := make([]int32, 0, len(graph.nodes))
	for i := range graph.nodes {
		if i >= len(a.ranks) || !isHolder[i] {
			others = append(others, int32(i))
		}
	}
	graph.release(others, released, make([]int32, len(graph.nodes)), true)
	if slices.ContainsFunc(held, func(i int32) bool { return released[i] }) {
		return nil, false, false
	}
	released = a.surelyReleasable
	if slices.ContainsFunc(holders, func(h int32) bool { return a.ranks[h].mobility != mobile }) {
		before := make([]mobility, len(holders))
		for i, h := range holders {
			before[i], a.ranks[h].mobility = a.ranks[h].mobility, mobile
		}
		waits := map[int32][]wait{}
		for _, h := range holders {
			waits[h], a.ranks[h].waits = a.ranks[h].waits, nil
		}
		released = newAndOr(a.nodes(true)).releases(false)
		for i, h := range holders {
			a.ranks[h].mobility, a.ranks[h].waits = before[i], waits[h]
		}
	}
	isAll = !slices.ContainsFunc(held, func(i int32) bool { return !released[i] })
	return graph, true, isAll
}

// setOf returns for each rank whether it is one of these.
func (a *analysis) setOf(ranks []int32) []bool {
	out := make([]bool, len(a.ranks))
	for _, r := range ranks {
		out[r] = true
	}
	return out
}

// isUnchanged reports whether the holders are where they were at the previous sample, and the ranks that wait for messages have had
// time to take what had been sent by then. Only a message sent between the two samples may then be in transit.
func (a *analysis) isUnchanged(holders []int32) bool {
	return a.past.Looks > 0 && !slices.ContainsFunc(holders, func(h int32) bool {
		p := a.ranks[h].process
		before := a.past.Earlier[p.PID]
		return before == nil || a.ranks[h].moved || !slices.EqualFunc(p.Threads, before.Threads, isAtSamePlace)
	}) && !a.hasRank(func(r *rank) bool {
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
	isHolder := a.setOf(holders)
	byWords := map[string][]int32{}
	var order []string
	for _, h := range holders {
		if graph.first[h] == graph.first[h+1] {
			continue // nobody waits for it
		}
		words := a.ranks[h].holderWords()
		if byWords[words] == nil {
			order = append(order, words)
		}
		byWords[words] = append(byWords[words], h)
	}
	var out []string
	for _, words := range order {
		ranks, direct := graph.behind(byWords[words], isHolder)
		ranks = slices.DeleteFunc(ranks, func(i int32) bool { return a.ranks[i].mobility != waiting || isHolder[i] })
		if len(ranks) == 0 {
			continue // only holders wait for these
		}
		if len(out) == maxReasons {
			out = append(out, "Others hold up ranks too.")
			break
		}
		slices.Sort(ranks)
		how := ""
		if slices.ContainsFunc(ranks, func(i int32) bool { return !direct[i] }) {
			how = ", directly or through others,"
		}
		out = append(out, fmt.Sprintf("%s %s%s for %s, which %s.", capital(rankWords(ranks)), verb(ranks, "waits", "wait"), how, rankWords(byWords[words]),
			inNumber(words, byWords[words])))
	}
	if len(out) == 0 {
		return "", false
	}
	switch {
	case a.past.Looks > 0 && a.past.Watched > 0:
		out = append(out, fmt.Sprintf("Nothing has moved in the %.1f s that the job was watched.", a.past.Watched.Seconds()))
	case a.past.Looks > 0:
		out = append(out, "Nothing has moved since the previous sample.")
	}
	if uncounted {
		out = append(out, "Not all messages are counted on both sides, so one that is stuck in transit can't be seen.")
	}
	return joined(out...), isAll
}

// behind returns the ranks that wait for some of these ranks, directly or through others that are no holders, and which of them do so
// directly.
func (g *andOr) behind(ranks []int32, isHolder []bool) ([]int32, map[int32]bool) {
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
				case seen[w] || int(w) < len(isHolder) && isHolder[w]:
					continue
				case int(w) < len(isHolder):
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

// The first word of what holders do, for one rank, and for several.
var inPlural = map[string]string{"is": "are", "has": "have", "waits": "wait", polls: "poll", computes: "compute", sleeps: "sleep"}

// inNumber puts what one rank does into the plural where there are several ranks.
func inNumber(words string, ranks []int32) string {
	if len(ranks) < 2 {
		return words
	}
	for one, several := range inPlural {
		if len(words) > len(one) && words[:len(one)+1] == one+" " {
			return several + words[len(one):]
		}
	}
	return words
}

// holderWords says what a holder does, as the rest of a sentence on one rank: "computes in compute (misc.c:8), outside MPI".
func (r *rank) holderWords() string {
	one := []int32{0}
	t := r.thread()
	switch {
	case r.isHeld():
		return "is " + r.holdWords()
	case r.isStopped() && t != nil && t.Call != "":
		return "is stopped by a signal, as by SIGSTOP, in " + callWords(t)
	case r.isStopped():
		return "is stopped by a signal, as by SIGSTOP"
	}
	words := ""
	switch {
	case r.held != nil || r.mobility == uncertain:
		words = blockedWords(t)
		if where := functionAt(t); where != "" {
			words += ", in " + where
		}
	case r.doing().kind == isThere:
		words = r.doing().words(one)
	default:
		words = r.doing().words(one) + ", outside MPI"
	}
	if r.hasNotStarted() {
		return "has not called MPI_Init and " + words
	}
	return words
}

// blockedWords says what a thread outside MPI waits for, as the rest of a sentence: "is blocked in write on a pipe".
func blockedWords(t *mqs.Thread) string {
	if (t.Activity == mqs.Blocks || t.Activity == mqs.InKernel) && t.BlockedIn != "" {
		words := "is blocked in " + t.BlockedIn
		if t.BlockedOn != "" {
			words += " on " + fileWords(t.BlockedOn)
		}
		return words
	}
	return cmp.Or(outsideWords(t), "is blocked")
}

// stoppedFirst says that a job waits for ranks of its deadlocks that a signal has stopped; it is empty if there are none.
func (a *analysis) stoppedFirst() string {
	stopped := a.which(func(r *rank) bool { return r.isStopped() && a.inDeadlock[int32(r.number)] })
	if len(stopped) == 0 {
		return ""
	}
	return fmt.Sprintf("The job waits for %s, which a signal has stopped, as SIGSTOP does.", rankWords(stopped))
}
