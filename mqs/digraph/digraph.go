// Package digraph finds which nodes of a directed graph lead to each other.
package digraph

// Next appends the nodes to which a node has edges, in an order that stays the same.
type Next func(node int32, to []int32) []int32

// Finder finds components of graphs whose nodes are the numbers below a size. It keeps 4 bytes for each node, so that many small
// searches in a large graph take time for what they reach alone.
type Finder struct {
	// number holds the order in which each node was first seen, counted across all searches. Numbers up to base are of earlier searches.
	number []int32
	base   int32
	seen   int32
	// closed is the negative number of all nodes whose component is known in this search.
	closed int32
}

// NewFinder returns a Finder for graphs of so many nodes.
func NewFinder(size int) *Finder { return &Finder{number: make([]int32, size)} }

// mostSeen is the number above which numbering restarts.
const mostSeen = 1 << 30

// Components returns the strongly connected components of the nodes that can be reached from some nodes: the largest sets of
// nodes that lead to each other, and sets of one node. A component comes after those to which it has edges. It takes time and
// memory in proportion to the nodes and edges that are reached.
//
// The method is Tarjan's ("Depth-First Search and Linear Graph Algorithms", 1972), with a stack of its own instead of recursion.
func (f *Finder) Components(from []int32, next Next) [][]int32 {
	if f.base, f.closed = f.seen, f.closed-1; f.seen > mostSeen || f.closed < -mostSeen {
		clear(f.number)
		f.base, f.seen, f.closed = 0, 0, -1
	}
	s := &search{Finder: f, edges: next}
	for _, node := range from {
		if s.isNew(node) {
			s.visit(node)
		}
	}
	return s.out
}

// search is a depth-first search.
type search struct {
	*Finder
	edges Next
	// path leads from the node where the search began to where it is.
	path []step
	next []int32 // the edges of all nodes of the path
	open []int32 // nodes whose component is not known yet, as they were seen
	out  [][]int32
}

// isNew reports whether a node was not seen in this search.
func (s *search) isNew(node int32) bool {
	number := s.number[node]
	return number <= s.base && number != s.closed
}

// step is a node of the path.
type step struct {
	node int32
	// lowest is the smallest number of an open node that was reached from the node.
	lowest int32
	// at is the next of its edges in search.next, and first its first.
	first, at int
}

func (s *search) enter(node int32) {
	s.seen++
	s.number[node] = s.seen
	s.open = append(s.open, node)
	first := len(s.next)
	s.next = s.edges(node, s.next)
	s.path = append(s.path, step{node, s.seen, first, first})
}

func (s *search) visit(node int32) {
	s.enter(node)
	for len(s.path) > 0 {
		last := &s.path[len(s.path)-1]
		if last.at == len(s.next) {
			s.leave(*last)
			continue
		}
		to := s.next[last.at]
		last.at++
		switch {
		case s.isNew(to):
			s.enter(to)
		case s.number[to] != s.closed:
			last.lowest = min(last.lowest, s.number[to])
		}
	}
}

// leave removes the last node from the path when all of its edges are searched. If it reaches no open node that was seen before it, it
// and the open nodes that were seen after it are a component.
func (s *search) leave(last step) {
	s.path, s.next = s.path[:len(s.path)-1], s.next[:last.first]
	if len(s.path) > 0 {
		before := &s.path[len(s.path)-1]
		before.lowest = min(before.lowest, last.lowest)
	}
	if last.lowest < s.number[last.node] {
		return
	}
	at := len(s.open) - 1
	for s.open[at] != last.node {
		at--
	}
	component := append([]int32(nil), s.open[at:]...)
	s.open = s.open[:at]
	for _, node := range component {
		s.number[node] = s.closed
	}
	s.out = append(s.out, component)
}
