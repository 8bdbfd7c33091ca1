package waitfor

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// mobility is whether a rank can move, as far as it shows in itself.
type mobility int

const (
	waiting   mobility = iota // what its waits say
	free                      // it is in no call that waits
	never                     // it is gone
	uncertain                 // nobody knows
)

// mobility finds the ranks that need no look at what their threads wait for, and says of an
// uncertain one, in a clause, what is not known.
func (j *job) mobility(r *rank) (mobility, string) {
	p := r.process
	switch {
	case p == nil:
		return uncertain, "it is " + notLookedAt
	case r.gone():
		return never, ""
	case p.Threads == nil && r.holdsBlocking() && p.ThreadMultiple.Known && !p.ThreadMultiple.Value:
		return waiting, "" // no other thread may call MPI meanwhile
	case p.Threads == nil && p.Unavailable != "":
		return uncertain, p.Unavailable
	case p.Threads == nil:
		return uncertain, placeUnknown
	}
	var inside, outside, held, lost bool
	for i := range p.Threads {
		switch t := &p.Threads[i]; {
		case t.Call != "" && behaviours[t.Call] == goesOn:
			return free, ""
		case t.Call != "":
			inside = true
		case !t.Placed:
			lost = true
		case t.Activity == mqs.Joins: // it goes on as soon as the others do
		case t.Activity == mqs.Blocks:
			held = true
		default:
			outside = true
		}
	}
	multiple := p.ThreadMultiple
	switch {
	case outside && (!inside && !lost || multiple.Known && multiple.Value):
		return free, ""
	case lost:
		return uncertain, placeUnknown
	case inside && multiple.Known && !multiple.Value:
		return waiting, "" // no other thread may call MPI meanwhile
	case inside && outside:
		return uncertain, levelUnknown
	case held:
		return uncertain, lockUnknown
	case inside:
		return waiting, ""
	}
	return uncertain, placeUnknown
}

// holdsBlocking says whether a rank has operations that are a blocking call's: only they show
// that it is in one if where its threads are is not known.
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

// isPlaced says whether it is known of all threads of a process in which call they are.
func isPlaced(p *mqs.Process) bool {
	return p.Threads != nil && !slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool { return t.Call == "" && !t.Placed })
}

// isInCall says whether a thread of the rank is in an MPI call that waits.
func (r *rank) isInCall() bool { return r.process != nil && len(blockedIn(r.process)) > 0 }
