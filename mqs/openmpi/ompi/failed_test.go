package ompi_test

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

const groupsOf507 = "openmpi-5.0.7/groups-rank-0"

// Each communicator has its own ranks of the processes that have failed, if the library looks out for failures.
func TestFailed(t *testing.T) {
	const memory, root, enabled = 0x1000_0000, 0x1000_0000, 0x1000_0100
	tg := inferiortest.Patch(inferiortest.Recorded(t, groupsOf507)).AddMemory(memory, make([]byte, inferiortest.Page))
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	odds := ompitest.Comm(t, p, "half")
	tg.PutPointer(root, odds.LocalGroup.Addr())
	tg.SetSymbol("ompi_group_all_failed_procs", inferior.Symbol{Addr: root}).SetSymbol("ompi_ftmpi_enabled", inferior.Symbol{Addr: enabled})
	p, _ = ompitest.MustOpen(t, tg, ob1.Component)
	for _, c := range p.Comms {
		if c.Model.Failed != nil {
			t.Errorf("%s has lost %v, and nothing looks out for failures", c.Model.Label(), c.Model.Failed)
		}
	}
	tg.PutBytes(enabled, []byte{1})
	p, _ = ompitest.MustOpen(t, tg, ob1.Component)
	lost := 0
	for _, c := range p.Comms {
		want := []int32{}
		for rank, member := range c.Model.Group {
			if slices.Contains(odds.Model.Group, member) {
				want = append(want, int32(rank))
			}
		}
		if lost += len(want); c.Model.Failed == nil || !slices.Equal(c.Model.Failed, want) {
			t.Errorf("%s has lost %v, want %v", c.Model.Label(), c.Model.Failed, want)
		}
	}
	if lost < 8 {
		t.Errorf("%d members have failed in all", lost)
	}
	tg.PutPointer(root, odds.At.Addr())
	p, _ = ompitest.MustOpen(t, tg, ob1.Component)
	for _, c := range p.Comms {
		if c.Model.Failed != nil {
			t.Errorf("what is no group says that %s has lost %v", c.Model.Label(), c.Model.Failed)
		}
	}
}

// Without MPI_COMM_WORLD, processes have the ranks that they would have in it.
func TestWorldSet(t *testing.T) {
	const root = 0x1000_0000
	tg := inferiortest.Patch(inferiortest.Recorded(t, groupsOf507)).AddMemory(root, make([]byte, inferiortest.Page))
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	want := map[string][]mqs.Maybe[int32]{}
	for _, c := range p.Comms {
		want[c.Model.Label()] = c.Model.Group
	}
	world := ompitest.Comm(t, p, "my world")
	entries, _, err := p.Entries(world.LocalGroup)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := p.Layouts.Field("opal_pointer_array_t", "addr")
	if !ok {
		t.Fatal("no addr")
	}
	array, err := p.R.Pointers(p.Symbols["ompi_mpi_communicators"].Addr+inferior.Addr(f.Offset), 1)
	if err != nil {
		t.Fatal(err)
	}
	places, err := p.R.Pointers(array[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	tg.PutPointer(array[0], places[2]).PutPointer(root, entries[world.MyRank].Addr())
	for _, isKnown := range []bool{false, true} {
		if isKnown {
			tg.SetSymbol("ompi_proc_local_proc", inferior.Symbol{Addr: root})
		}
		p, _ = ompitest.MustOpen(t, tg, ob1.Component)
		var process mqs.Process
		p.Info(&process)
		if process.GlobalRank.Known != isKnown || process.GlobalRank.Value != 0 || process.WorldSize.Known {
			t.Errorf("it is %v of %v", process.GlobalRank, process.WorldSize)
		}
		for _, c := range p.Comms {
			if isKnown != slices.Equal(c.Model.Group, want[c.Model.Label()]) && len(c.Model.Group) > 0 {
				t.Errorf("with its name known %v, the group of %s is %v", isKnown, c.Model.Label(), c.Model.Group)
			}
		}
	}
}
