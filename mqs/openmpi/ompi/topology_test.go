package ompi_test

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// The topologies of communicators, as each kind keeps them. What does not fit the flags is not believed.
func TestTopologies(t *testing.T) {
	const cart, graph, dist = "mca_topo_base_comm_cart_2_2_0_t", "mca_topo_base_comm_graph_2_2_0_t", "mca_topo_base_comm_dist_graph_2_2_0_t"
	for what, of := range map[string]struct {
		flag uint32
		make func(o *ompitest.Objects, rank int32) inferior.Addr
		want func(c *mqs.Communicator)
	}{
		"none": {0, func(*ompitest.Objects, int32) inferior.Addr { return 0 }, func(c *mqs.Communicator) { c.Topology = mqs.NoTopology }},
		"cart": {0x100, func(o *ompitest.Objects, _ int32) inferior.Addr {
			at := o.Object(cart)
			o.Put(at, cart, "ndims", 2)
			o.Put(at, cart, "dims", uint64(o.Integers(3, 1)))
			o.Put(at, cart, "periods", uint64(o.Integers(7, 0)))
			o.Put(at, cart, "coords", uint64(o.Integers(2, 0)))
			return at
		}, func(c *mqs.Communicator) {
			c.Topology, c.Dimensions = mqs.Cartesian, []mqs.Dimension{{Size: 3, Periodic: 1, Coordinate: 2}, {Size: 1}}
		}},
		"graph": {0x200, func(o *ompitest.Objects, rank int32) inferior.Addr {
			at := o.Object(graph)
			o.Put(at, graph, "nnodes", 3)
			o.Put(at, graph, "index", uint64(o.Integers([][]int32{{2, 2, 2}, {1, 3, 3}, {1, 1, 3}}[rank]...)))
			edges := make([]int32, rank)
			if rank == 2 {
				edges = edges[:1]
			}
			o.Put(at, graph, "edges", uint64(o.Integers(append(edges, 1, 2)...)))
			return at
		}, func(c *mqs.Communicator) {
			c.Topology, c.Sources, c.Destinations = mqs.Graph, []int32{1, 2}, []int32{1, 2}
		}},
		"distributed graph": {0x400, func(o *ompitest.Objects, _ int32) inferior.Addr {
			at := o.Object(dist)
			o.Put(at, dist, "indegree", 1)
			o.Put(at, dist, "in", uint64(o.Integers(2)))
			return at
		}, func(c *mqs.Communicator) {
			c.Topology, c.Sources, c.Destinations = mqs.DistributedGraph, []int32{2}, []int32{}
		}},
		"a graph in the place of a cart": {0x100, func(o *ompitest.Objects, _ int32) inferior.Addr { return o.Object(graph) },
			func(c *mqs.Communicator) { c.Topology = mqs.Cartesian }},
		"too many dimensions": {0x100, func(o *ompitest.Objects, _ int32) inferior.Addr {
			at := o.Object(cart)
			o.Put(at, cart, "ndims", 1<<30)
			return at
		}, func(c *mqs.Communicator) { c.Topology = mqs.Cartesian }},
	} {
		o := ompitest.MakeObjects(t, "openmpi-4.1.4/queues-rank-1", ob1.Component)
		c := dup(t, o.Process())
		module := o.Object("mca_topo_base_module_t")
		o.Put(module, "mca_topo_base_module_t", "mtc", uint64(of.make(o, c.MyRank)))
		o.Put(c.At.Addr(), "ompi_communicator_t", "c_flags", uint64(c.Flags&^0x700|of.flag))
		o.Put(c.At.Addr(), "ompi_communicator_t", "c_topo", uint64(module))
		want := *c.Model
		of.want(&want)
		p, _ := o.Open(ob1.Component)
		if got := *p.CommAt(c.At).Model; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
}
