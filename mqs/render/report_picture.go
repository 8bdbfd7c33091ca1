package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// How much a picture shows. Nobody can read more.
const (
	mostNodes     = 60
	mostEdges     = 200
	mostCycles    = 6
	mostCycleRank = 12 // ranks of a cycle, including its last ones
)

// picture is what is drawn of a report: which group waits for which, and the ranks of each cycle that
// the groups do not show.
type picture struct {
	cycles []graphic
	groups graphic
	// moreCycles is the number of deadlocks that are left out.
	moreCycles int
}

// graphic is one graph of a picture.
type graphic struct {
	title string
	nodes []node
	edges []edge
}

// node is a group or a rank.
type node struct {
	title string
	lines []string
	// full is the whole text.
	full  string
	state waitfor.State // empty for a node that stands for several
	// group is the index into the report's groups; -1 for a node that stands for several.
	group int
	// rank is that which the node is for: of a group, its first.
	rank mqs.Maybe[int32]
}

// edge says that the node with index from waits for the node with index to.
type edge struct {
	from, to int
	class    mqs.Maybe[mqs.OpClass]
	count    int
	inCycle  bool
	text     string
}

// queueOf returns the word for an edge in styles and legends.
func (e *edge) queueOf() string {
	if !e.class.Known {
		return "collective"
	}
	return [...]string{mqs.PendingSends: "send", mqs.PendingReceives: "receive", mqs.UnexpectedMessages: "unexpected"}[e.class.Value]
}

func newPicture(r *waitfor.Report) picture {
	p := picture{groups: groupGraphic(r)}
	group := map[int32]int{}
	for i := range r.Groups {
		for _, rank := range r.Groups[i].Ranks {
			group[rank] = i
		}
	}
	for i := range r.Deadlocks {
		d := &r.Deadlocks[i]
		alone := !slices.ContainsFunc(d.Cycle, func(w waitfor.Wait) bool {
			at, ok := group[w.Rank]
			return !ok || len(r.Groups[at].Ranks) > 1
		})
		switch {
		case alone && len(r.Groups) <= mostNodes || len(d.Cycle) == 0:
			// The groups show it.
		case len(p.cycles) == mostCycles:
			p.moreCycles++
		default:
			p.cycles = append(p.cycles, cycleGraphic(d, deadlockTitle(r, d, mostRanges), group))
		}
	}
	return p
}

// groupGraphic returns the graph of groups. If there are many, the least important ones share a node.
func groupGraphic(r *waitfor.Report) graphic {
	g := graphic{title: "Groups of ranks"}
	if verdict, ok := verdictStyles[r.Verdict]; ok {
		g.title += ": " + strings.ToLower(verdict.title[:1]) + verdict.title[1:]
	}
	kept := make([]int, len(r.Groups)) // the node of each group
	order := make([]int, len(r.Groups))
	for i := range order {
		order[i] = i
	}
	if len(order) > mostNodes {
		order = byImportance(r)
		slices.Sort(order[:mostNodes-1])
	}
	for at, i := range order {
		if len(order) > mostNodes && at >= mostNodes-1 {
			kept[i] = mostNodes - 1
			continue
		}
		kept[i] = at
		grp := &r.Groups[i]
		n := node{title: rankList(grp.Ranks, 22), full: rankList(grp.Ranks, 200) + ": " + grp.Text, state: grp.State, group: i}
		if len(grp.Ranks) > 0 {
			n.rank = mqs.Known(grp.Ranks[0])
		}
		n.lines = []string{cmp.Or(grp.Call, string(grp.State)), shortPlace(grp.File, grp.Line, grp.Function)}
		g.nodes = append(g.nodes, n)
	}
	if rest := len(order) - len(g.nodes); rest > 0 {
		ranks := 0
		for _, i := range order[mostNodes-1:] {
			ranks += len(r.Groups[i].Ranks)
		}
		text := fmt.Sprintf("%d more groups", rest)
		g.nodes = append(g.nodes, node{title: text, lines: []string{fmt.Sprintf("of %d ranks", ranks)}, full: text, group: -1})
	}
	g.edges = groupEdges(r, kept)
	return g
}

// byImportance returns the order of groups by importance: those in a cycle first, then by state and
// by size.
func byImportance(r *waitfor.Report) []int {
	states := []waitfor.State{waitfor.InDeadlock, waitfor.Stuck, waitfor.Stopped, waitfor.BlockedOutside, waitfor.Unreadable, waitfor.Ended, waitfor.Waiting, waitfor.Running}
	inCycle := make([]bool, len(r.Groups))
	for _, e := range r.Edges {
		if e.InCycle {
			inCycle[e.From], inCycle[e.To] = true, true
		}
	}
	order := make([]int, len(r.Groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if inCycle[a] != inCycle[b] {
			if inCycle[a] {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(slices.Index(states, r.Groups[a].State), slices.Index(states, r.Groups[b].State)),
			cmp.Compare(len(r.Groups[b].Ranks), len(r.Groups[a].Ranks)))
	})
	return order
}

// groupEdges returns the edges between nodes. Edges of one queue between the same nodes are one.
func groupEdges(r *waitfor.Report, kept []int) []edge {
	type ends struct {
		from, to int
		class    mqs.Maybe[mqs.OpClass]
	}
	places := map[ends]int{}
	var out []edge
	for _, e := range r.Edges {
		key := ends{kept[e.From], kept[e.To], e.Class}
		at, ok := places[key]
		if !ok {
			places[key] = len(out)
			out = append(out, edge{from: key.from, to: key.to, class: e.Class, count: e.Count, inCycle: e.InCycle, text: e.Text})
			continue
		}
		if out[at].text != e.Text {
			out[at].text = ""
		}
		out[at].count += e.Count
		out[at].inCycle = out[at].inCycle || e.InCycle
	}
	slices.SortStableFunc(out, func(a, b edge) int {
		if a.inCycle != b.inCycle {
			if a.inCycle {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.count, a.count)
	})
	return out[:min(len(out), mostEdges)]
}

// shortPlace names a line of the source, or else a function, so that it fits into a node. Of a long
// name it keeps the end, which has the line number.
func shortPlace(file string, line int, function string) string {
	text := []rune(printable.Line(cmp.Or(sourceLine(file, line), function)))
	for i, width := len(text)-1, 0; i >= 0; i-- {
		if width += widthOf(text[i]); width > 23 {
			return "…" + string(text[i+1:])
		}
	}
	return string(text)
}

// cycleGraphic returns the graph of a cycle's ranks. The middle of a long cycle is left out.
func cycleGraphic(d *waitfor.Deadlock, title string, group map[int32]int) graphic {
	g := graphic{title: title}
	first, last := len(d.Cycle), 0
	if first > mostCycleRank {
		first, last = mostCycleRank-3, 2
	}
	add := func(w *waitfor.Wait) {
		at, ok := group[w.Rank]
		if !ok {
			at = -1
		}
		g.nodes = append(g.nodes, node{title: "rank " + strconv.Itoa(int(w.Rank)), state: waitfor.InDeadlock, group: at, rank: mqs.Known(w.Rank),
			lines: []string{w.Call, shortPlace(w.File, w.Line, w.Function)},
			full:  fmt.Sprintf("rank %d waits for rank %d: %s%s", w.Rank, w.For, w.Operation, whereText(w))})
		g.edges = append(g.edges, edge{from: len(g.nodes) - 1, to: len(g.nodes), class: w.Class, count: 1, inCycle: true, text: w.Operation})
	}
	for i := range d.Cycle[:first] {
		add(&d.Cycle[i])
	}
	if last > 0 {
		text := fmt.Sprintf("%d more ranks", len(d.Cycle)-first-last)
		g.nodes = append(g.nodes, node{title: text, lines: []string{"of this cycle"}, full: text, group: -1})
		g.edges = append(g.edges, edge{from: first, to: first + 1, class: d.Cycle[first].Class, count: 1, inCycle: true})
		for i := len(d.Cycle) - last; i < len(d.Cycle); i++ {
			add(&d.Cycle[i])
		}
	}
	g.edges[len(g.edges)-1].to = 0
	return g
}
