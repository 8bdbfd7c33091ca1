package ompi_test

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

const queuesOf414 = "openmpi-4.1.4/queues-rank-0"

// dup is the first communicator of three ranks that is not a predefined one.
func dup(t *testing.T, p *ompi.Process) *ompi.Comm {
	t.Helper()
	for id := inferior.Addr(3); id < 100; id++ {
		if c := p.Comms[id]; c != nil && c.Model.Inter == mqs.Known(false) && c.Model.Size == mqs.Known[int32](3) {
			return c
		}
	}
	t.Fatal("there is none")
	return nil
}

// addWindow adds a window on a communicator, with what a component keeps of it.
func addWindow(o *ompitest.Objects, on *ompi.Comm, flavor uint64, module inferior.Addr) inferior.Addr {
	w := o.Object("ompi_win_t")
	o.PutText(w, "ompi_win_t", "w_name", "ghost cells")
	o.Put(w, "ompi_win_t", "w_group", uint64(on.LocalGroup))
	o.Put(w, "ompi_win_t", "w_flavor", flavor)
	o.Put(w, "ompi_win_t", "w_f_to_c_index", 1)
	o.Put(w, "ompi_win_t", "w_osc_module", uint64(module))
	attributes := o.Memory(256)
	held := map[uint32]inferior.Addr{}
	for key, value := range map[uint32]uint64{7: 0x5000, 8: 640, 9: 8, 10: flavor} {
		attribute, member := "attribute_key_value_t", "av_value.av_aint"
		if _, isNew := o.Process().Layouts.Size(attribute); !isNew {
			attribute, member = "attribute_value_t", "av_value"
		}
		held[key] = o.Object(attribute)
		o.Put(held[key], attribute, member, value)
	}
	o.HashTable(attributes, held)
	o.Put(w, "ompi_win_t", "w_keyhash", uint64(attributes))
	o.Array("ompi_mpi_windows", o.Object("ompi_win_t"), w, 0, 0)
	return w
}

// window is the only one of a process, which must be that of [addWindow].
func window(t *testing.T, o *ompitest.Objects, on *ompi.Comm, flavor mqs.Flavor) mqs.Window {
	t.Helper()
	p, _ := o.Open(ob1.Component)
	windows := p.Windows()
	if len(windows) != 1 {
		t.Fatalf("%+v, notes %q", windows, p.Notes())
	}
	w := windows[0]
	want := mqs.Window{Handle: w.Handle, FortranHandle: mqs.Known[int32](1), Name: mqs.Known("ghost cells"), Comm: mqs.Known(on.Model.UniqueID),
		LocalRank: on.Model.LocalRank, Size: on.Model.Size, Flavor: flavor, Base: mqs.Known(inferior.Addr(0x5000)), Length: mqs.Known[int64](640),
		DisplacementUnit: mqs.Known[int32](8), Epochs: w.Epochs, Idle: w.Idle}
	if !reflect.DeepEqual(w, want) {
		t.Errorf("%+v, want %+v", w, want)
	}
	if c := p.CommAt(on.At); c.Model.Label() != `window "ghost cells"` {
		t.Errorf("its communicator is shown as %s", c.Model.Label())
	}
	return w
}

func expectEpochs(t *testing.T, what string, got []mqs.Epoch, want ...mqs.Epoch) {
	t.Helper()
	if len(got) != len(want) || got == nil || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// What osc/rdma and osc/pt2pt keep of epochs: one for all, locks one by one, an exposure.
func TestEpochsOfSyncs(t *testing.T) {
	for _, c := range []struct{ module, sync string }{{"ompi_osc_rdma_module_t", "ompi_osc_rdma_sync_t"}, {"ompi_osc_pt2pt_module_t", "ompi_osc_pt2pt_sync_t"}} {
		// Only osc/rdma enters a lock when it has it, and has a counter that others change.
		isRDMA, completed := mqs.Maybe[bool]{}, int32(0)
		if c.sync == "ompi_osc_rdma_sync_t" {
			isRDMA, completed = mqs.Known(true), 2
		}
		for what, of := range map[string]struct {
			kind     uint64
			locks    []uint64 // by target: 0 for none, else the kind
			expected uint64   // answers, with osc/pt2pt
			post     bool
			want     []mqs.Epoch
		}{
			"none":     {},
			"fence":    {kind: 2, want: []mqs.Epoch{{Kind: mqs.FenceEpoch}}},
			"lock_all": {kind: 1, want: []mqs.Epoch{{Kind: mqs.LockAllEpoch, Granted: isRDMA}}},
			"start":    {kind: 3, want: []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{0, 1, 2}, Granted: mqs.Known(true)}}},
			"locks": {locks: []uint64{2, 1, 2}, want: []mqs.Epoch{{Kind: mqs.LockEpoch, Exclusive: mqs.Known(true), Ranks: []int32{1}, Granted: mqs.Known(true)},
				{Kind: mqs.LockEpoch, Exclusive: mqs.Known(false), Ranks: []int32{0, 2}, Granted: mqs.Known(true)}}},
			"asked for": {locks: []uint64{0, 1}, expected: 1, want: []mqs.Epoch{{Kind: mqs.LockEpoch, Exclusive: mqs.Known(true), Ranks: []int32{1}, Granted: mqs.Known(isRDMA.Known)},
				{Kind: mqs.LockEpoch, Exclusive: mqs.Known(false), Ranks: []int32{0}, Granted: mqs.Known(isRDMA.Known)}}},
			"post": {post: true, want: []mqs.Epoch{{Kind: mqs.PostEpoch, Ranks: []int32{0, 1, 2}, Completed: mqs.Maybe[int32]{Value: completed, Known: isRDMA.Known}}}},
		} {
			o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
			on := dup(t, o.Process())
			m := o.Memory(1 << 13)
			w := addWindow(o, on, 2, m)
			o.Put(m, c.module, "comm", uint64(on.At))
			all := o.Member(m, c.module, "all_sync")
			o.IsA(all, c.sync)
			o.Put(all, c.sync, "type", of.kind)
			if !isRDMA.Known {
				o.Put(all, c.sync, "sync_expected", of.expected)
			}
			if of.kind == 3 {
				o.Put(all, c.sync, "sync.pscw.group", uint64(on.LocalGroup))
			}
			held, array := map[uint32]inferior.Addr{}, make([]uint64, on.Model.Size.Value)
			for target, kind := range of.locks {
				lock := o.Object(c.sync)
				o.Put(lock, c.sync, "sync.lock.target", uint64(target))
				o.Put(lock, c.sync, "sync.lock.type", kind)
				if !isRDMA.Known {
					o.Put(lock, c.sync, "sync_expected", of.expected)
				}
				held[uint32(target)], array[target] = lock, uint64(lock)
			}
			o.HashTable(o.Member(m, c.module, "outstanding_locks"), held)
			if c.sync == "ompi_osc_rdma_sync_t" {
				o.Put(m, c.module, "win", uint64(w))
				state := o.Object("ompi_osc_rdma_state_t")
				o.Put(state, "ompi_osc_rdma_state_t", "num_complete_msgs", uint64(completed))
				o.Put(m, c.module, "state", uint64(state))
				if what == "locks" {
					o.Put(m, c.module, "outstanding_lock_array", uint64(o.Words(array...)))
				}
			}
			if of.post {
				o.Put(m, c.module, "pw_group", uint64(on.LocalGroup))
			}
			expectEpochs(t, c.module+" "+what, window(t, o, on, mqs.AllocatedWindow).Epochs, of.want...)
		}
	}
}

// osc/sm keeps the locks of each rank, and nothing of a fence.
func TestEpochsOfSharedMemory(t *testing.T) {
	for what, of := range map[string]struct {
		locks       []int32
		start, post bool
		want        []mqs.Epoch // nil if they are not known
	}{
		"none or a fence": {locks: []int32{0, 0, 0}},
		"a lock":          {locks: []int32{0, 2, 0}, want: []mqs.Epoch{{Kind: mqs.LockEpoch, Exclusive: mqs.Known(true), Ranks: []int32{1}, Granted: mqs.Known(true)}}},
		"unchecked":       {locks: []int32{0, 0, 1}, want: []mqs.Epoch{{Kind: mqs.LockEpoch, Ranks: []int32{2}}}},
		"lock_all":        {locks: []int32{3, 3, 3}, want: []mqs.Epoch{{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)}}},
		"start":           {locks: []int32{0, 0, 0}, start: true, want: []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{0, 1, 2}, Granted: mqs.Known(true)}}},
		"post":            {locks: []int32{0, 0, 0}, post: true, want: []mqs.Epoch{{Kind: mqs.PostEpoch, Ranks: []int32{0, 1, 2}, Completed: mqs.Known[int32](2)}}},
	} {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		on := dup(t, o.Process())
		m := o.Memory(1 << 13)
		addWindow(o, on, 4, m)
		o.Put(m, "ompi_osc_sm_module_t", "comm", uint64(on.At))
		o.Put(m, "ompi_osc_sm_module_t", "flavor", 4)
		o.IsA(o.Member(m, "ompi_osc_sm_module_t", "lock"), "opal_mutex_t")
		o.Put(m, "ompi_osc_sm_module_t", "outstanding_locks", uint64(o.Integers(of.locks...)))
		if of.start {
			o.Put(m, "ompi_osc_sm_module_t", "start_group", uint64(on.LocalGroup))
		}
		if of.post {
			state := o.Object("ompi_osc_sm_node_state_t")
			o.Put(state, "ompi_osc_sm_node_state_t", "complete_count", 2)
			o.Put(m, "ompi_osc_sm_module_t", "my_node_state", uint64(state))
			o.Put(m, "ompi_osc_sm_module_t", "post_group", uint64(on.LocalGroup))
		}
		got := window(t, o, on, mqs.SharedWindow)
		if got.Idle != mqs.Known(of.want == nil) {
			t.Errorf("%s: %+v", what, got)
		}
		if of.want == nil {
			if got.Epochs != nil {
				t.Errorf("%s: %+v", what, got)
			}
			continue
		}
		expectEpochs(t, what, got.Epochs, of.want...)
	}
}

func TestEpochsOfUCX(t *testing.T) {
	for what, of := range map[string]struct {
		access, exposure uint64
		want             []mqs.Epoch
	}{
		"none":     {},
		"fence":    {access: 1, want: []mqs.Epoch{{Kind: mqs.FenceEpoch}}},
		"lock_all": {access: 5, want: []mqs.Epoch{{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)}}},
		"both": {access: 3, exposure: 2, want: []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{0, 1, 2}, Granted: mqs.Known(true)},
			{Kind: mqs.PostEpoch, Ranks: []int32{0, 1, 2}, Completed: mqs.Known[int32](1)}}},
		"lock": {access: 4, want: []mqs.Epoch{{Kind: mqs.LockEpoch, Exclusive: mqs.Known(true), Ranks: []int32{2}, Granted: mqs.Known(true)}}},
	} {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		on := dup(t, o.Process())
		m := o.Memory(1 << 16)
		addWindow(o, on, 1, m)
		const module, lock = "ompi_osc_ucx_module_t", "ompi_osc_ucx_lock_t"
		o.Put(m, module, "comm", uint64(on.At))
		o.Put(m, module, "epoch_type.access", of.access)
		o.Put(m, module, "epoch_type.exposure", of.exposure)
		o.Put(m, module, "state.complete_count", 1)
		o.Put(m, module, "start_group", uint64(on.LocalGroup))
		o.Put(m, module, "post_group", uint64(on.LocalGroup))
		l := o.Object(lock)
		o.Put(l, lock, "target_rank", 2)
		o.HashTable(o.Member(m, module, "outstanding_locks"), map[uint32]inferior.Addr{2: l})
		expectEpochs(t, what, window(t, o, on, mqs.CreatedWindow).Epochs, of.want...)
	}
}

// What belongs to another window is not believed.
func TestModuleOfAnotherWindow(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	on := dup(t, o.Process())
	m := o.Memory(1 << 13)
	addWindow(o, on, 2, m)
	o.Put(m, "ompi_osc_rdma_module_t", "comm", uint64(on.At))
	o.Put(m, "ompi_osc_rdma_module_t", "win", 0x10)
	o.IsA(o.Member(m, "ompi_osc_rdma_module_t", "all_sync"), "ompi_osc_rdma_sync_t")
	p, _ := o.Open(ob1.Component)
	if w := p.Windows()[0]; w.Epochs != nil || w.Comm.Known || w.Name.Value != "ghost cells" {
		t.Errorf("%+v", w)
	}
}

// TestReleasesOfWindows checks that a window read by another release's layout shows unknown values, never wrong ones, where members have
// moved. A process without windows can't rule that layout out.
func TestReleasesOfWindows(t *testing.T) {
	const module, comm = "ompi_osc_rdma_module_t", "comm"
	for _, c := range []struct {
		is, by                   string
		hasComm, hasDisplacement bool
	}{
		{"4.1.0", "4.1.0", true, true}, {"4.1.0", "4.1.1", false, true},
		{"4.1.1", "4.1.0", false, true}, {"4.1.1", "4.1.1", true, true}, {"4.1.1", "4.1.3", true, true},
		{"4.1.3", "4.1.4", true, false}, {"4.1.4", "4.1.3", true, false}, {"4.1.8", "4.1.4", true, true},
	} {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		on := dup(t, o.Process())
		comms, err := o.Process().CommunicatorArray()
		if err != nil {
			t.Fatal(err)
		}
		o.SetRelease(c.is, ob1.Component)
		m := o.Memory(1 << 13)
		w := addWindow(o, on, 2, m)
		o.Put(m, module, "win", uint64(w))
		at := o.Member(m, module, comm)
		o.To.PutPointer(at-8, o.Memory(64)) // the peers of this node
		o.To.PutPointer(at, on.At.Addr())
		o.To.PutPointer(at+8, comms[2].Addr()) // what was needed to make the window is gone
		o.IsA(o.Member(m, module, "all_sync"), "ompi_osc_rdma_sync_t")
		o.SetRelease(c.by, ob1.Component)
		p, _ := o.Open(ob1.Component)
		got := p.Windows()[0]
		if got.Name.Value != "ghost cells" || got.Comm.Known != c.hasComm || got.Comm.Known && got.Comm.Value != on.Model.UniqueID || (got.Epochs != nil) != c.hasComm {
			t.Errorf("a window of %s, read as %s: %+v", c.is, c.by, got)
		}
		if want := (mqs.Maybe[int32]{Value: 8, Known: true}); (got.DisplacementUnit == want) != c.hasDisplacement || !c.hasDisplacement && (got.DisplacementUnit.Known || got.Base.Known || got.Length.Known) {
			t.Errorf("attributes of %s, read as %s: %+v", c.is, c.by, got)
		}
	}
}

// What is no window's is not believed, and what a process without windows has costs no reading.
func TestWindowsThatAreNone(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	if got := o.Process().Windows(); got != nil {
		t.Errorf("without an array: %+v", got)
	}
	o.Array("ompi_mpi_windows", o.Object("ompi_win_t"), o.Object("ompi_file_t"), 0x10)
	p, _ := o.Open(ob1.Component)
	if got := p.Windows(); got == nil || len(got) != 0 || len(p.Notes()) != 2 {
		t.Errorf("%+v, notes %q", got, p.Notes())
	}
	o.Array("ompi_mpi_windows", 0x10, 0) // the null window is not looked at
	p, _ = o.Open(ob1.Component)
	if got := p.Windows(); got == nil || len(got) != 0 || len(p.Notes()) != 0 {
		t.Errorf("%+v, notes %q", got, p.Notes())
	}
}
