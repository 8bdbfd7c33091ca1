package ch4_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// The epochs of a window, and with whom they are open.
func TestEpochs(t *testing.T) {
	for name, c := range map[string]struct {
		access, exposure uint64
		want             []mqs.Epoch
	}{
		"none":               {0, 0, []mqs.Epoch{}},
		"a fence":            {5, 5, []mqs.Epoch{{Kind: mqs.FenceEpoch}}},
		"a fence, in use":    {4, 4, []mqs.Epoch{{Kind: mqs.FenceEpoch}}},
		"for others alone":   {0, 5, []mqs.Epoch{{Kind: mqs.FenceEpoch}}},
		"locks":              {1, 0, []mqs.Epoch{{Kind: mqs.LockEpoch, Ranks: []int32{0, 2}, Granted: mqs.Known(true)}}},
		"all":                {6, 0, []mqs.Epoch{{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)}}},
		"start":              {2, 0, []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{2, 1}, Granted: mqs.Known(true)}}},
		"start and post":     {2, 3, []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{2, 1}, Granted: mqs.Known(true)}, {Kind: mqs.PostEpoch}}},
		"of another release": {7, 0, nil},
		"for others too":     {0, 7, nil},
	} {
		m := mpichtest.Make(t)
		world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
		if len(world.Group) != 3 {
			t.Fatalf("%v", world.Group)
		}
		member := func(lpid uint64) []byte { return m.Bytes("MPII_Group_pmap_t", mpichtest.Members{"lpid": lpid}) }
		group := m.Object("MPIR_Group", mpichtest.Members{"handle": 0x88000000, "ref_count": 1, "size": 2, "lrank_to_lpid": uint64(m.Memory(append(member(2), member(1)...)))})
		third := m.Object("MPIDIG_win_target_t", mpichtest.Members{"rank": 0, "sync.access_epoch_type": 1})
		second := m.Object("MPIDIG_win_target_t", mpichtest.Members{"rank": 1, "hash_handle.next": uint64(third)})
		first := m.Object("MPIDIG_win_target_t", mpichtest.Members{"rank": 2, "sync.access_epoch_type": 1, "hash_handle.next": uint64(second)})
		m.Pool("MPIR_Win_mem", "MPIR_Win", 0xa0000000, mpichtest.Members{"comm_ptr": uint64(world.UniqueID), "dev.am.sync.access_epoch_type": c.access,
			"dev.am.sync.exposure_epoch_type": c.exposure, "dev.am.sync.sc.group": uint64(group), "dev.am.sync.pw.group": uint64(first), "dev.am.targets": uint64(first)})
		p := mpichtest.Shown(t, m)
		if len(p.Windows) != 1 || !reflect.DeepEqual(p.Windows[0].Epochs, c.want) {
			t.Errorf("%s: %+v, want %+v", name, p.Windows, c.want)
		}
	}
}

// Who waits for a lock of this process's memory, in the order of asking.
func TestLockWaiters(t *testing.T) {
	m := mpichtest.Make(t)
	world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
	second := m.Object("MPIDIG_win_lock", mpichtest.Members{"rank": 1})
	first := m.Object("MPIDIG_win_lock", mpichtest.Members{"rank": 2, "next": uint64(second)})
	m.Pool("MPIR_Win_mem", "MPIR_Win", 0xa0000000, mpichtest.Members{"comm_ptr": uint64(world.UniqueID), "dev.am.sync.lock_recvd.head": uint64(first)})
	p := mpichtest.Shown(t, m)
	if len(p.Windows) != 1 || !slices.Equal(p.Windows[0].LockWaiters, []int32{2, 1}) {
		t.Errorf("%+v", p.Windows)
	}
}
