package ch4_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
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

// TestLockTarget checks that MPI_Win_lock in a stripped library has the only target without an epoch, once it waits for its lock. Targets
// of earlier epochs stay, so of several nothing is known.
func TestLockTarget(t *testing.T) {
	const waits = "ucp_worker_progress@libucp.so.0 < PMPI_Win_lock < main:"
	const enters = "pthread_mutex_lock@libc.so.6 < PMPI_Win_lock < main:"
	for name, c := range map[string]struct {
		stack   string
		targets []mpichtest.Members
		want    mqs.Maybe[int32]
	}{
		"one":               {waits, []mpichtest.Members{{"rank": 1}}, mqs.Known[int32](1)},
		"one beside a lock": {waits, []mpichtest.Members{{"rank": 0, "sync.access_epoch_type": 1}, {"rank": 2}}, mqs.Known[int32](2)},
		"two":               {waits, []mpichtest.Members{{"rank": 1}, {"rank": 2}}, mqs.Maybe[int32]{}},
		"none":              {waits, nil, mqs.Maybe[int32]{}},
		"no rank of it":     {waits, []mpichtest.Members{{"rank": 3}}, mqs.Maybe[int32]{}},
		"before it asks":    {enters, []mpichtest.Members{{"rank": 1}}, mqs.Maybe[int32]{}},
	} {
		m := mpichtest.Make(t)
		world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
		first := uint64(0)
		for _, members := range c.targets {
			members["hash_handle.next"] = first
			first = uint64(m.Object("MPIDIG_win_target_t", members))
		}
		at := m.Pool("MPIR_Win_mem", "MPIR_Win", 0xa0000000, mpichtest.Members{"comm_ptr": uint64(world.UniqueID), "dev.am.targets": first})
		got := mpichtest.Shown(t, m.SetThreads(inferiortest.Thread(1, c.stack, at...))).Threads[0]
		if got.Call != "MPI_Win_lock" || !got.Window.Known || got.Target != c.want {
			t.Errorf("%s: %s of %v on %v, want %v", name, got.Call, got.Target, got.Window, c.want)
		}
	}
}
