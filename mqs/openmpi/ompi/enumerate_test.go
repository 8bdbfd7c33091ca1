package ompi_test

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// The handles of a process are the objects in the arrays of all kinds, at most so many of each, but for what tells how
// the program was started; and the datatypes that operations have.
func TestHandles(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	infos := []inferior.Addr{o.Object("ompi_info_t"), o.Object("ompi_info_t"), o.Object("ompi_info_t"), 0, o.Object("ompi_info_t")}
	groups := []inferior.Addr{o.Object("ompi_group_t"), o.Object("ompi_group_t"), 0}
	o.Array("ompi_info_f_to_c_table", infos...)
	o.Array("ompi_group_f_to_c_table", groups...)
	alone := []inferior.Addr{o.Object("ompi_errhandler_t")}
	o.Array("ompi_errhandler_f_to_c_table", alone...)
	p, q := o.Open(ob1.Component)
	for most, want := range map[int]map[mqs.HandleKind][]inferior.Addr{
		100: {mqs.InfoHandle: {infos[0], infos[2], infos[4]}, mqs.GroupHandle: groups[:2], mqs.ErrhandlerHandle: alone},
		2:   {mqs.InfoHandle: {infos[0], infos[2]}, mqs.GroupHandle: groups[:2], mqs.ErrhandlerHandle: alone},
		1:   {mqs.InfoHandle: infos[:1], mqs.GroupHandle: groups[:1], mqs.ErrhandlerHandle: alone},
		0:   {},
	} {
		got := map[mqs.HandleKind][]inferior.Addr{}
		for _, h := range p.Handles(most) {
			got[h.Kind] = append(got[h.Kind], inferior.Addr(h.Value))
		}
		if len(got) != len(want) {
			t.Errorf("at most %d: %v", most, got)
		}
		for kind, list := range want {
			if !slices.Equal(got[kind], list) {
				t.Errorf("at most %d: %s %v, want %v", most, kind, got[kind], list)
			}
		}
	}
	operations, err := ompitest.Operations(q, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.PendingReceives)
	if err != nil || len(operations) == 0 {
		t.Fatal(operations, err)
	}
	var types []uint64
	for _, h := range p.Handles(100) {
		if h.Kind == mqs.DatatypeHandle {
			types = append(types, h.Value)
		}
	}
	if len(types) == 0 || !slices.IsSorted(types) {
		t.Errorf("datatypes %#x", types)
	}
}

// Of the array of infos that has MPI_INFO_NULL alone, nothing is left out.
func TestHandlesOfFewInfos(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	null := o.Object("ompi_info_t")
	for n, want := range map[int]int{1: 1, 2: 1} {
		o.Array("ompi_info_f_to_c_table", []inferior.Addr{null, o.Object("ompi_info_t")}[:n]...)
		p, _ := o.Open(ob1.Component)
		if got := p.Handles(100); len(got) != want || got[0].Value != uint64(null) {
			t.Errorf("of %d: %+v", n, got)
		}
	}
}

// A session has the name that the library has given it, and none if that is empty.
func TestSessions(t *testing.T) {
	o := ompitest.MakeObjects(t, "openmpi-5.0.7/queues-rank-0", ob1.Component)
	session := func(index uint64, name string) inferior.Addr {
		at := o.Object("ompi_instance_t")
		o.Put(at, "ompi_instance_t", "i_f_to_c_index", index)
		o.PutText(at, "ompi_instance_t", "i_name", name)
		return at
	}
	null, named, unnamed, gone := session(0, "a null"), session(1, "mpi://ours"), session(2, ""), session(3, "x")
	o.Array("ompi_instance_f_to_c_table", null, named, unnamed, 0)
	p, q := o.Open(ob1.Component)
	for at, want := range map[inferior.Addr]mqs.Handle{
		null: {State: mqs.NullHandle, Name: mqs.Known("MPI_SESSION_NULL")}, named: {State: mqs.LiveHandle, Name: mqs.Known("mpi://ours")},
		unnamed: {State: mqs.LiveHandle}, gone: {State: mqs.FreedHandle}, o.Object("ompi_info_t"): {State: mqs.InvalidHandle},
	} {
		if h := p.Resolve(q, mqs.HandleValue{Kind: mqs.SessionHandle, Value: uint64(at)}); h.State != want.State || h.Name != want.Name {
			t.Errorf("%s: %+v, want %+v", at, h, want)
		}
	}
}
