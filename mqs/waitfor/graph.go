package waitfor

// node waits for all of its dependencies, or for any of them.
type node struct {
	all  bool
	deps []int32
	// unknown is true if it may wait for nodes beyond its dependencies, and nobody knows for which.
	unknown bool
}

// andOr is a wait-for graph (an AND-OR graph). A node is released once all, or any, of its
// dependencies are. A node that waits for all of no nodes is released from the start; one that waits
// for any of no nodes never is.
type andOr struct {
	nodes []node
	// The nodes that wait for node n are waiters[first[n]:first[n+1]].
	first, waiters []int32
}

func newAndOr(nodes []node) *andOr {
	g := &andOr{nodes: nodes, first: make([]int32, len(nodes)+1)}
	for i := range nodes {
		for _, k := range nodes[i].deps {
			g.first[k+1]++
		}
	}
	for i := range nodes {
		g.first[i+1] += g.first[i]
	}
	g.waiters = make([]int32, g.first[len(nodes)])
	next := append([]int32(nil), g.first...)
	for i := range nodes {
		for _, k := range nodes[i].deps {
			g.waiters[next[k]] = int32(i)
			next[k]++
		}
	}
	return g
}

// releases returns the nodes that can be released, however long it takes: the smallest set that
// fulfils the graph. What is not known counts as released if optimistic, else as never released.
func (g *andOr) releases(optimistic bool) []bool {
	all := make([]int32, len(g.nodes))
	for i := range all {
		all[i] = int32(i)
	}
	released := make([]bool, len(g.nodes))
	g.release(all, released, make([]int32, len(g.nodes)), optimistic)
	return released
}

// release marks the nodes of a part of the graph that can be released, given those outside of the
// part that are. need is scratch space for all nodes, and all zero before and after.
func (g *andOr) release(part []int32, released []bool, need []int32, optimistic bool) {
	var ready []int32
	for _, i := range part {
		if need[i] = g.nodes[i].lacks(released, optimistic); need[i] == 0 {
			ready = append(ready, i)
		}
	}
	for _, i := range ready {
		released[i] = true
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, w := range g.waiters[g.first[i]:g.first[i+1]] {
			if need[w] == 0 {
				continue // released, or outside
			}
			if need[w]--; need[w] == 0 {
				released[w] = true
				ready = append(ready, w)
			}
		}
	}
	for _, i := range part {
		need[i] = 0
	}
}

// lacks counts the nodes that have yet to be released before this one is.
func (n *node) lacks(released []bool, optimistic bool) int32 {
	if n.all {
		lacks := int32(0)
		for _, k := range n.deps {
			if !released[k] {
				lacks++
			}
		}
		if n.unknown && !optimistic {
			lacks++ // nothing makes up for it
		}
		return lacks
	}
	if n.unknown && optimistic {
		return 0
	}
	for _, k := range n.deps {
		if released[k] {
			return 0
		}
	}
	return 1
}
