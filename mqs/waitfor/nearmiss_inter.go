package waitfor

import (
	"fmt"
	"slices"
)

// reportNotEnteredInter reports members of an intercommunicator that have not entered the call in which others hang, one
// that waits for all members of the other group.
//
// A member may leave such a call as soon as the other group has entered it (MPI 4.1, 6.3 for MPI_Barrier). As others hang, not
// all members have entered. If both groups have members outside the call, none of these has been in it: it would have left
// only after the other group had entered, whose members outside would then have left too. If one group is inside as a whole,
// members of the other may have entered and left, but at least one has not entered.
func (n *misses) reportNotEnteredInter(c *communicator, entries []*entry) {
	calls := partiesBy(entries, func(e *entry) (string, bool) { return e.call, true })
	if !entries[0].isForAll() || len(calls) != 1 {
		return
	}
	inside := calls[0]
	isIn := func(r int32) bool { _, ok := slices.BinarySearch(inside.ranks, r); return ok }
	var outside []int32
	groups := 0 // with members outside
	for _, s := range c.sides {
		before := len(outside)
		for _, r := range s.group {
			if r < 0 || !isIn(r) && n.mayBeInside(r, c, entries[0].call) {
				return
			}
			if !isIn(r) {
				outside = append(outside, r)
			}
		}
		if len(outside) > before {
			groups++
		}
	}
	// Ranks in other collectives are reported as such: see reportCrossed.
	slices.Sort(outside)
	isElsewhere := func(r int32) bool { _, ok := slices.BinarySearch(outside, r); return ok && !n.isInCollective(r) }
	hangs := slices.ContainsFunc(n.deadlocks, func(d Deadlock) bool {
		return slices.ContainsFunc(d.Ranks, isIn) && slices.ContainsFunc(d.Ranks, isElsewhere)
	})
	if !hangs {
		return
	}
	who := fmt.Sprintf("%s %s not entered", capital(rankWords(outside)), verb(outside, "has", "have"))
	areSome := groups == 1 && len(outside) > 1
	if areSome {
		who = fmt.Sprintf("Not all of %s have entered", rankWords(outside))
	}
	var culprits []int32
	if most(calls, n.sizeOf(c)) != nil && !areSome {
		culprits = outside
	}
	n.addMismatch(OtherCollective, NotEntered, culprits, string(NotEntered)+c.label(), func() string {
		return fmt.Sprintf("%s %s on %s, in which %s %s: %s",
			who, inside.where(), c.label(), rankWords(inside.ranks), verb(inside.ranks, "waits", "wait"), n.whereNow(outside))
	}, slices.Concat(outside, inside.ranks)...)
}

// isInCollective reports whether a rank waits in a collective call.
func (n *misses) isInCollective(rank int32) bool {
	return slices.ContainsFunc(n.ranks[rank].waits, func(w wait) bool { return w.thread != nil && behaviours[w.thread.Call].collective() })
}

// mayBeInside reports whether a rank that is not known to be in a call on an intercommunicator may be: nothing is known of it,
// or it is in that call on a communicator that is unknown or the library's own, as the one of the local group is.
func (n *misses) mayBeInside(rank int32, c *communicator, call string) bool {
	r := n.at(rank)
	if r == nil || r.process == nil || n.isInCollectiveOn(rank, c) || n.mayHaveEntered(rank, callKey{c, call}) {
		return true
	}
	for i := range r.process.Threads {
		if t := &r.process.Threads[i]; t.Call == call {
			if m := r.member(t.Comm); m == nil || m.comm.internal {
				return true
			}
		}
	}
	return false
}
