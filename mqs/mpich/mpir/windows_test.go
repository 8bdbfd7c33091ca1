package mpir_test

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// Windows are those of the pool that have a communicator; each of these is called after its window.
func TestWindows(t *testing.T) {
	m := mpichtest.Make(t)
	world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
	at := m.Pool("MPIR_Win_mem", "MPIR_Win", 0xa0000000, mpichtest.Members{"base": 0x5000, "size": 4096, "disp_unit": 8, "comm_ptr": uint64(world.UniqueID), "create_flavor": 1},
		nil, mpichtest.Members{"comm_ptr": 0x1230})
	m.PutBytes(at[0]+m.Offset("MPIR_Win", "name"), []byte("ghost cells\x00"))
	p := mpichtest.Shown(t, m)
	want := mqs.Window{Handle: 0xa0000000, FortranHandle: mqs.Known[int32](-0x60000000), Name: mqs.Known("ghost cells"), Comm: mqs.Known(world.UniqueID),
		LocalRank: world.LocalRank, Size: world.Size, Flavor: mqs.CreatedWindow, Base: mqs.Known[inferior.Addr](0x5000), Length: mqs.Known[int64](4096),
		DisplacementUnit: mqs.Known[int32](8), Epochs: []mqs.Epoch{}, LockWaiters: []int32{}}
	if len(p.Windows) != 1 || !reflect.DeepEqual(p.Windows[0], want) {
		t.Errorf("%+v, want %+v", p.Windows, want)
	}
	if got := mpichtest.Queues(t, p, "MPI_COMM_WORLD").Window; got != want.Name {
		t.Errorf("the communicator's window is %v", got)
	}
	if h := resolve(t, m, mqs.WinHandle, 0xa0000000); h.State != mqs.LiveHandle || !reflect.DeepEqual(h.Window, &want) || h.Name != want.Name || h.Communicator.UniqueID != world.UniqueID {
		t.Errorf("%+v", h)
	}
	for number, want := range map[uint64]mqs.HandleState{0xa0000001: mqs.FreedHandle, 0xa0000002: "", 0xa0000003: mqs.InvalidHandle} {
		if h := resolve(t, m, mqs.WinHandle, number); h.State != want || h.Window != nil {
			t.Errorf("%#x: %+v", number, h)
		}
	}
}

// Without the pool windows are not known; with one that was never used there are none.
func TestNoWindows(t *testing.T) {
	m := mpichtest.Make(t)
	if p := mpichtest.Shown(t, m); p.Windows != nil || p.Files != nil {
		t.Errorf("%v, %v", p.Windows, p.Files)
	}
	m.SetSymbol("MPIR_Win_mem", inferior.Symbol{Addr: m.Object("MPIR_Object_alloc_t", nil)})
	if p := mpichtest.Shown(t, m); p.Windows == nil || len(p.Windows) != 0 {
		t.Errorf("%v", p.Windows)
	}
	if p := mpichtest.Shown(t, inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")); p.Windows != nil {
		t.Errorf("%v", p.Windows)
	}
}
