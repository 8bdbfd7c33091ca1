package waitfor

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// relation says which of some ranks wait for which, as a graph for gonum. It is a view of the
// wait-for graph and takes no memory of its own. It takes two steps from each rank to one that it
// waits for, so that shortest paths are right: the step between goes through the set of ranks that
// is waited for, or through a node that stands for a single rank.
//
// With n ranks and m sets, ranks are the nodes 0 to n-1, sets n to n+m-1, and the nodes that stand
// for single ranks n+m to 2n+m-1.
type relation struct {
	*job
	sets []int32 // the number of the relation that each rank is in; shared by all relations
	set  int32   // the number of this relation
}

var _ graph.Directed = relation{}

func (v relation) setNode(g *rankSet) int64 { return int64(len(v.ranks)) + int64(g.id) }
func (v relation) singleNode(r int32) int64 { return int64(len(v.ranks)+len(v.rankSets)) + int64(r) }
func (v relation) isRank(id int64) bool     { return id < int64(len(v.ranks)) }
func (v relation) setOf(id int64) *rankSet  { return v.rankSets[id-int64(len(v.ranks))] }
func (v relation) Node(id int64) graph.Node { return simple.Node(id) }
func (v relation) Edge(x, y int64) graph.Edge {
	return simple.Edge{F: simple.Node(x), T: simple.Node(y)}
}

func (v relation) in(rank int32) bool { return v.sets[rank] == v.set }

// Nodes returns the ranks. The other nodes are found from these.
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
	switch single := id - int64(len(v.ranks)+len(v.rankSets)); {
	case v.isRank(id):
		for _, w := range v.ranks[id].waits {
			for i := range w.deps {
				switch g := &w.deps[i]; {
				case !v.holds(g):
				case g.rank < 0:
					out = append(out, simple.Node(v.setNode(g.set)))
				case v.in(g.rank):
					out = append(out, simple.Node(v.singleNode(g.rank)))
				}
			}
		}
	case single >= 0:
		out = append(out, simple.Node(single))
	default:
		for _, r := range v.setOf(id).ranks {
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
	for x := range int64(2*len(v.ranks) + len(v.rankSets)) {
		if v.HasEdgeFromTo(x, id) {
			out = append(out, simple.Node(x))
		}
	}
	return iterator.NewOrderedNodes(out)
}
