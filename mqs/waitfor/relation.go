package waitfor

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// relation is who waits for whom among some ranks, for gonum: a view of the
// wait-for graph that takes no memory of its own. From each rank it is two
// steps to one that it waits for, so that shortest paths are right: over the
// group that it is waited for with, or over a node that stands for that alone.
//
// With n ranks and m groups, ranks are nodes 0 to n-1, groups n to n+m-1, and
// the nodes over which single ranks are waited for n+m to 2n+m-1.
type relation struct {
	*job
	sets []int32 // by rank; shared by all relations
	set  int32   // the ranks of this one have this number
}

var _ graph.Directed = relation{}

func (v relation) groupNode(g *group) int64 { return int64(len(v.ranks)) + int64(g.id) }
func (v relation) singleNode(r int32) int64 { return int64(len(v.ranks)+len(v.groups)) + int64(r) }
func (v relation) isRank(id int64) bool     { return id < int64(len(v.ranks)) }
func (v relation) groupOf(id int64) *group  { return v.groups[id-int64(len(v.ranks))] }
func (v relation) Node(id int64) graph.Node { return simple.Node(id) }
func (v relation) Edge(x, y int64) graph.Edge {
	return simple.Edge{F: simple.Node(x), T: simple.Node(y)}
}

func (v relation) in(rank int32) bool { return v.sets[rank] == v.set }

// Nodes are the ranks; the others are found from them.
func (v relation) Nodes() graph.Nodes {
	var out []graph.Node
	for i := range v.ranks {
		if v.in(int32(i)) {
			out = append(out, simple.Node(i))
		}
	}
	return iterator.NewOrderedNodes(out)
}

// From returns the nodes that follow a node.
func (v relation) From(id int64) graph.Nodes {
	var out []graph.Node
	switch single := id - int64(len(v.ranks)+len(v.groups)); {
	case v.isRank(id):
		for _, w := range v.ranks[id].waits {
			for i := range w.goals {
				switch g := &w.goals[i]; {
				case !v.holds(g):
				case g.rank < 0:
					out = append(out, simple.Node(v.groupNode(g.group)))
				case v.in(g.rank):
					out = append(out, simple.Node(v.singleNode(g.rank)))
				}
			}
		}
	case single >= 0:
		out = append(out, simple.Node(single))
	default:
		for _, r := range v.groupOf(id).ranks {
			if v.in(r) {
				out = append(out, simple.Node(r))
			}
		}
	}
	return iterator.NewOrderedNodes(out)
}

// HasEdgeFromTo says whether y follows x.
func (v relation) HasEdgeFromTo(x, y int64) bool {
	for to := v.From(x); to.Next(); {
		if to.Node().ID() == y {
			return true
		}
	}
	return false
}

// HasEdgeBetween says whether one of the two follows the other.
func (v relation) HasEdgeBetween(x, y int64) bool {
	return v.HasEdgeFromTo(x, y) || v.HasEdgeFromTo(y, x)
}

// To returns the nodes that a node follows.
func (v relation) To(id int64) graph.Nodes {
	var out []graph.Node
	for x := range int64(2*len(v.ranks) + len(v.groups)) {
		if v.HasEdgeFromTo(x, id) {
			out = append(out, simple.Node(x))
		}
	}
	return iterator.NewOrderedNodes(out)
}
