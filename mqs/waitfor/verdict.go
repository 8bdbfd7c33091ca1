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

// verdict says whether the job hangs in itself, and what that rests on.
func (a *analysis) verdict() (Verdict, string) {
	if len(a.locks) > 0 {
		return Deadlocked, a.whyDeadlock()
	}
	if open := a.mayHang(); len(open) > 0 {
		return Unknown, a.whyUnknown(open)
	}
	if !slices.ContainsFunc(a.ranks, func(r rank) bool { return r.mobility != uncertain }) {
		return Unknown, "Nothing could be read of any rank."
	}
	return Free, a.whyFree()
}

func (a *analysis) whyDeadlock() string {
	var out []string
	for i, d := range a.locks {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("There are %d more deadlocks.", len(a.locks)-i))
			break
		}
		who, last := capital(rankWords(d.Ranks)), d.Cycle[len(d.Cycle)-1]
		switch {
		case a.ranks[last.For].gone():
			out = append(out, fmt.Sprintf("%s %s for rank %d, which %s.", who, verb(d.Ranks, "waits", "wait"), last.For, a.now(last.For)))
		case len(d.Ranks) == 1:
			out = append(out, fmt.Sprintf("%s waits for itself.", who))
		default:
			out = append(out, fmt.Sprintf("%s wait for each other, and no rank that can still move can release them.", who))
		}
	}
	var stuck []int32
	for i := range a.ranks {
		if a.hangs(int32(i)) && !a.locked[int32(i)] {
			stuck = append(stuck, int32(i))
		}
	}
	if len(stuck) > 0 {
		out = append(out, fmt.Sprintf("%s %s for them without being part of it.", capital(rankWords(stuck)), verb(stuck, "waits", "wait")))
	}
	return strings.Join(out, " ")
}

func (a *analysis) whyFree() string {
	var waits, moves []int32
	for i := range a.ranks {
		switch a.ranks[i].mobility {
		case waiting:
			waits = append(waits, int32(i))
		case free:
			moves = append(moves, int32(i))
		}
	}
	beside := ""
	if missing := a.missing(); len(missing) > 0 {
		var ranks []int32
		for _, m := range missing {
			ranks = append(ranks, m.Rank)
		}
		beside = fmt.Sprintf(" Nothing is known of %s, but no rank waits for %s.", rankWords(ranks), verb(ranks, "it", "them"))
	}
	switch {
	case len(waits) == 0:
		return "No rank waits in an MPI call." + beside
	case len(moves) == 0:
		return fmt.Sprintf("%s %s in MPI calls that are about to go on: what they wait for has come, or is on its way.",
			capital(rankWords(waits)), verb(waits, "is", "are")) + beside
	}
	return fmt.Sprintf("%s %s, but for what can still come: %s %s.", capital(rankWords(waits)), verb(waits, "waits", "wait"),
		rankWords(moves), verb(moves, a.now(moves[0]), "can move")) + beside
}

// reason is why ranks can't be judged.
type reason struct {
	ranks  []int32
	clause string
}

// whyUnknown says what is missing for a verdict on ranks that may hang.
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
	out := []string{"Whether the job hangs can't be told."}
	for i, r := range order {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("There are %d more reasons of this sort.", len(order)-i))
			break
		}
		out = append(out, capital(rankWords(r.ranks))+" "+verb(r.ranks, "waits", "wait")+" "+r.clause+".")
	}
	if a.moving(open) {
		out = append(out, "Let the job go on for a moment, and look again.")
	}
	return strings.Join(out, " ")
}

// doubted says whether ranks may hang that a second look would tell of: see [Look].
func (a *analysis) doubted() bool {
	return slices.ContainsFunc(a.ranks, func(r rank) bool {
		return slices.ContainsFunc(r.waits, func(w wait) bool { return w.unknown == wayUnknown })
	})
}

// moving says whether something that may hang was seen on its way.
func (a *analysis) moving(open []int32) bool {
	return slices.ContainsFunc(open, func(r int32) bool {
		return slices.ContainsFunc(a.ranks[r].waits, func(w wait) bool {
			return w.unknown == arrivingUnknown || w.unknown == progressUnknown || w.unknown == wayUnknown
		})
	})
}

// eachDoubt calls f with what is not known of what a thread waits for.
func (a *analysis) eachDoubt(w *wait, f func(clause string)) {
	where := ""
	if w.thread != nil {
		where = "in " + callWords(w.thread) + " "
	}
	if w.unknown != "" {
		f(cmp.Or(strings.TrimSuffix(where, " "), "somewhere") + ": " + w.unknown)
	}
	for i := range w.goals {
		switch g := &w.goals[i]; {
		case g.rank >= 0:
			if a.ranks[g.rank].mobility == uncertain {
				f(fmt.Sprintf("%sfor rank %d, of which too little is known: %s", where, g.rank, a.whyUncertain(g.rank)))
			}
		default:
			if r := a.doubtful(g.group); r >= 0 {
				f(fmt.Sprintf("%sfor rank %d, of which too little is known: %s", where, r, a.whyUncertain(r)))
			}
		}
	}
}

// doubtful is the first rank of a group of which too little is known, -1 if there is none.
func (a *analysis) doubtful(g *group) int32 {
	if r, ok := a.unsure[g]; ok {
		return r
	}
	r := int32(-1)
	if at := slices.IndexFunc(g.ranks, func(r int32) bool { return a.ranks[r].mobility == uncertain }); at >= 0 {
		r = g.ranks[at]
	}
	a.unsure[g] = r
	return r
}

// whyUncertain is why nothing is known of a rank.
func (a *analysis) whyUncertain(rank int32) string {
	switch p := a.ranks[rank].process; {
	case p == nil:
		return "it is " + notLookedAt
	case p.Unavailable != "":
		return strings.TrimSuffix(p.Unavailable, ".")
	}
	return placeUnknown
}

// doubts are sentences on what the report can't see.
func (a *analysis) doubts() []string {
	var out []string
	var threads, uncounted []int32
	mpi := ""
	for i := range a.ranks {
		r := &a.ranks[i]
		if r.process == nil {
			continue
		}
		waits := func(t mqs.Thread) bool { return behaviours[t.Call] != goesOn }
		if r.mobility == free && slices.ContainsFunc(r.process.Threads, waits) {
			threads = append(threads, int32(i))
		}
		if a.locked[int32(i)] && !r.process.Arriving.Known && !r.confirmed && r.receives() && !r.counts() {
			uncounted = append(uncounted, int32(i))
			mpi = r.process.MPI
		}
	}
	if len(threads) > 0 {
		out = append(out, fmt.Sprintf("%s %s a thread that waits in an MPI call and others that are in none or in one that does not wait: as long as those run, they may release it.",
			capital(rankWords(threads)), verb(threads, "has", "have")))
	}
	if len(uncounted) > 0 {
		out = append(out, fmt.Sprintf("%s does not count messages, so one that was on its way to %s when the processes were stopped can't be seen: if the job may be alive, let it go on for a moment and look again.",
			orThis(mpi), rankWords(uncounted)))
	}
	return out
}

// receives says whether a rank waits for a message. One that waits for a receiver does so
// for a message that has been seen there.
func (r *rank) receives() bool {
	return slices.ContainsFunc(r.waits, func(w wait) bool {
		return slices.ContainsFunc(w.goals, func(g goal) bool { return g.class != mqs.PendingSends })
	})
}

// orThis names an MPI.
func orThis(mpi string) string {
	if mpi == "" {
		return "This MPI"
	}
	return mpi
}
