package waitfor

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A job whose ranks make communicators, or wait for one another in other ways that leave no trace, may have something
// unknown at each look, however often it is looked at. What is unknown of a look matters no more as soon as each rank that
// may have hung at it is seen to have gone on: a deadlocked rank never leaves its call, nor gets on in it.

// LeastSettling is how many earlier looks there have to be before a look is settled by later ones: what has just come to hang
// is known by then to stand.
const LeastSettling = 3

// open returns the processes of the ranks that may hang for all that is known, by process id. It is false if others may
// hang too.
func (a *analysis) open() (map[int]*mqs.Process, bool) {
	if len(a.deadlocks) > 0 || !a.worldKnown || a.surelyReleasable == nil {
		return nil, false
	}
	out := map[int]*mqs.Process{}
	for i := range a.ranks {
		r := &a.ranks[i]
		switch {
		case r.process == nil || r.process.Phase == "":
			return nil, false
		case r.mobility == uncertain, r.mobility == waiting && !a.surelyReleasable[i], r.mobility == mobile && r.doing().kind == isThere:
			out[r.process.PID] = r.process
		}
	}
	return out, true
}

// isSettled says whether no rank was deadlocked at an earlier look of this watch, and none that may hang now is known to
// stand.
func (a *analysis) isSettled() bool {
	if !a.past.Settled || !a.past.Again || a.past.Apart || a.past.Looks < LeastSettling {
		return false
	}
	open, isKnown := a.open()
	return isKnown && !a.hasRank(func(r *rank) bool { return open[r.process.PID] != nil && !r.gotOn })
}

// whySettled says on what the verdict rests if a look is settled of which this is unknown.
func (a *analysis) whySettled(unknown string) string {
	moved := a.which(func(r *rank) bool { return r.gotOn })
	first := "The job gets on: " + rankWords(moved) + verb(moved, " has", " have") + " moved since the look before. " +
		"No rank was deadlocked at an earlier look: each that may have been has gone on since."
	unknown = strings.TrimPrefix(unknown, undecidable+" ")
	unknown = strings.TrimSuffix(unknown, " "+lookAgain)
	return joined(first, "Of where they are now, less is known.", unknown)
}

// HasLeft says whether a thread of a process is known to have left the call, or the place outside of MPI, where it waited
// at an earlier look, or to have got on in it. In a call of the same place it may never have left that.
func HasLeft(now, then *mqs.Process) bool {
	if now.HasCrashed() || !isPlaced(now) || !isPlaced(then) {
		return false
	}
	left := slices.Clone(now.Threads)
	for i := range then.Threads {
		t := &then.Threads[i]
		if !mayStand(then, t) {
			continue
		}
		at := slices.IndexFunc(left, func(o mqs.Thread) bool { return mayBeAt(&o, t) })
		if at < 0 {
			return true
		}
		left = slices.Delete(left, at, at+1)
	}
	return hasSentOn(now, then) || hasBegunOn(now, then) || hasRaisedOn(now, then)
}

// hasSentOn says whether the one thread that may call MPI has sent messages since it was met in a collective call: for that, what it
// waited for must have come. It is false where its library may have sent them meanwhile, as for a non-blocking collective or
// for another rank's access to a window.
func hasSentOn(now, then *mqs.Process) bool {
	if then.ThreadMultiple != mqs.Known(false) || !slices.ContainsFunc(then.Threads, isInCollective) {
		return false
	}
	for _, p := range []*mqs.Process{now, then} {
		if p.CollectiveRequests == nil || p.Windows == nil || len(p.CollectiveRequests)+len(p.Windows) > 0 {
			return false
		}
	}
	for _, q := range then.Communicators {
		if same := counterpart(now, q); same != nil && !q.Internal && hasSentMore(same, q) {
			return true
		}
	}
	return false
}

// hasBegunOn says whether non-blocking collectives have begun since a thread was met in a collective call: a call that makes a
// communicator agrees with the others by some, one after another, and no thread that waits begins one.
func hasBegunOn(now, then *mqs.Process) bool {
	return slices.ContainsFunc(then.Threads, isInCollective) && slices.ContainsFunc(then.Communicators, func(q *mqs.Queues) bool {
		same := counterpart(now, q)
		return same != nil && disagree(same.NonBlockingCollectives, q.NonBlockingCollectives)
	})
}

// hasRaisedOn says whether the one thread that may call MPI has raised a flag since it was met in a collective call. A deadlocked rank
// raises none.
func hasRaisedOn(now, then *mqs.Process) bool {
	return then.ThreadMultiple == mqs.Known(false) && slices.ContainsFunc(then.Threads, isInCollective) && hasRaised(now, then)
}

// counterpart returns what a process has now of a communicator that it had at an earlier look, nil if that is gone.
func counterpart(now *mqs.Process, then *mqs.Queues) *mqs.Queues {
	at := slices.IndexFunc(now.Communicators, func(q *mqs.Queues) bool { return q.UniqueID == then.UniqueID && q.Context == then.Context })
	if at < 0 {
		return nil
	}
	return now.Communicators[at]
}

func isInCollective(t mqs.Thread) bool {
	b := behaviourOf(&t)
	return b.collective() && b != finalizes || b == comesAndGoes
}

// hasSentMore says whether messages have been sent on a communicator since an earlier look.
func hasSentMore(now, then *mqs.Queues) bool {
	sent := make(map[int32]uint16, len(then.Traffic))
	for _, t := range then.Traffic {
		sent[t.Peer] = t.Sent
	}
	return slices.ContainsFunc(now.Traffic, func(t mqs.Traffic) bool {
		before, is := sent[t.Peer]
		return is && before != t.Sent
	})
}

// Trace is what [HasLeft] has to know of a process as it was: what its queues hold may be much.
func Trace(p *mqs.Process) *mqs.Process {
	out := &mqs.Process{PID: p.PID, Phase: p.Phase, State: p.State, Threads: p.Threads, ThreadMultiple: p.ThreadMultiple,
		CollectiveRequests: p.CollectiveRequests, Windows: p.Windows}
	for _, q := range p.Communicators {
		out.Communicators = append(out.Communicators, &mqs.Queues{Communicator: q.Communicator, Traffic: q.Traffic})
	}
	return out
}

// mayStand says whether a thread waits, or may.
func mayStand(p *mqs.Process, t *mqs.Thread) bool {
	if t.Call != "" {
		return behaviourOf(t) != goesOn
	}
	return waitsForThread(p, t) || isHeld(p, t) || t.Activity == ""
}

// mayBeAt says whether a thread may still be where one was at an earlier look. The call alone tells nothing: which it is
// may differ while it lasts, as of one that is made inside another.
func mayBeAt(now, then *mqs.Thread) bool {
	if (now.Call == "") != (then.Call == "") {
		return false
	}
	isUnknown := func(t *mqs.Thread) bool { return t.Function == "" && t.File == "" }
	return isUnknown(now) || isUnknown(then) || now.Function == then.Function && now.File == then.File && now.Line == then.Line
}
