package mpir_test

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// arranged is what a communicator says of how its processes are arranged.
type arranged struct {
	topology     mqs.Topology
	dimensions   []mqs.Dimension
	sources      []int32
	destinations []int32
}

// A topology is the attribute that has the library's own key; what can't be right is not known.
func TestTopology(t *testing.T) {
	const key, other = 0x64400000, 0x64400001
	for name, c := range map[string]struct {
		topology func(m *mpichtest.Made) mpichtest.Members
		key      int32 // under which it stands
		own      int32 // the library's
		want     arranged
	}{
		"Cartesian": {func(m *mpichtest.Made) mpichtest.Members {
			return mpichtest.Members{"kind": 2, "topo.cart.ndims": 2, "topo.cart.dims": uint64(m.Ints(3, 1)), "topo.cart.periodic": uint64(m.Ints(4, 0)), "topo.cart.position": uint64(m.Ints(2, 0))}
		}, key, key, arranged{mqs.Cartesian, []mqs.Dimension{{Size: 3, Periodic: 1, Coordinate: 2}, {Size: 1}}, nil, nil}},
		"a graph": {func(m *mpichtest.Made) mpichtest.Members {
			return mpichtest.Members{"kind": 1, "topo.graph.nnodes": 3, "topo.graph.nedges": 4, "topo.graph.index": uint64(m.Ints(2, 3, 4)), "topo.graph.edges": uint64(m.Ints(1, 2, 0, 0))}
		}, key, key, arranged{mqs.Graph, nil, []int32{1, 2}, []int32{1, 2}}},
		"a distributed graph": {func(m *mpichtest.Made) mpichtest.Members {
			return mpichtest.Members{"kind": 3, "topo.dist_graph.indegree": 1, "topo.dist_graph.in": uint64(m.Ints(2)), "topo.dist_graph.outdegree": 2, "topo.dist_graph.out": uint64(m.Ints(1, 2))}
		}, key, key, arranged{mqs.DistributedGraph, nil, []int32{2}, []int32{1, 2}}},
		"another attribute": {func(*mpichtest.Made) mpichtest.Members { return mpichtest.Members{"kind": 2} }, other, key, arranged{topology: mqs.NoTopology}},
		"no topology yet":   {func(*mpichtest.Made) mpichtest.Members { return mpichtest.Members{"kind": 2} }, other, 0x24000000, arranged{topology: mqs.NoTopology}},
		"no such key":       {func(*mpichtest.Made) mpichtest.Members { return mpichtest.Members{"kind": 2} }, other, 7, arranged{}},
		"too many dimensions": {func(*mpichtest.Made) mpichtest.Members {
			return mpichtest.Members{"kind": 2, "topo.cart.ndims": 1 << 30}
		}, key, key, arranged{}},
		"edges behind the last": {func(m *mpichtest.Made) mpichtest.Members {
			return mpichtest.Members{"kind": 1, "topo.graph.nnodes": 3, "topo.graph.nedges": 1, "topo.graph.index": uint64(m.Ints(2, 3, 4)), "topo.graph.edges": uint64(m.Ints(1, 2, 0, 0))}
		}, key, key, arranged{}},
		"unknown": {func(*mpichtest.Made) mpichtest.Members { return mpichtest.Members{"kind": 9} }, key, key, arranged{}},
	} {
		m := mpichtest.Make(t)
		world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
		keyval := m.Object("MPII_Keyval", mpichtest.Members{"handle": uint64(c.key)})
		elsewhere := m.Object("MPII_Keyval", mpichtest.Members{"handle": 0x64400009})
		last := m.Object("MPIR_Attribute", mpichtest.Members{"keyval": uint64(keyval), "value": uint64(m.Object("MPIR_Topology", c.topology(m)))})
		first := m.Object("MPIR_Attribute", mpichtest.Members{"keyval": uint64(elsewhere), "next": uint64(last), "value": 0x10})
		m.PutPointer(world.UniqueID+m.Offset("MPIR_Comm", "attributes"), first)
		m.SetSymbol("MPIR_Topology_keyval", inferior.Symbol{Addr: m.Ints(c.own)})
		got := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
		if got := (arranged{got.Topology, got.Dimensions, got.Sources, got.Destinations}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A communicator that was revoked says so.
func TestRevoked(t *testing.T) {
	m := mpichtest.Make(t)
	world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
	if world.Revoked != mqs.Known(false) || world.Topology != mqs.NoTopology {
		t.Errorf("%+v, %q", world.Revoked, world.Topology)
	}
	m.PutUint32(world.UniqueID+m.Offset("MPIR_Comm", "revoked"), 1)
	if got := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD").Revoked; got != mqs.Known(true) {
		t.Errorf("%+v", got)
	}
}
