package waitfor

import (
	"cmp"
	"fmt"
	"slices"
)

// awaiting are the ranks that hang in a wait for one non-blocking collective.
type awaiting struct {
	nonBlockingKey
	party
	calls []string // that made the request, as far as they are known
}

// awaitingOn returns who hangs in a wait for which non-blocking collective on a communicator, in the order of their numbers.
func (n *misses) awaitingOn(c *communicator) []*awaiting {
	var out []*awaiting
	index := map[nonBlockingKey]*awaiting{}
	for _, rank := range n.suspects {
		for _, w := range n.ranks[rank].waits {
			for _, g := range w.deps {
				if w.thread == nil || g.request == nil || g.request.Persistent || g.member == nil || g.member.comm != c || !n.hangs(rank) {
					continue
				}
				key := nonBlockingKey{c, g.request.Sequence.Value, false}
				a := index[key]
				if a == nil {
					a = &awaiting{nonBlockingKey: key}
					index[key], out = a, append(out, a)
				}
				a.add(callWords(w.thread), rank)
				if !slices.Contains(a.calls, g.request.Call) {
					a.calls = append(a.calls, g.request.Call)
				}
			}
		}
	}
	for _, a := range out {
		a.sort()
	}
	slices.SortFunc(out, func(a, b *awaiting) int { return cmp.Compare(a.number, b.number) })
	return out
}

// reportBlocking reports members of a communicator that hang in a blocking collective without having entered the
// non-blocking one for which other members hang, and says whether there are any.
func (n *misses) reportBlocking(c *communicator, entries []*entry, members int) bool {
	isFound := false
	for _, a := range n.awaitingOn(c) {
		missing := n.nonBlockingOf(a.nonBlockingKey).missing
		blocking := &party{}
		for _, e := range entries {
			for _, r := range e.ranks {
				_, isMissing := slices.BinarySearch(missing, r)
				_, awaits := slices.BinarySearch(a.ranks, r)
				if isMissing && !awaits && n.hangs(r) {
					blocking.add(e.place, r)
				}
			}
		}
		if len(blocking.ranks) == 0 {
			continue
		}
		isFound = true
		blocking.sort()
		parties := []*party{blocking, &a.party}
		var culprits []int32
		if usual := most(parties, members); usual != nil {
			culprits = ranksOf(parties, usual)
		}
		name := numbered(a.number)
		if len(a.calls) == 1 && a.calls[0] != "" {
			name = "the non-blocking " + a.calls[0]
		}
		n.addMismatch(OtherCollective, DifferentCall, culprits, string(DifferentCall)+c.label()+name, func() string {
			return fmt.Sprintf("%s %s in the blocking %s on %s, and %s %s in %s for %s on it, which %s %s not entered: a blocking collective never matches a non-blocking one",
				capital(rankWords(blocking.ranks)), verb(blocking.ranks, "is", "are"), blocking.where(), c.label(), rankWords(a.ranks), verb(a.ranks, "waits", "wait"),
				a.where(), name, rankWords(blocking.ranks), verb(blocking.ranks, "has", "have"))
		}, ranksOf(parties, nil)...)
	}
	return isFound
}
