package waitfor

// relation says which of some ranks wait for which, as a graph for package digraph. It is a view of the
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

func (v relation) setNode(g *rankSet) int32 { return int32(len(v.ranks)) + g.id }
func (v relation) singleNode(r int32) int32 { return int32(len(v.ranks)+len(v.rankSets)) + r }
func (v relation) isRank(id int32) bool     { return int(id) < len(v.ranks) }
func (v relation) setOf(id int32) *rankSet  { return v.rankSets[int(id)-len(v.ranks)] }
func (v relation) in(rank int32) bool       { return v.sets[rank] == v.set }

// relationSize returns how many nodes a relation among the job's ranks has at most.
func (j *job) relationSize() int { return 2*len(j.ranks) + len(j.rankSets) }

// next appends the nodes that follow a node.
func (v relation) next(id int32, to []int32) []int32 {
	switch single := id - v.singleNode(0); {
	case v.isRank(id):
		for _, w := range v.ranks[id].waits {
			for i := range w.deps {
				switch g := &w.deps[i]; {
				case !v.holds(g):
				case g.rank < 0:
					to = append(to, v.setNode(g.set))
				case v.in(g.rank):
					to = append(to, v.singleNode(g.rank))
				}
			}
		}
	case single >= 0:
		to = append(to, single)
	default:
		for _, r := range v.setOf(id).ranks {
			if v.in(r) {
				to = append(to, r)
			}
		}
	}
	return to
}
