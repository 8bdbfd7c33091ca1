package mpir

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Kinds of topologies (MPIR_Topo_type in src/include/mpir_topo.h, 4.0 to 5.0).
const (
	topologyGraph     = 1
	topologyCartesian = 2
	topologyDistGraph = 3
)

const (
	invalidKeyval = 0x24000000 // MPI_KEYVAL_INVALID (src/include/mpi.h.in)
	maxAttributes = 1 << 12
	maxDimensions = 1 << 10
)

// setTopology finds out how the processes of a communicator are arranged. The library keeps it as an attribute under
// a key of its own.
func (l *Library) setTopology(c *Communicator) {
	if _, ok := inferior.OffsetOf(&l.c.Comm, func(c *Comm) *inferior.Ptr[attribute] { return &c.Attributes }); !ok {
		return
	}
	if c.Attributes == 0 || c.Kind == CommInter {
		c.Model.Topology = mqs.NoTopology
		return
	}
	key, ok := l.topologyKeyval()
	if !ok {
		return
	}
	next := func(a inferior.Ptr[attribute]) (inferior.Ptr[attribute], error) {
		attr, err := l.o.topology.Attribute.Read(l.Reader, a)
		return attr.Next, err
	}
	for a, err := range inferior.Walk(c.Attributes, 0, maxAttributes, next) {
		if err != nil {
			return
		}
		attr, err := l.o.topology.Attribute.Read(l.Reader, a)
		if err != nil {
			return
		}
		k, err := l.o.topology.Keyval.Read(l.Reader, attr.Keyval)
		if err != nil {
			return
		}
		if k.Handle == key {
			l.readTopology(c, attr.Value)
			return
		}
	}
	c.Model.Topology = mqs.NoTopology
}

// topologyKeyval is the key under which topologies are kept; false if that is not known.
func (l *Library) topologyKeyval() (uint32, bool) {
	at, ok := l.Symbols[symTopologyKeyval]
	if !ok || !l.o.topology.Attribute.Bound() {
		return 0, false
	}
	key, err := l.Reader.Uint(at.Addr, 4)
	if err != nil {
		return 0, false
	}
	return uint32(key), key == invalidKeyval || key>>objectKindShift&objectKindMask == objectKeyval
}

// readTopology fills in a topology, of which the memory holds the whole.
func (l *Library) readTopology(c *Communicator, at inferior.Ptr[topology]) {
	t, err := l.o.topology.Topology.Read(l.Reader, at)
	if err != nil {
		return
	}
	switch t.Kind {
	case topologyCartesian:
		if t.Dimensions < 0 || t.Dimensions > maxDimensions {
			return
		}
		sizes, ok1 := l.signed(t.Sizes, int(t.Dimensions), 4)
		periodic, ok2 := l.signed(t.Periodic, int(t.Dimensions), 4)
		position, ok3 := l.signed(t.Position, int(t.Dimensions), 4)
		if !ok1 || !ok2 || !ok3 {
			return
		}
		c.Model.Topology, c.Model.Dimensions = mqs.Cartesian, []mqs.Dimension{}
		for i := range sizes {
			c.Model.Dimensions = append(c.Model.Dimensions, mqs.Dimension{Size: int32(sizes[i]), Periodic: flag(periodic[i]), Coordinate: int32(position[i])})
		}
	case topologyGraph:
		neighbours, ok := l.graphNeighbours(&t, c.Rank)
		if ok {
			c.Model.Topology, c.Model.Sources, c.Model.Destinations = mqs.Graph, neighbours, slices.Clone(neighbours)
		}
	case topologyDistGraph:
		in, ok1 := l.Ranks(t.In, t.Indegree)
		out, ok2 := l.Ranks(t.Out, t.Outdegree)
		if ok1 && ok2 {
			c.Model.Topology, c.Model.Sources, c.Model.Destinations = mqs.DistributedGraph, in, out
		}
	}
}

// flag is 1 for what C takes for true.
func flag(v int64) int32 {
	if v != 0 {
		return 1
	}
	return 0
}

// graphNeighbours are the neighbours of a rank in a graph, where every rank has the whole.
func (l *Library) graphNeighbours(t *topology, rank int32) ([]int32, bool) {
	if rank >= t.Nodes || t.Nodes > MaxMembers || t.Edges < 0 {
		return nil, false
	}
	// The i-th number is how many edges the ranks up to i have.
	first, count := int64(0), 2
	at := t.Index + inferior.Addr(4*(rank-1))
	if rank == 0 {
		at, count = t.Index, 1
	}
	ends, ok := l.signed(at, count, 4)
	if !ok {
		return nil, false
	}
	if count == 2 {
		first = ends[0]
	}
	last := ends[count-1]
	if first < 0 || last < first || last > int64(t.Edges) {
		return nil, false
	}
	return l.Ranks(t.Ends+inferior.Addr(4*first), int32(last-first))
}

// Ranks reads an array of n ranks, each an int; false if it can't be read, or there are others in it.
func (l *Library) Ranks(at inferior.Addr, n int32) ([]int32, bool) {
	if n < 0 || n > MaxMembers {
		return nil, false
	}
	numbers, ok := l.signed(at, int(n), 4)
	out := make([]int32, 0, len(numbers))
	for _, r := range numbers {
		if r < 0 || r >= MaxMembers {
			return nil, false
		}
		out = append(out, int32(r))
	}
	return out, ok
}
