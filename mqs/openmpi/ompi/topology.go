package ompi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Flags of a communicator's topology (ompi/communicator/communicator.h, 4.0 to 6.0).
const (
	commCart      = 0x100
	commGraph     = 0x200
	commDistGraph = 0x400
)

// maxDimensions bounds the dimensions of a Cartesian topology that are believed.
const maxDimensions = 1 << 10

// readTopologies fills in how the processes of communicators are arranged. A process whose communicators have
// no topologies costs no reading.
func (p *Process) readTopologies(comms []*Comm) {
	var with []*Comm
	for _, c := range comms {
		c.Model.Topology = topologyOf(c.Flags)
		if c.Topology != 0 && c.Model.Topology != mqs.NoTopology {
			with = append(with, c)
		}
	}
	if len(with) == 0 || !p.TopoModule.Bound() {
		return
	}
	// What the pointers of one object lead to is brought for all communicators at once.
	kept := map[*Comm]inferior.Addr{}
	var ranges []inferior.Range
	for _, c := range with {
		ranges = append(ranges, inferior.RangeOf(&p.TopoModule, c.Topology, 1))
	}
	_ = p.R.Prefetch(ranges) // what fails here fails again below
	ranges = nil
	for _, c := range with {
		place := inferior.Places(&p.TopoModule, c.Topology).Kept
		if to, err := p.R.Pointers(place.Addr(), 1); err == nil {
			kept[c] = to[0]
			ranges = append(ranges, inferior.Range{Addr: to[0], Len: p.Cart.Size()})
		}
	}
	_ = p.R.Prefetch(ranges)
	for _, c := range with {
		switch at := kept[c]; {
		case at == 0:
		case c.Model.Topology == mqs.Cartesian:
			p.readCart(c.Model, inferior.Ptr[cart](at))
		case c.Model.Topology == mqs.Graph:
			p.readGraph(c.Model, inferior.Ptr[graph](at), c.MyRank)
		default:
			p.readDistGraph(c.Model, inferior.Ptr[distGraph](at))
		}
	}
}

func topologyOf(flags uint32) mqs.Topology {
	switch {
	case flags&commCart != 0:
		return mqs.Cartesian
	case flags&commGraph != 0:
		return mqs.Graph
	case flags&commDistGraph != 0:
		return mqs.DistributedGraph
	}
	return mqs.NoTopology
}

func (p *Process) readCart(to *mqs.Communicator, at inferior.Ptr[cart]) {
	if !p.Cart.Bound() || ProveClass(p, &p.Cart, at) != nil {
		return
	}
	c, err := p.Cart.Read(p.R, at)
	if err != nil || c.Count < 0 || c.Count > maxDimensions {
		return
	}
	n := int(c.Count)
	_ = p.R.Prefetch([]inferior.Range{{Addr: c.Sizes, Len: 4 * n}, {Addr: c.Periods, Len: 4 * n}, {Addr: c.Coordinates, Len: 4 * n}})
	sizes, err := p.integers(c.Sizes, n)
	if err != nil {
		return
	}
	periods, err := p.integers(c.Periods, n)
	if err != nil {
		return
	}
	coordinates, err := p.integers(c.Coordinates, n)
	if err != nil {
		return
	}
	to.Dimensions = make([]mqs.Dimension, n)
	for i := range n {
		to.Dimensions[i] = mqs.Dimension{Size: sizes[i], Coordinate: coordinates[i]}
		if periods[i] != 0 {
			to.Dimensions[i].Periodic = 1
		}
	}
}

// readGraph reads the neighbours of a rank. The index of each rank is where its edges end.
func (p *Process) readGraph(to *mqs.Communicator, at inferior.Ptr[graph], rank int32) {
	if !p.Graph.Bound() || ProveClass(p, &p.Graph, at) != nil {
		return
	}
	g, err := p.Graph.Read(p.R, at)
	if err != nil || rank < 0 || rank >= g.Nodes {
		return
	}
	first := max(rank-1, 0)
	ends, err := p.integers(g.Index+inferior.Addr(4*first), int(rank-first)+1)
	if err != nil {
		return
	}
	from, until := int32(0), ends[len(ends)-1]
	if rank > 0 {
		from = ends[0]
	}
	if from < 0 || until < from || until-from > MaxGroup {
		return
	}
	neighbours, err := p.integers(g.Edges+inferior.Addr(4*from), int(until-from))
	if err != nil {
		return
	}
	to.Sources, to.Destinations = neighbours, neighbours
}

func (p *Process) readDistGraph(to *mqs.Communicator, at inferior.Ptr[distGraph]) {
	if !p.DistGraph.Bound() || ProveClass(p, &p.DistGraph, at) != nil {
		return
	}
	g, err := p.DistGraph.Read(p.R, at)
	if err != nil || g.InDegree < 0 || g.OutDegree < 0 || g.InDegree > MaxGroup || g.OutDegree > MaxGroup {
		return
	}
	in, err := p.integers(g.In, int(g.InDegree))
	if err != nil {
		return
	}
	out, err := p.integers(g.Out, int(g.OutDegree))
	if err != nil {
		return
	}
	to.Sources, to.Destinations = in, out
}

// integers reads an array of n values of type int.
func (p *Process) integers(at inferior.Addr, n int) ([]int32, error) {
	if n == 0 {
		return []int32{}, nil
	}
	const size = 4
	if _, err := p.R.Bytes(at, n*size); err != nil {
		return nil, err
	}
	if err := p.R.Spend(n * size); err != nil {
		return nil, err
	}
	out := make([]int32, n)
	for i := range out {
		v, err := p.R.Int(at+inferior.Addr(i*size), size)
		if err != nil {
			return nil, err
		}
		out[i] = int32(v)
	}
	return out, nil
}
