package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// given is what a collective call was given that all members have to give alike, as far as it is known.
type given struct {
	root                mqs.Maybe[int32] // local
	length              mqs.Maybe[int64] // in bytes
	datatype, operation mqs.Maybe[string]
}

// givenTo returns what the call of a thread was given.
func givenTo(t *mqs.Thread) given {
	out := given{length: t.Length, datatype: predefined(t.Datatype), operation: predefined(t.Operation)}
	if b := behaviours[t.Call]; b == fromRoot || b == toRoot || b == someWait {
		out.root = t.Root
	}
	return out
}

// predefined returns the name of an object of MPI's own. Objects that a program has made may be alike whatever
// their names.
func predefined(name mqs.Maybe[string]) mqs.Maybe[string] {
	if strings.HasPrefix(name.Value, "MPI_") {
		return name
	}
	return mqs.Maybe[string]{}
}

// argument is one in which the members of a communicator may differ.
type argument struct {
	mismatch Mismatch
	plural   string                       // in a sentence
	words    func(g given) (string, bool) // the value, if it is known
}

// arguments are all of them. That datatypes differ says why lengths do.
var arguments = []argument{
	{DifferentRoot, "roots", func(g given) (string, bool) { return fmt.Sprintf("root %d", g.root.Value), g.root.Known }},
	{DifferentDatatype, "datatypes", func(g given) (string, bool) { return g.datatype.Value, g.datatype.Known }},
	{DifferentSize, "lengths of data", func(g given) (string, bool) { return fmt.Sprintf("%d bytes", g.length.Value), g.length.Known }},
	{DifferentOperation, "operations", func(g given) (string, bool) { return g.operation.Value, g.operation.Known }},
}

// party is the members of a communicator that do the same.
type party struct {
	what   string   // that they do or give
	places []string // at most maxEntries, and one more if there are others
	ranks  []int32
}

// partiesBy puts entries together by what their ranks do, in the order of their lowest ranks; what that is may
// not be known of an entry.
func partiesBy(entries []*entry, what func(e *entry) (string, bool)) []*party {
	var out []*party
	index := map[string]int{}
	for _, e := range entries {
		text, isKnown := what(e)
		if !isKnown {
			continue
		}
		at, isThere := index[text]
		if !isThere {
			at = len(out)
			index[text] = at
			out = append(out, &party{what: text})
		}
		out[at].add(e.place, e.ranks...)
	}
	for _, p := range out {
		p.sort()
	}
	return out
}

// add adds ranks that are at a place.
func (p *party) add(place string, ranks ...int32) {
	if len(p.places) <= maxEntries && !slices.Contains(p.places, place) {
		p.places = append(p.places, place)
	}
	p.ranks = append(p.ranks, ranks...)
}

// sort puts the ranks in order, each of them once.
func (p *party) sort() {
	slices.Sort(p.ranks)
	p.ranks = slices.Compact(p.ranks)
}

// most returns the party that more than half of so many members belong to; nil if there is none.
func most(parties []*party, members int) *party {
	for _, p := range parties {
		if 2*len(p.ranks) > members {
			return p
		}
	}
	return nil
}

// where names the places of a party.
func (p *party) where() string {
	places := p.places
	if len(places) > maxEntries {
		places = append(slices.Clone(places[:maxEntries]), "others")
	}
	return strings.Join(places, ", ")
}

// ranksOf returns the ranks of parties but for one of them.
func ranksOf(parties []*party, but *party) []int32 {
	var out []int32
	for _, p := range parties {
		if p != but {
			out = append(out, p.ranks...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// share names most of a communicator's members: "3 of 4 ranks of MPI_COMM_WORLD (0, 2-3)".
func share(p *party, members int, c *communicator) string {
	_, ranks, isSeveral := strings.Cut(rankWords(p.ranks), "ranks ")
	if !isSeveral {
		ranks = Ranges(p.ranks)
	}
	return fmt.Sprintf("%d of %d ranks of %s (%s)", len(p.ranks), members, c.label(), ranks)
}

// reportDifferent reports members of a communicator that are in different calls, or in the same call with
// arguments that don't go together.
func (n *misses) reportDifferent(c *communicator, entries []*entry, members []int32) {
	if len(entries) < 2 {
		return
	}
	calls := partiesBy(entries, func(e *entry) (string, bool) { return e.call, true })
	if len(calls) > 1 {
		n.reportParties(c, DifferentCall, calls, len(members), "different collective calls", func(p *party) string { return "in " + p.where() })
		return
	}
	// Members that are in the same call may be in it for the first and for the second time, but if nobody can have
	// left it.
	if inside := ranksOf(calls, nil); !entries[0].isForAll() && len(inside) < len(members) {
		return
	}
	n.reportArguments(c, entries, len(members))
}

// reportArguments reports members of a communicator that are in one and the same collective with arguments that
// don't go together, and says whether there are any.
func (n *misses) reportArguments(c *communicator, entries []*entry, members int) bool {
	isFound := map[Mismatch]bool{}
	for _, a := range arguments {
		parties := partiesBy(entries, func(e *entry) (string, bool) { return a.words(e.given) })
		if len(parties) < 2 || a.mismatch == DifferentSize && isFound[DifferentDatatype] {
			continue
		}
		isFound[a.mismatch] = true
		n.reportParties(c, a.mismatch, parties, members, "the same collective call with different "+a.plural, func(p *party) string { return "in " + p.where() + " with " + p.what })
	}
	n.argued[c] = n.argued[c] || len(isFound) > 0
	return len(isFound) > 0
}

// reportParties reports that members of a communicator do different things: the culprits first, if most members do
// one thing.
func (n *misses) reportParties(c *communicator, mismatch Mismatch, parties []*party, members int, what string, does func(p *party) string) {
	usual := most(parties, members)
	culprits := ranksOf(parties, usual)
	var parts []string
	for _, p := range parties {
		switch {
		case p == usual:
		case len(parts) == maxEntries:
			parts = append(parts, "others are in others")
		case len(parts) < maxEntries:
			parts = append(parts, rankWords(p.ranks)+verb(p.ranks, " is ", " are ")+does(p))
		}
	}
	text := strings.Join(parts, ", ")
	if usual == nil {
		text, culprits = fmt.Sprintf("The members of %s are in %s: %s", c.label(), what, text), nil
	} else {
		text = capital(text) + fmt.Sprintf(", but %s are %s: there is the mistake", share(usual, members, c), does(usual))
	}
	n.addMismatch(OtherCollective, mismatch, culprits, string(mismatch)+c.label(), func() string { return text }, ranksOf(parties, nil)...)
}

// reportNotEntered reports members that hang elsewhere, while most members wait for them in one call that none can
// leave before all have entered.
func (n *misses) reportNotEntered(c *communicator, entries []*entry, members []int32) {
	if c.inter {
		n.reportNotEnteredInter(c, entries)
		return
	}
	entered := 0
	for _, e := range entries {
		entered += len(e.ranks)
	}
	if !entries[0].isForAll() || 2*entered <= len(members) {
		return
	}
	calls := partiesBy(entries, func(e *entry) (string, bool) { return e.call, true })
	inside := most(calls, len(members))
	if inside == nil || len(calls) > 1 {
		return
	}
	var missing []int32
	for _, d := range n.deadlocks {
		isIn := func(r int32) bool { _, ok := slices.BinarySearch(inside.ranks, r); return ok }
		if slices.ContainsFunc(d.Ranks, isIn) {
			missing = append(missing, slices.DeleteFunc(slices.Clone(d.Ranks), func(r int32) bool {
				_, isMember := slices.BinarySearch(members, r)
				return !isMember || isIn(r) || n.isInCollectiveOn(r, c) || n.mayHaveEntered(r, callKey{c, entries[0].call})
			})...)
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	n.addMismatch(OtherCollective, NotEntered, missing, string(NotEntered)+c.label(), func() string {
		return fmt.Sprintf("%s %s not entered %s, in which %s wait: %s",
			capital(rankWords(missing)), verb(missing, "has", "have"), inside.where(), share(inside, len(members), c), n.whereNow(missing))
	}, slices.Concat(missing, inside.ranks)...)
}

// isInCollectiveOn says whether a rank is in a collective on a communicator, or in MPI_Finalize: it is in another
// call then, which is told as such.
func (n *misses) isInCollectiveOn(rank int32, c *communicator) bool {
	r := &n.ranks[rank]
	return slices.ContainsFunc(r.waits, func(w wait) bool {
		if w.thread == nil || !behaviours[w.thread.Call].collective() {
			return false
		}
		m := r.member(w.thread.Comm)
		return w.thread.Call == finalize || m != nil && m.comm == c
	})
}

// whereNow says where ranks are, each place once: "rank 1 is now in MPI_Recv (a.c:10)".
func (n *misses) whereNow(ranks []int32) string {
	byPlace := map[string][]int32{}
	var order []string
	for _, r := range ranks {
		place := n.now(r)
		if byPlace[place] == nil {
			order = append(order, place)
		}
		byPlace[place] = append(byPlace[place], r)
	}
	var out []string
	for i, place := range order {
		if i == maxEntries {
			out = append(out, "others are elsewhere")
			break
		}
		at := byPlace[place]
		if len(at) > 1 {
			for one, several := range map[string]string{"is ": "are ", "has ": "have "} {
				if rest, ok := strings.CutPrefix(place, one); ok {
					place = several + rest
				}
			}
		}
		out = append(out, rankWords(at)+" "+place)
	}
	return strings.Join(out, ", ")
}

// reportDeserted reports a collective that members will never enter since they are gone. It changes members.
func (n *misses) reportDeserted(c *communicator, entries []*entry, members []int32) {
	gone := slices.DeleteFunc(members, func(r int32) bool { return !n.ranks[r].gone() })
	if len(gone) == 0 {
		return
	}
	for _, e := range entries {
		// In other calls, they may have been in it and have left it early.
		if stays := e.isForAll() && slices.ContainsFunc(e.ranks, func(r int32) bool { return n.ranks[r].confirmed }); !stays && !n.hangs(e.ranks[0]) {
			continue
		}
		n.addMismatch(PeerLeft, NotEntered, gone, e.place+c.label(), func() string {
			return fmt.Sprintf("%s will never enter %s on %s, in which %s %s: %s",
				capital(rankWords(gone)), e.place, c.label(), rankWords(e.ranks), verb(e.ranks, "waits", "wait"), n.whereNow(gone))
		}, slices.Concat(e.ranks, gone)...)
	}
}
