package waitfor

import (
	"testing"
)

// The graph of who waits for whom is the same read from either end.
func TestRelationBothWays(t *testing.T) {
	m := newMade(3)
	m.rank(0).recv(worldID, 1, 7)
	m.rank(1).recv(worldID, 2, 7)
	m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 2)
	j := known(m)
	v := relation{job: j, sets: make([]int32, len(j.ranks))}
	n := int64(2*len(j.ranks) + len(j.rankSets))
	edges := 0
	for x := range n {
		to := map[int64]bool{}
		for nodes := v.From(x); nodes.Next(); {
			to[nodes.Node().ID()] = true
		}
		from := map[int64]bool{}
		for nodes := v.To(x); nodes.Next(); {
			from[nodes.Node().ID()] = true
		}
		for y := range n {
			if v.HasEdgeFromTo(x, y) != to[y] || v.HasEdgeFromTo(y, x) != from[y] || v.HasEdgeBetween(x, y) != (to[y] || from[y]) {
				t.Errorf("%d and %d: follows %t, is followed %t", x, y, to[y], from[y])
			}
		}
		edges += len(to)
	}
	if edges == 0 {
		t.Error("nobody waits")
	}
}
