package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/digraph"
)

// Sizes in a picture, in pixels.
const (
	nodeWidth     = 186.0
	nodeHeight    = 62.0
	columnGap     = 150.0
	rowGap        = 30.0
	partGap       = 46.0 // between components of the graph
	perColumn     = 9    // nodes in a column
	perRow        = 4    // nodes that wait for nobody, in a row
	serpentineGap = 64.0 // between nodes of a serpentine

	loopHeight = 24.0 // of an edge from a node to itself, above the node
	textHeight = 28.0 // of the two lines of an edge's text

	labelGap  = 130.0 // for the text of an edge
	labelSide = 90.0  // beside a circle, for those on its sides

	mostOnCircle = 12
)

type point struct{ x, y float64 }

// layout says where the centre of each node is, and how large the whole is.
type layout struct {
	at            []point
	width, height float64
	// room is the height of a node with what stands above it.
	room float64
}

// arrange finds a place for each node. A node stands to the left of those for which it waits. Nodes
// that wait for each other stand on a circle.
func arrange(g *graphic) layout {
	l := layout{at: make([]point, len(g.nodes)), room: nodeHeight + loopRoom(g)}
	sccs, of := strongComponents(g)
	var alone []int
	for _, part := range componentsOf(g) {
		if len(part) == 1 {
			alone = append(alone, part[0])
			continue
		}
		l.placeInColumns(g, part, sccs, of)
	}
	top := l.height
	for i, n := range alone {
		l.at[n] = point{nodeWidth/2 + float64(i%perRow)*(nodeWidth+rowGap), top + l.room/2 + float64(i/perRow)*(l.room+rowGap)}
		l.width, l.height = max(l.width, l.at[n].x+nodeWidth/2), l.at[n].y+l.room/2+partGap
	}
	l.height = max(l.height-partGap, 0)
	for i := range l.at { // a node is at the bottom of its room
		l.at[i].y += (l.room - nodeHeight) / 2
	}
	return l
}

// loopRoom returns the height that the nodes of a graphic need above them for edges to themselves.
// These stand side by side, with their texts one above the other.
func loopRoom(g *graphic) float64 {
	texts := map[int]int{} // by node
	room := 0.0
	for i := range g.edges {
		e := &g.edges[i]
		if e.from != e.to {
			continue
		}
		texts[e.from]++
		room = max(room, loopHeight)
		if g.hasTexts() {
			room = max(room, loopHeight+textHeight*float64(texts[e.from]))
		}
	}
	return room
}

// strongComponents returns the sets of nodes that wait for each other, sets of one node included, and
// the set of each node. A set comes after those for which it waits.
func strongComponents(g *graphic) (sccs [][]int, of []int) {
	nodes, next := make([]int32, len(g.nodes)), make([][]int32, len(g.nodes))
	for i := range nodes {
		nodes[i] = int32(i)
	}
	for _, e := range g.edges {
		next[e.from] = append(next[e.from], int32(e.to))
	}
	of = make([]int, len(g.nodes))
	finder := digraph.NewFinder(len(nodes))
	for k, scc := range finder.Components(nodes, func(n int32, to []int32) []int32 { return append(to, next[n]...) }) {
		var members []int
		for _, n := range scc {
			members = append(members, int(n))
			of[n] = k
		}
		slices.Sort(members)
		sccs = append(sccs, alongEdges(g, members))
	}
	return sccs, of
}

// alongEdges orders the nodes of a circle along the edges of the deadlock; other nodes keep their
// order.
func alongEdges(g *graphic, members []int) []int {
	next := map[int]int{}
	for _, e := range slices.Backward(g.edges) {
		if _, ok := next[e.from]; (e.inCycle || !ok) && e.from != e.to {
			next[e.from] = e.to
		}
	}
	out := make([]int, 0, len(members))
	for _, start := range members {
		for n := start; slices.Contains(members, n) && !slices.Contains(out, n); n = next[n] {
			out = append(out, n)
		}
	}
	return out
}

// componentsOf returns the connected components of the graph, in order.
func componentsOf(g *graphic) [][]int {
	root := make([]int, len(g.nodes))
	for i := range root {
		root[i] = i
	}
	find := func(n int) int {
		for root[n] != n {
			n = root[n]
		}
		return n
	}
	for _, e := range g.edges {
		a, b := find(e.from), find(e.to)
		root[max(a, b)] = min(a, b)
	}
	parts := make([][]int, len(g.nodes))
	for n := range g.nodes {
		parts[find(n)] = append(parts[find(n)], n)
	}
	return slices.DeleteFunc(parts, func(p []int) bool { return len(p) == 0 })
}

// placeInColumns places one component below what is there. Each of its sets is in the column of its
// distance from the sets that wait for nobody, which are on the right.
func (l *layout) placeInColumns(g *graphic, part []int, sccs [][]int, of []int) {
	depth := map[int]int{}
	deepest := 0
	for k, scc := range sccs { // those that are waited for come first
		if !slices.Contains(part, scc[0]) {
			continue
		}
		for _, e := range g.edges {
			if of[e.from] == k && of[e.to] != k {
				depth[k] = max(depth[k], depth[of[e.to]]+1)
			}
		}
		deepest = max(deepest, depth[k])
	}
	columns := make([][]int, deepest+1)
	for k := range sccs {
		if slices.Contains(part, sccs[k][0]) {
			columns[deepest-depth[k]] = append(columns[deepest-depth[k]], k)
		}
	}
	for _, column := range columns {
		slices.SortFunc(column, func(a, b int) int { return cmp.Compare(slices.Min(sccs[a]), slices.Min(sccs[b])) })
	}
	columns = wrapColumns(columns)
	lowerCrossings(g, columns, of)
	x, tall := 0.0, 0.0
	heights := make([]float64, len(columns))
	for c, column := range columns {
		width := 0.0
		for _, k := range column {
			circle := onCircle(len(sccs[k]), l.room)
			width = max(width, circle.width)
			heights[c] += circle.height + rowGap
		}
		heights[c] -= rowGap
		tall = max(tall, heights[c])
		y := 0.0
		for _, k := range column {
			circle := onCircle(len(sccs[k]), l.room)
			for i, n := range sccs[k] {
				l.at[n] = point{x + circle.at[i].x, l.height + y + circle.at[i].y}
			}
			y += circle.height + rowGap
		}
		for _, k := range column { // narrower sets are in the middle of the column
			for _, n := range sccs[k] {
				l.at[n].x += (width - onCircle(len(sccs[k]), l.room).width) / 2
			}
		}
		x += width + columnGap
	}
	for c, column := range columns {
		for _, k := range column {
			for _, n := range sccs[k] {
				l.at[n].y += (tall - heights[c]) / 2
			}
		}
	}
	l.width = max(l.width, x-columnGap)
	l.height += tall + partGap
}

// wrapColumns breaks columns that would be too tall.
func wrapColumns(columns [][]int) [][]int {
	var out [][]int
	for _, column := range columns {
		out = append(out, slices.Collect(slices.Chunk(column, perColumn))...)
	}
	return out
}

// lowerCrossings orders the sets of each column, so that fewer edges cross: by the places of the sets
// for which they wait, from the right, and then of those that wait for them, from the left.
func lowerCrossings(g *graphic, columns [][]int, of []int) {
	place := map[int]float64{}
	number := func(column []int) {
		for i, k := range column {
			place[k] = float64(i) - float64(len(column)-1)/2
		}
	}
	for _, column := range columns {
		number(column)
	}
	sweep := func(c int, neighbour func(e *edge, k int) int) {
		mean := map[int]float64{}
		for _, k := range columns[c] {
			sum, n := 0.0, 0
			for i := range g.edges {
				if other := neighbour(&g.edges[i], k); other >= 0 && other != k {
					sum, n = sum+place[other], n+1
				}
			}
			mean[k] = place[k]
			if n > 0 {
				mean[k] = sum / float64(n)
			}
		}
		slices.SortStableFunc(columns[c], func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		number(columns[c])
	}
	for range 3 {
		for c := len(columns) - 2; c >= 0; c-- {
			sweep(c, func(e *edge, k int) int {
				if of[e.from] == k {
					return of[e.to]
				}
				return -1
			})
		}
		for c := 1; c < len(columns); c++ {
			sweep(c, func(e *edge, k int) int {
				if of[e.to] == k {
					return of[e.from]
				}
				return -1
			})
		}
	}
}

// onCircle places n nodes on the smallest ellipse that has room for them, the first at its top left.
// Too many nodes are placed on a serpentine. room is the height of one node.
func onCircle(n int, room float64) layout {
	if n > mostOnCircle {
		return serpentine(n, room)
	}
	if n == 1 {
		return layout{at: []point{{nodeWidth / 2, room / 2}}, width: nodeWidth, height: room}
	}
	if n == 2 {
		return layout{at: []point{{nodeWidth / 2, nodeHeight/2 + room/2}, {nodeWidth*1.5 + columnGap, nodeHeight/2 + room/2}}, width: 2*nodeWidth + columnGap, height: nodeHeight + room}
	}
	for r := 90.0; ; r *= 1.06 {
		l := layout{width: 2.6*r + nodeWidth + 2*labelSide, height: 2*r + room}
		for i := range n {
			angle := 2*math.Pi*float64(i)/float64(n) - math.Pi*(0.5+1/float64(n))
			l.at = append(l.at, point{l.width/2 + 1.3*r*math.Cos(angle), l.height/2 + r*math.Sin(angle)})
		}
		if !crowded(l.at, room) {
			return l
		}
	}
}

// serpentine places n nodes in rows that run to the right and to the left in turn.
func serpentine(n int, room float64) layout {
	columns := int(math.Sqrt(float64(n) / 2))
	l := layout{width: float64(columns)*(nodeWidth+serpentineGap) - serpentineGap, height: float64((n+columns-1)/columns)*(room+serpentineGap) - serpentineGap}
	for i := range n {
		row, col := i/columns, i%columns
		if row%2 == 1 {
			col = columns - 1 - col
		}
		l.at = append(l.at, point{nodeWidth/2 + float64(col)*(nodeWidth+serpentineGap), room/2 + float64(row)*(room+serpentineGap)})
	}
	return l
}

// crowded says whether neighbours on a circle leave no room for an edge between them.
func crowded(at []point, room float64) bool {
	for i, a := range at {
		b := at[(i+1)%len(at)]
		if math.Abs(a.x-b.x) < nodeWidth+labelGap && math.Abs(a.y-b.y) < room+30 {
			return true
		}
	}
	return false
}
