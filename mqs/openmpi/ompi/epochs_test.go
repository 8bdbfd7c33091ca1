package ompi_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// locking is the target of MPI_Win_lock in a process whose thread is in it and holds an object.
func locking(t *testing.T, o *ompitest.Objects, win, held inferior.Addr) mqs.Maybe[int32] {
	t.Helper()
	thread := inferiortest.Thread(1, "opal_progress < PMPI_Win_lock < main", held)
	thread.Frames[1].Variables = map[string]int64{"win": int64(win)}
	o.To.SetThreads(thread)
	p, _ := o.Open(ob1.Component)
	got := ompitest.Wait(p, &waitables{})
	if got.Window != mqs.Known(win) {
		t.Errorf("it works on %v", got.Window)
	}
	return got.Target
}

// A component that makes an object for each lock has made one for that which a call asks for: it is of the window, and not
// among those that the window has.
func TestTargetOfAskedLock(t *testing.T) {
	const rdma, pt2pt, ucx = "ompi_osc_rdma_module_t", "ompi_osc_pt2pt_module_t", "ompi_osc_ucx_module_t"
	locks := map[string]string{rdma: "ompi_osc_rdma_sync_t", pt2pt: "ompi_osc_pt2pt_sync_t", ucx: "ompi_osc_ucx_lock_t"}
	for module, name := range locks {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		on := dup(t, o.Process())
		m := o.Memory(1 << 16)
		win := addWindow(o, on, 1, m)
		o.Put(m, module, "comm", uint64(on.At))
		lock := func(of inferior.Addr, kind, target uint64) inferior.Addr {
			at := o.Object(name)
			if module == ucx {
				o.Put(at, name, "target_rank", target)
				return at
			}
			o.Put(at, name, "module", uint64(of))
			o.Put(at, name, "type", kind)
			o.Put(at, name, "sync.lock.target", target)
			return at
		}
		entered, asked, elsewhere, fence := lock(m, 1, 1), lock(m, 1, 2), lock(m+8, 1, 2), lock(m, 2, 2)
		o.HashTable(o.Member(m, module, "outstanding_locks"), map[uint32]inferior.Addr{1: entered})
		want := map[inferior.Addr]mqs.Maybe[int32]{entered: {}, asked: mqs.Known[int32](2), o.Object("ompi_info_t"): {}}
		if module != ucx {
			all := o.Member(m, module, "all_sync")
			o.IsA(all, name)
			want[all], want[elsewhere], want[fence] = mqs.Maybe[int32]{}, mqs.Maybe[int32]{}, mqs.Maybe[int32]{}
		}
		if module == rdma {
			o.Put(m, module, "win", uint64(win))
		}
		for held, target := range want {
			if got := locking(t, o, win, held); got != target {
				t.Errorf("%s: near %s it locks %v, want %v", module, held, got, target)
			}
		}
	}
}

// Shared locks of all ranks are MPI_Win_lock_all's, and all else are locks one by one.
func TestLocksOfSharedMemory(t *testing.T) {
	lock := func(exclusive mqs.Maybe[bool], ranks ...int32) mqs.Epoch {
		return mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: exclusive, Ranks: ranks, Granted: mqs.Maybe[bool]{Value: exclusive.Known, Known: exclusive.Known}}
	}
	all := func(granted mqs.Maybe[bool]) []mqs.Epoch {
		return []mqs.Epoch{{Kind: mqs.LockAllEpoch, Granted: granted}}
	}
	for what, c := range map[string]struct {
		locks []int32
		want  []mqs.Epoch
	}{
		"all shared":           {[]int32{3, 3, 3}, all(mqs.Known(true))},
		"all without a check":  {[]int32{1, 1, 1}, all(mqs.Maybe[bool]{})},
		"all exclusive":        {[]int32{2, 2, 2}, []mqs.Epoch{lock(mqs.Known(true), 0, 1, 2)}},
		"two shared":           {[]int32{3, 0, 3}, []mqs.Epoch{lock(mqs.Known(false), 0, 2)}},
		"of two kinds":         {[]int32{3, 2, 3}, []mqs.Epoch{lock(mqs.Known(true), 1), lock(mqs.Known(false), 0, 2)}},
		"of all kinds":         {[]int32{1, 2, 3}, []mqs.Epoch{lock(mqs.Known(true), 1), lock(mqs.Known(false), 2), lock(mqs.Maybe[bool]{}, 0)}},
		"one that there isn't": {[]int32{4, 0, 2}, []mqs.Epoch{lock(mqs.Known(true), 2)}},
	} {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		on := dup(t, o.Process())
		m := o.Memory(1 << 13)
		addWindow(o, on, 4, m)
		const module = "ompi_osc_sm_module_t"
		o.Put(m, module, "comm", uint64(on.At))
		o.Put(m, module, "flavor", 4)
		o.IsA(o.Member(m, module, "lock"), "opal_mutex_t")
		o.Put(m, module, "outstanding_locks", uint64(o.Integers(c.locks...)))
		expectEpochs(t, what, window(t, o, on, mqs.SharedWindow).Epochs, c.want...)
	}
}

// What a component keeps of a window is not believed where it has another flavor, or no communicator.
func TestModulesThatAreNone(t *testing.T) {
	const sm, ucx, pt2pt = "ompi_osc_sm_module_t", "ompi_osc_ucx_module_t", "ompi_osc_pt2pt_module_t"
	for what, c := range map[string]struct {
		module   string
		flavor   uint64
		hasComm  bool
		isKnown  bool
		isMarked bool // the object inside of it has its class
	}{
		"osc/sm":                          {sm, 4, true, true, true},
		"osc/sm of another flavor":        {sm, 3, true, false, true},
		"osc/sm without a communicator":   {sm, 4, false, false, true},
		"osc/sm without its lock":         {sm, 4, true, false, false},
		"osc/ucx":                         {ucx, 0, true, true, true},
		"osc/ucx without a communicator":  {ucx, 0, false, false, true},
		"osc/ucx without its table":       {ucx, 0, true, false, false},
		"osc/pt2pt":                       {pt2pt, 0, true, true, true},
		"osc/pt2pt without":               {pt2pt, 0, false, false, true},
		"osc/pt2pt without its own epoch": {pt2pt, 0, true, false, false},
	} {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		on := dup(t, o.Process())
		m := o.Memory(1 << 16)
		addWindow(o, on, 4, m)
		if c.hasComm {
			o.Put(m, c.module, "comm", uint64(on.At))
		}
		switch c.module {
		case sm:
			o.Put(m, c.module, "flavor", c.flavor)
			o.Put(m, c.module, "outstanding_locks", uint64(o.Integers(0, 2, 0)))
			if c.isMarked {
				o.IsA(o.Member(m, c.module, "lock"), "opal_mutex_t")
			}
		case ucx:
			if c.isMarked {
				o.HashTable(o.Member(m, c.module, "outstanding_locks"), nil)
			}
		case pt2pt:
			o.HashTable(o.Member(m, c.module, "outstanding_locks"), nil)
			if c.isMarked {
				o.IsA(o.Member(m, c.module, "all_sync"), "ompi_osc_pt2pt_sync_t")
			}
		}
		p, _ := o.Open(ob1.Component)
		if w := p.Windows()[0]; w.Comm.Known != c.isKnown || (w.Epochs != nil) != c.isKnown {
			t.Errorf("%s: %+v", what, w)
		}
	}
}
