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
	for _, rank := range n.suspects {
		for _, w := range n.ranks[rank].waits {
			for _, g := range w.deps {
				if w.thread == nil || g.request == nil || g.request.Persistent || g.member == nil || g.member.comm != c || !n.hangs(rank) {
					continue
				}
				key := nonBlockingKey{c, g.request.Sequence.Value, false}
				at := slices.IndexFunc(out, func(a *awaiting) bool { return a.nonBlockingKey == key })
				if at < 0 {
					at = len(out)
					out = append(out, &awaiting{nonBlockingKey: key})
				}
				a := out[at]
				if place := callWords(w.thread); !slices.Contains(a.places, place) {
					a.places = append(a.places, place)
				}
				if !slices.Contains(a.calls, g.request.Call) {
					a.calls = append(a.calls, g.request.Call)
				}
				if !slices.Contains(a.ranks, rank) {
					a.ranks = append(a.ranks, rank)
				}
			}
		}
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
				if !isMissing || !n.hangs(r) || slices.Contains(a.ranks, r) {
					continue
				}
				blocking.ranks = append(blocking.ranks, r)
				if !slices.Contains(blocking.places, e.place) {
					blocking.places = append(blocking.places, e.place)
				}
			}
		}
		if len(blocking.ranks) == 0 {
			continue
		}
		isFound = true
		slices.Sort(blocking.ranks)
		blocking.ranks = slices.Compact(blocking.ranks)
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
