package waitfor

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// maxEdges bounds the edges of a report. A picture with more shows nothing.
const maxEdges = 20_000

type edgeKey struct {
	from, to int
	class    mqs.Maybe[mqs.OpClass]
}

func (k edgeKey) compare(other edgeKey) int {
	return cmp.Or(cmp.Compare(k.from, other.from), cmp.Compare(k.to, other.to), cmp.Compare(classOrder(k.class), classOrder(other.class)))
}

// edges adds to the report which group waits for which.
func (a *analysis) edges(r *Report) {
	d := drawing{a: a, index: map[edgeKey]int{}, users: make([]map[edgeKey]int, len(a.rankSets))}
	for i := range a.ranks {
		for k := range a.ranks[i].waits {
			w := &a.ranks[i].waits[k]
			for n := range w.deps {
				d.add(int32(i), w, &w.deps[n])
			}
		}
	}
	for i, users := range d.users {
		d.addGroup(a.rankSets[i], users)
	}
	if d.cut {
		a.note("Which groups wait for which is more than a picture holds: %d pairs of groups are listed, others are left out.", maxEdges)
	}
	for _, lock := range a.deadlocks {
		for _, w := range lock.Cycle {
			if at, ok := d.index[edgeKey{a.ranks[w.Rank].reportGroup, a.ranks[w.For].reportGroup, w.Class}]; ok {
				d.edges[at].InCycle = true
			}
		}
	}
	slices.SortFunc(d.edges, func(x, y Edge) int {
		return edgeKey{x.From, x.To, x.Class}.compare(edgeKey{y.From, y.To, y.Class})
	})
	r.Edges = d.edges
}

func classOrder(c mqs.Maybe[mqs.OpClass]) int {
	if c.Known {
		return int(c.Value)
	}
	return -1
}

// drawing collects edges.
type drawing struct {
	a     *analysis
	edges []Edge
	index map[edgeKey]int
	// users counts, for each set that is waited for, the ranks that wait for it, by their group.
	users []map[edgeKey]int
	cut   bool
}

func (d *drawing) add(rank int32, w *wait, g *dependency) {
	key := edgeKey{from: d.a.ranks[rank].reportGroup}
	if g.op != nil {
		key.class = mqs.Known(g.class)
	}
	if g.rank >= 0 {
		key.to = d.a.ranks[g.rank].reportGroup
		d.count(key, 1, d.a.edgeWords(w, g))
		return
	}
	if d.users[g.set.id] == nil {
		d.users[g.set.id] = map[edgeKey]int{}
	}
	d.users[g.set.id][key]++
}

// addGroup adds the edges of all ranks that wait for a set.
func (d *drawing) addGroup(g *rankSet, users map[edgeKey]int) {
	if len(users) == 0 {
		return
	}
	to := map[int]int{}
	for _, r := range g.ranks {
		to[d.a.ranks[r].reportGroup]++
	}
	text := "any message on " + d.a.commOf(&dependency{set: g}).label()
	if g.call != "" {
		text = g.call + " on " + d.a.commOf(&dependency{set: g}).label()
	}
	for _, key := range slices.SortedFunc(maps.Keys(users), edgeKey.compare) {
		n := users[key]
		for _, at := range slices.Sorted(maps.Keys(to)) {
			key.to = at
			pairs := n * to[at]
			if key.to == key.from && (g.call == "" || g.everyone) {
				pairs -= n // no rank waits for itself
			}
			if pairs > 0 && !d.count(key, pairs, text) {
				return
			}
		}
	}
}

// count adds pairs of ranks to an edge. It returns false if there are too many edges.
func (d *drawing) count(key edgeKey, pairs int, text string) bool {
	at, ok := d.index[key]
	switch {
	case ok:
		d.edges[at].Count += pairs
		if d.edges[at].Text != text {
			d.edges[at].Text = "several operations"
		}
	case len(d.edges) == maxEdges:
		d.cut = true
		return false
	default:
		d.index[key] = len(d.edges)
		d.edges = append(d.edges, Edge{From: key.from, To: key.to, Class: key.class, Count: pairs, Text: text})
	}
	return true
}

// edgeWords describes a wait in a few words.
func (a *analysis) edgeWords(w *wait, g *dependency) string {
	switch {
	case g.op == nil:
		return a.operation(w, g)
	case g.op.Internal:
		return w.call() + " on " + g.member.comm.label()
	}
	return tagWords(g.op.DesiredTag, isAnyTag(g.op)) + " on " + g.member.comm.label()
}

// call returns the MPI call of a wait.
func (w *wait) call() string {
	if w.thread == nil {
		return "a call"
	}
	return w.thread.Call
}
