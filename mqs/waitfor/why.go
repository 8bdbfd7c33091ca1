package waitfor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// whyIncomplete says what is not known of ranks for which nobody waits; it is empty if all is known.
func (a *analysis) whyIncomplete() string {
	byClause := map[string][]int32{}
	var order []string
	for i := range a.ranks {
		if r := &a.ranks[i]; r.mobility == uncertain || r.process.Phase == "" {
			clause := cmp.Or(a.whyUncertain(int32(i)), phaseUnknown)
			if byClause[clause] == nil {
				order = append(order, clause)
			}
			byClause[clause] = append(byClause[clause], int32(i))
		}
	}
	out := []string{undecidable}
	for i, clause := range order {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("There are %d more reasons of this sort.", len(order)-i))
			break
		}
		out = append(out, fmt.Sprintf("Too little is known of %s: %s.", rankWords(byClause[clause]), clause))
	}
	if !a.worldKnown {
		out = append(out, "How many ranks the job has is not known.")
	}
	if len(out) == 1 {
		return ""
	}
	return strings.Join(out, " ")
}

// whyTransit says why a message may be in transit to deadlocked ranks.
func (a *analysis) whyTransit() string {
	var stopped, idle, uncounted, gone []int32
	mpi := ""
	for i := range a.ranks {
		r := &a.ranks[i]
		switch {
		case !a.inDeadlock[int32(i)] || !slices.ContainsFunc(r.waits, mayEndByTransit):
		case r.isStopped():
			stopped = append(stopped, int32(i))
		case !r.counts():
			uncounted = append(uncounted, int32(i))
			mpi = r.process.MPI
		case a.past.Again && !r.ran:
			idle = append(idle, int32(i))
		default:
			gone = append(gone, int32(i))
		}
	}
	var out []string
	if len(stopped) > 0 {
		out = append(out, fmt.Sprintf("%s %s stopped by a signal and can't take what has come.", capital(rankWords(stopped)), verb(stopped, "is", "are")))
	}
	if len(idle) > 0 {
		out = append(out, fmt.Sprintf("%s %s not run since the first look.", capital(rankWords(idle)), verb(idle, "has", "have")))
	}
	if len(uncounted) > 0 {
		out = append(out, fmt.Sprintf("%s does not count messages, so one that was in transit to %s can't be seen.", orThis(mpi), rankWords(uncounted)))
	}
	if len(gone) > 0 {
		out = append(out, fmt.Sprintf("Not all messages to %s are counted on both sides: a communicator that a rank has freed, or a process that has ended, takes its counts with it.", rankWords(gone)))
	}
	return strings.Join(append(out, "If the job may be alive, let it go on for a moment and look again."), " ")
}

// whyUnproved says why a job in which nothing proves a deadlock is not said to have none: it was not
// seen to get on.
func (a *analysis) whyUnproved() string {
	switch {
	case a.past.Looks == 0:
		return "Nothing proves a deadlock, and one look can't tell whether the job gets on."
	case a.past.Watched == 0:
		return "Nothing proves a deadlock, but nothing has moved since the job was looked at before."
	}
	return fmt.Sprintf("Nothing proves a deadlock, but nothing has moved in the %.1f s that the job was watched.", a.past.Watched.Seconds())
}

func (a *analysis) whyFree(moved []int32) string {
	first := fmt.Sprintf("The job gets on: %s %s moved since the look before.", rankWords(moved), verb(moved, "has", "have"))
	return joined(first, a.whoWaits(), a.whoMoves(a.which(func(r *rank) bool { return canMove(r) && !r.gotOn })))
}

// whyPassed says on what the verdict rests if ranks wait that have got on since the previous look, and the messages for which
// they wait may be in transit.
func (a *analysis) whyPassed(moved, waiting []int32) string {
	out := []string{fmt.Sprintf("The job gets on: %s %s moved since the look before.", rankWords(moved), verb(moved, "has", "have"))}
	if len(waiting) > 0 {
		out = append(out, fmt.Sprintf("%s %s in MPI calls for messages that may be in transit. %s does not count those, but deadlocked ranks would not have moved.",
			capital(rankWords(waiting)), verb(waiting, "waits", "wait"), orThis(a.ranks[waiting[0]].process.MPI)))
	}
	return joined(append(out, a.whoMoves(a.which(func(r *rank) bool { return canMove(r) && !r.gotOn })))...)
}

func canMove(r *rank) bool { return r.mobility == mobile }

func joined(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// whoWaits says which ranks of a job without a deadlock wait in MPI calls.
func (a *analysis) whoWaits() string {
	waits := a.which(func(r *rank) bool { return r.mobility == waiting })
	switch {
	case len(waits) > 0 && a.hasRank(canMove):
		return fmt.Sprintf("%s %s for what can still come.", capital(rankWords(waits)), verb(waits, "waits", "wait"))
	case len(waits) > 0:
		return fmt.Sprintf("%s %s in MPI calls that are about to go on: what they wait for has come, or is on its way.",
			capital(rankWords(waits)), verb(waits, "is", "are"))
	case !a.hasRank((*rank).isInCall):
		return "No rank waits in an MPI call."
	}
	return ""
}

// What a rank that can move may do.
const (
	polls    = "polls"
	computes = "computes"
	sleeps   = "sleeps"
	isThere  = "is"
	isInside = "is now"
)

// doing is what a rank that can move does, and where, as the rest of a sentence.
type doing struct{ kind, where string }

func (d doing) words(ranks []int32) string {
	switch d.kind {
	case isThere:
		return verb(ranks, "is ", "are ") + d.where
	case isInside:
		return verb(ranks, "is now ", "are now ") + d.where
	}
	return verb(ranks, d.kind, strings.TrimSuffix(d.kind, "s")) + " " + d.where
}

// doing returns what a rank that can move does.
func (r *rank) doing() doing {
	t := r.thread()
	if t == nil {
		return doing{isThere, "somewhere that is not known"}
	}
	where := cmp.Or(functionAt(t), "a place that is not known")
	switch {
	case isPoll(t.Call):
		return doing{polls, "in " + callWords(t)}
	case t.Call != "":
		return doing{isInside, "in " + callWords(t)}
	case t.Activity == mqs.Sleeps:
		return doing{sleeps, "in " + where}
	case t.Activity == mqs.Computes && r.polled != "":
		return doing{polls, "with " + r.polled + ", now in " + where}
	case t.Activity == mqs.Computes:
		return doing{computes, "in " + where}
	}
	return doing{isThere, "in " + where + ", in no MPI call"}
}

// whoMoves says what ranks that can move do, and where.
func (a *analysis) whoMoves(ranks []int32) string {
	byDoing := map[doing][]int32{}
	var order []doing
	for _, i := range ranks {
		d := a.ranks[i].doing()
		if byDoing[d] == nil {
			order = append(order, d)
		}
		byDoing[d] = append(byDoing[d], i)
	}
	var out []string
	for i, d := range order {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("Others are at %d more places.", len(order)-i))
			break
		}
		out = append(out, capital(rankWords(byDoing[d]))+" "+d.words(byDoing[d])+".")
	}
	return strings.Join(out, " ")
}
