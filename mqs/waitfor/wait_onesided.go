package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Clauses that say what is not known of a wait in one-sided communication.
const (
	windowUnknown  = "the window that it works on is not known"
	targetUnknown  = "whose memory it wants to lock is not known"
	holderUnknown  = "who has the lock can't be told"
	accessUnknown  = "how far its accesses have come can't be told"
	postedUnknown  = "whether the posts of the ranks that it starts with are for this epoch can't be told"
	startUnknown   = "the ranks that it starts with are not known"
	exposedUnknown = "the ranks that it waits for are not known"
)

// maxNamed bounds the ranks that one wait in one-sided communication names one by one.
const maxNamed = 256

// access is a thread's call in one-sided communication.
type access struct {
	*job
	r     *rank
	t     *mqs.Thread
	win   *window
	local int32       // the rank's place in the window
	part  *windowPart // and its side of it
}

// waitInAccess is the wait of a thread in a call of one-sided communication that is no collective.
func (j *job) waitInAccess(r *rank, t *mqs.Thread) wait {
	win, local := j.windowOf(r, t)
	if win == nil || !win.parts[local].isRead() {
		return wait{thread: t, unknown: windowUnknown}
	}
	a := access{j, r, t, win, local, &win.parts[local]}
	switch t.Call {
	case "MPI_Win_lock", "MPI_Win_lock_all":
		return a.waitForLock()
	case "MPI_Win_start":
		return a.waitForPosts()
	case "MPI_Win_complete":
		if e := a.part.epoch(mqs.StartEpoch); e != nil && e.Granted == mqs.Known(false) {
			return a.waitForPosts()
		}
	case "MPI_Win_wait":
		return a.waitForAccesses()
	default:
		if asked := a.part.asked(); len(asked) > 0 && (!t.Target.Known || slices.Contains(asked, t.Target.Value)) {
			return a.waitForLock()
		}
	}
	return a.waitForTargets()
}

// on is a dependency on a member of the window, for what is said in words.
func (a *access) on(local int32, words string, isSure bool) dependency {
	g := dependency{rank: -1, words: words + " in " + a.win.comm.label()}
	if p := &a.win.parts[local]; p.rank != nil {
		g.rank = p.rank.number
		stay := a.r.confirmed && (p.rank.confirmed || p.rank.gone())
		g.transit = !isSure && !stay
	}
	// A library that has just been asked may not have answered yet.
	g.transit = g.transit || a.past.Again && !a.r.confirmed
	return g
}

// waitOn is a wait for dependencies, of which those are left out whose ranks are not known.
func (a *access) waitOn(all bool, deps []dependency, unknown string) wait {
	w := wait{thread: a.t, all: all, unknown: unknown}
	for _, g := range deps {
		switch {
		case g.rank < 0:
			w.unknown = membersUnknown
		case len(w.deps) == maxNamed && !all:
			w.unknown = manyUnknown
		case len(w.deps) < maxNamed:
			w.deps = append(w.deps, g)
		}
	}
	return w
}

// waitForLock is the wait for a lock: for those that have a lock with which it can't be had. If no such lock is
// certain, it is for one of those that may have it, as are those of whose epochs nothing is known.
func (a *access) waitForLock() wait {
	isAll := a.t.Call == "MPI_Win_lock_all"
	targets, isGuess := a.targets()
	if len(targets) == 0 && !isAll {
		return wait{thread: a.t, unknown: targetUnknown}
	}
	var sure, maybe []dependency
	seen := map[int32]bool{}
	without := false
	words := a.lockWords(targets)
	for _, target := range targets {
		own, others := a.holders(target, words)
		if len(own) == 0 && len(others) == 0 {
			without = true // of these targets, it may be the one that it is about to get
		}
		sure, maybe = a.join(sure, own, seen), a.join(maybe, others, seen)
	}
	if isAll {
		sure, maybe, without = a.holdersOfAny()
	}
	if len(sure) > 0 && !without && (isAll || len(targets) == 1) {
		return a.waitOn(true, sure, "")
	}
	deps, unknown := slices.Concat(sure, maybe), ""
	switch {
	case without && len(targets) == 1 && !isGuess && a.isGranter(targets[0]):
		deps = []dependency{a.on(targets[0], words, false)}
	case without && isGuess:
		unknown = targetUnknown
	case without:
		unknown = holderUnknown
	}
	for i := range a.win.parts {
		switch p := &a.win.parts[i]; {
		case p.isRead() || int32(i) == a.local || p.rank != nil && p.rank.gone():
		case p.rank != nil && p.rank.in(finalize):
			deps = append(deps, a.on(int32(i), words, false)) // if it has the lock, it keeps it
		case p.rank == nil || p.rank.mobility == uncertain:
			deps = append(deps, a.on(int32(i), words, false))
			unknown = "" // that so little is known of the rank says more
		default:
			unknown = holderUnknown
		}
	}
	if unknown == holderUnknown {
		unknown += candidateWords(deps)
	}
	return a.waitOn(false, deps, unknown)
}

// candidateWords names the ranks of dependencies that may have a lock, as the rest of a sentence.
func candidateWords(deps []dependency) string {
	var ranks []int32
	for _, g := range deps {
		if g.rank >= 0 {
			ranks = append(ranks, g.rank)
		}
	}
	if len(ranks) == 0 {
		return ""
	}
	slices.Sort(ranks)
	return fmt.Sprintf(" (%s may have it)", rankWords(slices.Compact(ranks)))
}

// isGranter reports whether a free lock can only wait for its target, which is outside MPI: the call has been asking for the lock since
// the previous sample.
func (a *access) isGranter(target int32) bool {
	if target < 0 || int(target) >= len(a.win.parts) {
		return false
	}
	p := &a.win.parts[target]
	return a.r.same && a.r.ran && p.rank != nil && p.rank.mobility == mobile && !p.rank.in(a.t.Call)
}

// join adds dependencies on ranks on which there is none yet.
func (a *access) join(to, more []dependency, seen map[int32]bool) []dependency {
	for _, g := range more {
		if g.rank < 0 || !seen[g.rank] {
			seen[g.rank] = true
			to = append(to, g)
		}
	}
	return to
}

// targets are the local ranks of which one is that whose memory the call wants to lock; none if that is not known.
// They are a guess if the library need not enter the lock that is asked for.
func (a *access) targets() (out []int32, isGuess bool) {
	asked := a.part.asked()
	switch {
	case a.t.Call == "MPI_Win_lock_all":
		return nil, false
	case len(asked) > 0 && (a.t.Call == "MPI_Win_lock" || !a.t.Target.Known):
		return asked, false
	case a.t.Target.Known:
		return []int32{a.t.Target.Value}, false
	}
	for i := range a.win.parts {
		if p := &a.win.parts[i]; p.own != nil && slices.Contains(p.own.LockWaiters, a.local) {
			out = append(out, int32(i))
		}
	}
	if len(out) > 0 {
		return out, false
	}
	for _, e := range a.part.own.Epochs {
		if e.Kind == mqs.LockEpoch {
			out = append(out, e.Ranks...)
		}
	}
	if len(out) > maxNamed {
		return nil, true
	}
	return out, true
}

// isLate says whether the library may leave the call before it has the lock of a target.
func (a *access) isLate(target int32) bool {
	for _, e := range a.part.own.Epochs {
		if (e.Kind == mqs.LockAllEpoch || slices.Contains(e.Ranks, target)) && (e.Kind == mqs.LockAllEpoch || e.Kind == mqs.LockEpoch) {
			return e.Granted != mqs.Known(true)
		}
	}
	return false
}

// holders are the dependencies on those that have a lock with which a target's can't be had, and on those that
// may have one.
func (a *access) holders(target int32, words string) (sure, maybe []dependency) {
	kind, isLate := a.part.kindOf(target), a.isLate(target)
	for _, at := range []int32{target, everyRank} {
		for _, l := range a.win.locks[at] {
			may, must := l.conflicts(kind)
			switch {
			case l.local == a.local || !may:
			case l.isSure && must:
				sure = append(sure, a.on(l.local, words, !isLate))
			default:
				maybe = append(maybe, a.on(l.local, words, false))
			}
		}
	}
	return sure, maybe
}

// holdersOfAny is the same of a lock of all ranks' memory. without is true if nobody has a lock that is in its way.
func (a *access) holdersOfAny() (sure, maybe []dependency, without bool) {
	isLate := a.isLate(everyRank)
	seen := map[int32]bool{a.r.number: true}
	for target, locks := range a.win.locks {
		for _, l := range locks {
			if target == everyRank || l.exclusive == mqs.Known(false) {
				continue
			}
			g := []dependency{a.on(l.local, a.lockWords([]int32{target}), l.isSure && !isLate)}
			if l.isSure && l.exclusive.Known {
				sure = a.join(sure, g, seen)
			} else {
				maybe = a.join(maybe, g, seen)
			}
		}
	}
	sortByRank(sure)
	sortByRank(maybe)
	return sure, maybe, len(sure)+len(maybe) == 0
}

func sortByRank(deps []dependency) {
	slices.SortFunc(deps, func(x, y dependency) int { return int(x.rank - y.rank) })
}

// lockWords names a lock: "exclusive lock of rank 2".
func (a *access) lockWords(targets []int32) string {
	if len(targets) != 1 {
		return "lock"
	}
	words := "lock of " + a.name(targets[0])
	switch a.part.kindOf(targets[0]) {
	case mqs.Known(true):
		return "exclusive " + words
	case mqs.Known(false):
		return "shared " + words
	}
	return words
}

// name is a member by its global rank.
func (a *access) name(local int32) string {
	if int(local) < len(a.win.parts) && a.win.parts[local].rank != nil {
		return fmt.Sprintf("rank %d", a.win.parts[local].rank.number)
	}
	return fmt.Sprintf("rank %d of %s", local, a.win.comm.label())
}

// waitForPosts is the wait for the posts of the ranks that an access epoch is started with. A rank whose exposure
// epoch is open may have opened it for an earlier access epoch. One without has yet to post: it could not have
// closed it before this rank has completed.
func (a *access) waitForPosts() wait {
	start := a.part.epoch(mqs.StartEpoch)
	if start == nil || start.Ranks == nil {
		return wait{thread: a.t, unknown: startUnknown}
	}
	var deps []dependency
	unknown := ""
	for _, local := range start.Ranks {
		if local < 0 || int(local) >= len(a.win.parts) {
			return wait{thread: a.t, unknown: startUnknown}
		}
		p := &a.win.parts[local]
		if post := p.epoch(mqs.PostEpoch); post != nil && (post.Ranks == nil || slices.Contains(post.Ranks, a.local)) {
			unknown = postedUnknown
			continue
		}
		deps = append(deps, a.on(local, "post", p.isRead() && start.Granted == mqs.Known(true)))
	}
	switch {
	case len(deps) == 0:
		unknown = postedUnknown
	case !start.Granted.Known && unknown == "":
		return a.waitForAnyPost()
	}
	return a.waitOn(true, deps, unknown)
}

// waitForAnyPost is the wait for posts with a library that counts them, whoever makes them: any member may release it.
func (a *access) waitForAnyPost() wait {
	var deps []dependency
	unknown := ""
	for i := range a.win.parts {
		post := a.win.parts[i].epoch(mqs.PostEpoch)
		switch {
		case int32(i) == a.local:
		case post != nil && (post.Ranks == nil || slices.Contains(post.Ranks, a.local)):
			unknown = postedUnknown
		default:
			deps = append(deps, a.on(int32(i), "post", false))
		}
	}
	return a.waitOn(false, deps, unknown)
}

// waitForAccesses is the wait of an exposure epoch until all its ranks have completed their accesses.
func (a *access) waitForAccesses() wait {
	post := a.part.epoch(mqs.PostEpoch)
	if post == nil {
		return wait{thread: a.t, unknown: exposedUnknown}
	}
	if post.Ranks != nil && post.Completed == mqs.Known(int32(len(post.Ranks))) {
		return wait{thread: a.t, satisfied: true}
	}
	// Who has started and has not completed has yet to. A start that has been granted has met this exposure.
	const words = "end of its accesses"
	var deps []dependency
	for i := range a.win.parts {
		p := &a.win.parts[i]
		start := p.epoch(mqs.StartEpoch)
		if start == nil || start.Granted != mqs.Known(true) || !slices.Contains(start.Ranks, a.local) || int32(i) == a.local ||
			post.Ranks != nil && !slices.Contains(post.Ranks, int32(i)) || p.isIn("MPI_Win_start", "MPI_Win_complete") {
			continue
		}
		deps = append(deps, a.on(int32(i), words, true))
	}
	switch {
	case len(deps) > 0:
		return a.waitOn(true, deps, "")
	case post.Ranks == nil:
		return wait{thread: a.t, unknown: exposedUnknown}
	}
	for _, local := range post.Ranks {
		if local < 0 || int(local) >= len(a.win.parts) {
			return wait{thread: a.t, unknown: exposedUnknown}
		}
		g := a.on(local, words, post.Completed.Known)
		// Where completions are messages that nobody counts, one may always be in transit.
		g.transit = g.transit || !post.Completed.Known && !a.r.counts()
		deps = append(deps, g)
	}
	return a.waitOn(post.Completed == mqs.Known(int32(0)) || len(deps) == 1, deps, "")
}

// waitForTargets is the wait until accesses are done, which some libraries leave to the MPI of the ranks whose
// memory they are to: those that are outside of MPI are waited for. A rank that waits in MPI carries them out.
func (a *access) waitForTargets() wait {
	out := wait{thread: a.t, all: true, unknown: accessUnknown}
	targets := []int32{a.t.Target.Value}
	if locked := a.part.locked(); !a.t.Target.Known && locked != nil {
		targets = locked
	} else if !a.t.Target.Known {
		targets = targets[:0]
		for i := range a.win.parts {
			targets = append(targets, int32(i))
		}
	}
	var deps []dependency
	for _, target := range targets {
		if int(target) >= len(a.win.parts) || a.win.parts[target].rank == nil {
			return out
		}
		switch p := &a.win.parts[target]; {
		case target == a.local:
		case p.rank.mobility == mobile:
			deps = append(deps, a.on(target, "access to "+a.name(target), true))
		case p.rank.in(finalize) && a.r.same && a.r.ran && p.rank.same:
			// MPI may no longer carry out accesses there. One that was carried out would have been acknowledged since the previous sample.
			g := a.on(target, "access to "+a.name(target), false)
			g.transit = true
			deps = append(deps, g)
		case p.rank.mobility != waiting || !p.rank.carriesOut():
			return out
		}
	}
	isOpen := !slices.ContainsFunc(a.part.own.Epochs, func(e mqs.Epoch) bool {
		return e.Kind != mqs.PostEpoch && e.Kind != mqs.FenceEpoch && e.Granted != mqs.Known(true)
	})
	switch {
	case len(deps) > 0 && (isOpen || a.t.Target.Known):
		return a.waitOn(true, deps, "")
	case isOpen && len(targets) > 0:
		return wait{thread: a.t, satisfied: true}
	}
	return out
}

// carriesOut says whether all calls that the rank waits in carry out what others access of its memory: calls for files
// and the launcher need not.
func (r *rank) carriesOut() bool {
	calls := blockedIn(r.process)
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(t mqs.Thread) bool {
		b := behaviourOf(&t)
		return t.Activity != "" || b == finalizes || b == starts || b == comesAndGoes || strings.HasPrefix(t.Call, "MPI_File_")
	})
}
