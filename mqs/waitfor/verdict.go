package waitfor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// maxReasons bounds how many reasons a verdict gives.
const maxReasons = 4

// Sentences of verdicts on ranks of which something is not known.
const (
	undecidable = "Whether the job hangs can't be told."
	lookAgain   = "Let the job go on for a moment, and look again."
)

// verdict returns the verdict, and what it rests on.
func (a *analysis) verdict() (Verdict, string) {
	v, why := a.verdictOnLook()
	if v == Unknown && a.isSettled() {
		return NoDeadlock, a.whySettled(why)
	}
	return v, why
}

// verdictOnLook is the verdict by what is known of the ranks as they are now.
func (a *analysis) verdictOnLook() (Verdict, string) {
	switch {
	case len(a.deadlocks) > 0 && a.assumeNoTransit:
		return DeadlockedUnless, joined(a.stoppedFirst(), a.whyDeadlock(), a.whyTransit())
	case len(a.deadlocks) > 0:
		if loops := a.loops(); len(loops) > 0 {
			return DeadlockedUnlessPollingEnds, a.whyDeadlock() + " " + a.whyPolling(loops)
		}
		return Deadlocked, a.whyDeadlock()
	case a.worldKnown && !a.hasRank(func(r *rank) bool { return !r.gone() }):
		return NoDeadlock, "The job is over: all ranks have left MPI."
	case !a.hasRank(func(r *rank) bool { return r.process != nil && !r.unreadable() || r.mobility != uncertain }):
		return Unknown, joined("Nothing could be read of any rank.", a.whoIsUnstoppable())
	}
	moved := a.which(func(r *rank) bool { return r.gotOn })
	heldUp, isAll := "", false
	if len(moved) == 0 {
		heldUp, isAll = a.heldUp()
	}
	if isAll {
		return HeldUp, heldUp
	}
	if a.isStarting() {
		return a.unproved(), joined(a.whoStarts(), a.whyUnproved())
	}
	open := a.mayHang()
	passed := a.passed && !slices.ContainsFunc(open, func(i int32) bool { return !a.ranks[i].gotOn })
	if len(open) > 0 && !passed {
		return Unknown, joined(heldUp, a.whyUnknown(open))
	}
	if lacks := a.whyIncomplete(); lacks != "" {
		return Unknown, joined(heldUp, lacks)
	}
	if len(moved) == 0 {
		return a.unproved(), joined(a.whyUnproved(), cmp.Or(a.whoAwaits(), joined(a.whoWaits(), a.whoMoves(a.which(canMove)))))
	}
	// Ranks that can move, as far as known, need not.
	if obscure := a.which(func(r *rank) bool { return r.mobility == mobile && r.doing().kind == isThere }); len(obscure) > 0 {
		return Unknown, fmt.Sprintf(undecidable+" %s %s got on, but what %s %s is not known. %s",
			capital(rankWords(moved)), verb(moved, "has", "have"), rankWords(obscure), verb(obscure, "does", "do"), a.whoMoves(obscure))
	}
	if passed {
		return NoDeadlock, a.whyPassed(moved, open)
	}
	return NoDeadlock, a.whyFree(moved)
}

// unproved is the verdict on a job in which nothing proves a deadlock and nothing has moved.
func (a *analysis) unproved() Verdict {
	if a.past.Looks == 0 {
		return Undecided
	}
	return NoProgress
}

// isStarting says whether MPI_Init has not returned on any rank.
func (a *analysis) isStarting() bool {
	return a.worldKnown && !a.hasRank(func(r *rank) bool { return r.process == nil || r.process.Phase != mqs.Starting })
}

func (j *job) hasRank(is func(r *rank) bool) bool {
	for i := range j.ranks {
		if is(&j.ranks[i]) {
			return true
		}
	}
	return false
}

// which returns the ranks of which something is true.
func (j *job) which(is func(r *rank) bool) []int32 {
	var out []int32
	for i := range j.ranks {
		if is(&j.ranks[i]) {
			out = append(out, int32(i))
		}
	}
	return out
}

func (a *analysis) whyDeadlock() string {
	var out []string
	for i, d := range a.deadlocks {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("There are %d more deadlocks.", len(a.deadlocks)-i))
			break
		}
		who, last := capital(rankWords(d.Ranks)), d.Cycle[len(d.Cycle)-1]
		switch {
		case a.ranks[last.For].gone():
			out = append(out, fmt.Sprintf("%s %s for rank %d, which %s.", who, verb(d.Ranks, "waits", "wait"), last.For, a.now(last.For)))
		case len(d.Ranks) == 1 && last.Call == "" && a.ranks[last.For].process != nil && areClosed(a.ranks[last.For].process):
			text := "The threads of %s wait for each other, outside of MPI."
			if len(a.ranks[last.For].process.Threads) == 1 {
				text = "The thread of %s waits for itself, outside of MPI."
			}
			out = append(out, fmt.Sprintf(text, rankWords(d.Ranks)))
		case len(d.Ranks) == 1:
			out = append(out, fmt.Sprintf("%s waits for itself.", who))
		default:
			out = append(out, fmt.Sprintf("%s wait for each other, and no rank that can still move can release them.", who))
		}
	}
	var stuck []int32
	for i := range a.ranks {
		if a.hangs(int32(i)) && !a.inDeadlock[int32(i)] {
			stuck = append(stuck, int32(i))
		}
	}
	if len(stuck) > 0 {
		out = append(out, fmt.Sprintf("%s %s for them without being part of it.", capital(rankWords(stuck)), verb(stuck, "waits", "wait")))
	}
	return strings.Join(out, " ")
}

// reason says why the hanging of ranks can't be decided.
type reason struct {
	ranks  []int32
	clause string
}

// whyUnknown says what is missing for a verdict on the ranks that may hang.
func (a *analysis) whyUnknown(open []int32) string {
	index := map[string]*reason{}
	var order []*reason
	add := func(rank int32, clause string) {
		r := index[clause]
		if r == nil {
			r = &reason{clause: clause}
			index[clause] = r
			order = append(order, r)
		}
		if n := len(r.ranks); n == 0 || r.ranks[n-1] != rank {
			r.ranks = append(r.ranks, rank)
		}
	}
	for _, rank := range open {
		for i := range a.ranks[rank].waits {
			a.eachDoubt(&a.ranks[rank].waits[i], func(clause string) { add(rank, clause) })
		}
	}
	out := []string{undecidable}
	for i, r := range order {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("There are %d more reasons of this sort.", len(order)-i))
			break
		}
		out = append(out, capital(rankWords(r.ranks))+" "+verb(r.ranks, "waits", "wait")+" "+r.clause+".")
	}
	if len(order) == 0 {
		out = append(out, a.whyIncomplete())
	}
	if a.moving(open) {
		out = append(out, lookAgain)
	}
	return strings.Join(out, " ")
}

// moving says whether something was on its way to a rank that may hang.
func (a *analysis) moving(open []int32) bool {
	return a.isUnknown(open, arrivingUnknown, partUnknown, comingUnknown, progressUnknown)
}

// passing says whether something unknown may be known at the next look: where a rank is inside its
// call differs from look to look, and with it what can be shown to belong to the call.
func (a *analysis) passing(open []int32) bool {
	return a.isUnknown(open, ownUnknown, requestsUnknown, placeUnknown, targetUnknown, holderUnknown)
}

// isUnknown says whether one of these clauses says what is not known of one of the ranks.
func (a *analysis) isUnknown(ranks []int32, clauses ...string) bool {
	return slices.ContainsFunc(ranks, func(r int32) bool {
		return slices.ContainsFunc(a.ranks[r].waits, func(w wait) bool { return slices.Contains(clauses, w.unknown) || slices.Contains(clauses, w.unsure) })
	})
}

// eachDoubt calls f with each thing that is not known of a wait, as a clause.
func (a *analysis) eachDoubt(w *wait, f func(clause string)) {
	where := ""
	if w.thread != nil {
		where = "in " + callWords(w.thread) + " "
	}
	if w.unknown != "" {
		f(cmp.Or(strings.TrimSuffix(where, " "), "somewhere") + ": " + w.unknown)
	}
	if w.unsure != "" && w.unsure != ownUnknown {
		f(cmp.Or(strings.TrimSuffix(where, " "), "somewhere") + ": " + w.unsure)
	}
	if w.someOf {
		f(cmp.Or(strings.TrimSuffix(where, " "), "somewhere") + ": " + ownUnknown)
	}
	for i := range w.deps {
		switch g := &w.deps[i]; {
		case g.rank >= 0:
			if a.ranks[g.rank].mobility == uncertain {
				f(fmt.Sprintf("%sfor rank %d, %s", where, g.rank, a.whichUncertain(g.rank)))
			}
		default:
			if g.set.someOf {
				f(cmp.Or(strings.TrimSuffix(where, " "), "somewhere") + ": " + someUnknown)
			}
			if r := a.uncertainRank(g.set); r >= 0 {
				f(fmt.Sprintf("%sfor rank %d, %s", where, r, a.whichUncertain(r)))
			}
		}
	}
}

// uncertainRank returns the first rank of a set of which too little is known; -1 if there is none.
func (a *analysis) uncertainRank(g *rankSet) int32 {
	if r, ok := a.uncertainRanks[g]; ok {
		return r
	}
	r := int32(-1)
	if at := slices.IndexFunc(g.ranks, func(r int32) bool { return a.ranks[r].mobility == uncertain }); at >= 0 {
		r = g.ranks[at]
	}
	a.uncertainRanks[g] = r
	return r
}

// whyUncertain says why too little is known of a rank.
func (a *analysis) whyUncertain(rank int32) string {
	return strings.TrimSuffix(a.ranks[rank].doubt, ".")
}

// doubts returns sentences on what the report can't tell.
func (a *analysis) doubts() []string {
	var out []string
	threads := a.which(func(r *rank) bool { return r.mobility == mobile && r.isInCall() })
	if len(threads) > 0 {
		out = append(out, fmt.Sprintf("%s %s a thread that waits in an MPI call and others that are in none or in one that does not wait: as long as those run, they may release it.",
			capital(rankWords(threads)), verb(threads, "has", "have")))
	}
	out = append(out, a.lockNotes()...)
	if stopped := a.which((*rank).isStopped); len(stopped) > 0 {
		out = append(out, fmt.Sprintf("%s %s stopped by a signal, as by SIGSTOP, and %s nothing until SIGCONT lets %s go on.",
			capital(rankWords(stopped)), verb(stopped, "is", "are"), verb(stopped, "does", "do"), verb(stopped, "it", "them")))
	}
	out = append(out, a.unstoppableNotes()...)
	out = append(out, a.unsent()...)
	return append(out, a.ends()...)
}

// orThis names an MPI.
func orThis(mpi string) string {
	if mpi == "" {
		return "This MPI"
	}
	return mpi
}
