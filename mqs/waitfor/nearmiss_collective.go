package waitfor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// entry is the ranks that are in the same collective call at the same place.
type entry struct {
	call string
	entryKey
	ranks []int32
}

// awaited collects what ranks in collectives on a communicator wait for, each set once.
type awaited struct {
	deps []*dependency
	sets map[*rankSet]bool
}

func (w *awaited) add(deps []dependency) {
	for i := range deps {
		if g := &deps[i]; g.rank >= 0 || !w.sets[g.set] {
			w.deps = append(w.deps, g)
			w.sets[g.set] = true
		}
	}
}

type entryKey struct {
	comm  *communicator // nil for MPI_Finalize
	place string        // the call and its place, in words
	given given
}

// maxEntries bounds how many different calls a sentence names.
const maxEntries = 6

// checkCollectives finds communicators whose members hang in different collectives, or in one that a
// member will never enter since it has left.
func (n *misses) checkCollectives() {
	index := map[entryKey]*entry{}
	byComm := map[*communicator][]*entry{}
	waits := map[*communicator]*awaited{}
	var order []*communicator
	for _, rank := range n.suspects {
		r := &n.ranks[rank]
		for i := range r.waits {
			t := r.waits[i].thread
			if t == nil || !behaviours[t.Call].collective() {
				continue
			}
			key := entryKey{place: callWords(t)}
			if t.Call != finalize {
				m := r.member(t.Comm)
				if m == nil || !m.comm.known {
					continue
				}
				key.comm = m.comm
				key.given = givenTo(t)
			}
			e := index[key]
			if e == nil {
				e = &entry{call: t.Call, entryKey: key}
				index[key] = e
				if byComm[key.comm] == nil && key.comm != nil {
					order = append(order, key.comm)
					waits[key.comm] = &awaited{sets: map[*rankSet]bool{}}
				}
				byComm[key.comm] = append(byComm[key.comm], e)
			}
			if len(e.ranks) == 0 || e.ranks[len(e.ranks)-1] != rank {
				e.ranks = append(e.ranks, rank)
			}
			if key.comm != nil {
				waits[key.comm].add(r.waits[i].deps)
			}
		}
	}
	var members []int32 // of one communicator at a time: many may be as large as the job
	budget := missBudget
	for _, c := range order {
		if budget -= n.sizeOf(c); budget < 0 {
			break
		}
		entries := byComm[c]
		members = slices.Grow(members[:0], n.sizeOf(c))
		for _, s := range c.sides {
			members = appendKnownRanks(members, s.group)
		}
		slices.Sort(members)
		isMember := func(r int32) bool { _, ok := slices.BinarySearch(members, r); return ok }
		for _, f := range byComm[nil] {
			if ranks := slices.DeleteFunc(slices.Clone(f.ranks), func(r int32) bool { return !isMember(r) }); len(ranks) > 0 {
				entries = append(entries, &entry{call: f.call, entryKey: f.entryKey, ranks: ranks})
			}
		}
		slices.SortStableFunc(entries, func(x, y *entry) int { return cmp.Compare(x.ranks[0], y.ranks[0]) })
		if n.isMismatch(entries, members) {
			n.reportDifferent(c, entries, members)
		}
		if !n.reportBlocking(c, byComm[c], len(members)) {
			n.reportNotEntered(c, byComm[c], members)
		}
		n.reportDeserted(c, byComm[c], members)
	}
	n.reportCrossed(order, byComm, waits)
	for i := range n.deadlocks {
		n.reportCircle(&n.deadlocks[i])
	}
}

// reportCircle reports ranks that wait for each other's messages of one rooted collective. Its data
// goes from the root to all members, or from all members to the root, and never in a circle.
func (n *misses) reportCircle(d *Deadlock) {
	var comm, carrier *communicator // of the calls, and of their messages
	var thread *mqs.Thread
	ranks := make([]int32, 0, len(d.Cycle))
	entries := make([]*entry, 0, len(d.Cycle))
	for _, w := range d.Cycle {
		wait, g := n.dependencyOn(w.Rank, w.For)
		if wait == nil || wait.thread == nil || g.op == nil || !g.op.Internal || g.class != mqs.PendingReceives {
			return
		}
		on := g.member.comm
		if m := n.ranks[w.Rank].member(wait.thread.Comm); m != nil && m.comm.known {
			on = m.comm
		}
		if thread == nil {
			thread, comm, carrier = wait.thread, on, g.member.comm
		}
		if b := behaviours[wait.thread.Call]; b != fromRoot && b != toRoot || wait.thread.Call != thread.Call || on != comm || g.member.comm != carrier {
			return
		}
		ranks = append(ranks, w.Rank)
		entries = append(entries, &entry{call: thread.Call, entryKey: entryKey{comm, callWords(wait.thread), givenTo(wait.thread)}, ranks: []int32{w.Rank}})
	}
	if len(ranks) < 2 || n.argued[comm] {
		return // it is not a circle, or what differs is known and has been reported
	}
	slices.Sort(ranks)
	// Each waits for the message of this call of the next one, so that all are in it for the same time.
	if n.reportArguments(comm, entries, n.sizeOf(comm)) {
		return
	}
	n.add(OtherCollective, "circle"+callWords(thread)+comm.label(), fmt.Sprintf("%s wait in %s on %s for each other's messages of this call, which goes by one root: they have not all given the same root and count",
		capital(rankWords(ranks)), callWords(thread), comm.label()), ranks...)
}

// isMismatch says whether it must be a mistake that members of a communicator are in different
// collectives. If they hang, it is what explains the hang. If not, a member may have left a
// collective in which others still are, as the root of a broadcast does. But it can't have left a
// call that waits for all; and if all members are in collectives and none goes on, none has.
func (n *misses) isMismatch(entries []*entry, members []int32) bool {
	if n.hangs(entries[0].ranks[0]) {
		return true
	}
	confirmed := func(r int32) bool { return n.ranks[r].confirmed }
	inside, waitForAll := map[int32]bool{}, map[string]bool{}
	for _, e := range entries {
		for _, r := range e.ranks {
			inside[r] = confirmed(r)
		}
		if e.isForAll() && slices.ContainsFunc(e.ranks, confirmed) {
			waitForAll[e.call] = true
		}
	}
	return len(waitForAll) > 1 || len(members) > 0 && !slices.ContainsFunc(members, func(r int32) bool { return !inside[r] })
}

// isForAll says whether no rank can leave the call before all members have entered it.
func (e *entry) isForAll() bool { return behaviours[e.call] == synchronises || e.call == finalize }

// crossing is a pair of communicators: ranks in calls on the first wait for ranks in calls on the
// second.
type crossing struct{ from, to *communicator }

// reportCrossed reports pairs of communicators on each of which ranks wait for ranks that are in a
// collective on the other.
func (n *misses) reportCrossed(order []*communicator, byComm map[*communicator][]*entry, waits map[*communicator]*awaited) {
	if len(order) < 2 {
		return
	}
	at := map[int32][]*entry{} // by rank
	for _, c := range order {
		for _, e := range byComm[c] {
			for _, r := range e.ranks {
				at[r] = append(at[r], e)
			}
		}
	}
	// The ranks that are waited for, by their entry.
	there := map[crossing]map[*entry][]int32{}
	var pairs []crossing
	for _, c := range order {
		for _, g := range waits[c].deps {
			g.each(func(r int32) {
				for _, e := range at[r] {
					x := crossing{c, e.comm}
					if n.budget--; e.comm == c || n.budget < 0 {
						continue
					}
					if there[x] == nil {
						there[x] = map[*entry][]int32{}
						pairs = append(pairs, x)
					}
					there[x][e] = append(there[x][e], r)
				}
			})
		}
	}
	for _, x := range pairs {
		back := crossing{x.to, x.from}
		if there[back] == nil || x.from.id > x.to.id {
			continue
		}
		first, ranks := placesOn(byComm[x.from], there[back])
		second, others := placesOn(byComm[x.to], there[x])
		name := x.to.label()
		if name == x.from.label() {
			name = "another one"
			if x.to.name != "" {
				name += " of that name"
			}
		}
		n.addMismatch(OtherCollective, DifferentOrder, nil, first+second, func() string {
			return fmt.Sprintf("%s %s in %s on %s, and %s %s in %s on %s: they wait for each other to enter the same one",
				capital(rankWords(ranks)), verb(ranks, "is", "are"), first, x.from.label(), rankWords(others), verb(others, "is", "are"), second, name)
		}, slices.Concat(ranks, others)...)
	}
}

// each calls f with the ranks of a dependency.
func (g *dependency) each(f func(rank int32)) {
	if g.rank >= 0 {
		f(g.rank)
		return
	}
	for _, r := range g.set.ranks {
		f(r)
	}
}

// placesOn returns the calls that some ranks are in, in words, and these ranks.
func placesOn(entries []*entry, there map[*entry][]int32) (string, []int32) {
	var places []string
	var ranks []int32
	for _, e := range entries {
		if len(there[e]) > 0 && len(places) <= maxEntries && !slices.Contains(places, e.place) {
			places = append(places, e.place)
		}
		ranks = append(ranks, there[e]...)
	}
	slices.Sort(ranks)
	if len(places) > maxEntries {
		places = append(places[:maxEntries], "others")
	}
	return strings.Join(places, ", "), slices.Compact(ranks)
}
