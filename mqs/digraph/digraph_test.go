package digraph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// follow returns the edges of a graph of lists of edges.
func follow(edges [][]int32) Next {
	return func(node int32, to []int32) []int32 { return append(to, edges[node]...) }
}

// Of random graphs, two nodes are in one component if each can be reached from the other, and a component comes after those to
// which it leads. One Finder finds them in one graph after the other.
func TestComponents(t *testing.T) {
	finder := NewFinder(13)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		if i == 1000 {
			finder.seen, finder.closed = mostSeen+1, -mostSeen
		}
		n := 1 + random.IntN(12)
		edges := make([][]int32, n)
		reaches := make([][]bool, n)
		for i := range edges {
			reaches[i] = make([]bool, n)
			reaches[i][i] = true
			for range random.IntN(4) {
				to := random.IntN(n)
				edges[i] = append(edges[i], int32(to))
				reaches[i][to] = true
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
				}
			}
		}
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		from := all[:1+random.IntN(n)]
		of := make([]int, n)
		for i := range of {
			of[i] = -1
		}
		components := finder.Components(from, follow(edges))
		for k, c := range components {
			for _, node := range c {
				if of[node] >= 0 {
					t.Fatalf("%v: node %d is in two components of %v", edges, node, components)
				}
				of[node] = k
			}
		}
		for i := range n {
			isReached := slices.ContainsFunc(from, func(f int32) bool { return reaches[f][i] })
			if isReached != (of[i] >= 0) {
				t.Fatalf("%v: node %d from %v: %v", edges, i, from, components)
			}
			for j := range n {
				if of[i] >= 0 && of[j] >= 0 && (of[i] == of[j]) != (reaches[i][j] && reaches[j][i]) {
					t.Fatalf("%v: nodes %d and %d are in %v", edges, i, j, components)
				}
				if of[i] >= 0 && reaches[i][j] && of[j] > of[i] {
					t.Fatalf("%v: node %d comes before %d in %v", edges, i, j, components)
				}
			}
		}
	}
}

// A long path needs no more stack than a short one, and has a component for each node.
func TestLongPath(t *testing.T) {
	const n = 1_000_000
	all := NewFinder(n).Components([]int32{0}, func(node int32, to []int32) []int32 {
		if node+1 < n {
			to = append(to, node+1)
		}
		return to
	})
	if len(all) != n || all[0][0] != n-1 {
		t.Errorf("%d components", len(all))
	}
}
