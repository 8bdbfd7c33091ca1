package waitfor

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// mobility says whether a rank can move, as far as its own process tells.
type mobility int

const (
	waiting   mobility = iota // its waits decide
	mobile                    // it is in no call that waits
	immobile                  // it is gone
	uncertain                 // nobody knows
)

// doesNotMove says whether a rank does nothing by itself.
func (r *rank) doesNotMove() bool { return r.mobility == waiting || r.mobility == immobile }

// mobility returns the mobility of a rank. For an uncertain one it says in a clause what is not
// known.
func (j *job) mobility(r *rank) (mobility, string) {
	p := r.process
	switch {
	case p == nil:
		return uncertain, "it is " + notLookedAt
	case r.gone():
		return immobile, ""
	case p.Signal != "" && p.SignalCause != mqs.SentByAnother:
		return uncertain, "it " + signalDoubt(p)
	case p.Threads == nil && r.holdsBlocking() && p.ThreadMultiple.Known && !p.ThreadMultiple.Value:
		return waiting, "" // no other thread may call MPI meanwhile
	case r.isUnstoppable():
		return uncertain, "it is " + r.holdWords()
	case p.Threads == nil && p.Unavailable != "":
		return uncertain, p.Unavailable
	case p.Threads == nil:
		return uncertain, placeUnknown
	}
	var inside, outside, lost, locked bool
	var held *mqs.Thread
	for i := range p.Threads {
		switch t := &p.Threads[i]; {
		case j.lockingRanks(t) != nil:
			locked = true
		case waitsForFile(t):
			held = cmp.Or(held, t)
		case t.Call != "" && behaviourOf(t) == goesOn:
			return mobile, ""
		case t.Call != "":
			inside = true
		case !t.Placed:
			lost = true
		case waitsForThread(p, t): // it goes on as soon as that one does
		case isHeld(p, t):
			held = cmp.Or(held, t)
		default:
			outside = true
		}
	}
	multiple := p.ThreadMultiple
	switch {
	case outside && (!inside && !lost || multiple.Known && multiple.Value):
		return mobile, ""
	case inside && multiple.Known && !multiple.Value:
		return waiting, "" // no other thread may call MPI meanwhile
	case lost:
		return uncertain, placeUnknown
	case inside && outside:
		return uncertain, levelUnknown
	case held != nil:
		if !inside {
			r.held = held
		}
		return uncertain, heldDoubt(held)
	case inside || locked || areClosed(p):
		return waiting, ""
	case len(p.Threads) > 0: // they wait for each other, and for which is not known
		return uncertain, heldDoubt(&p.Threads[0])
	}
	return uncertain, placeUnknown
}

// holdsBlocking says whether a rank has operations of a blocking call. They alone show that it is in
// such a call if it is not known where its threads are.
func (r *rank) holdsBlocking() bool {
	for _, m := range r.members {
		for _, class := range mqs.OpClasses[:2] {
			if slices.ContainsFunc(m.queued(class), func(op mqs.PendingOperation) bool { return blocks(&op) }) {
				return true
			}
		}
	}
	return false
}

// isPlaced says whether it is known for all threads of a process which call they are in.
func isPlaced(p *mqs.Process) bool {
	return p.Threads != nil && !slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool { return t.Call == "" && !t.Placed })
}

// isInCall says whether a thread of the rank is in a waiting MPI call.
func (r *rank) isInCall() bool { return r.process != nil && len(blockedIn(r.process)) > 0 }
