package ch3

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// The epochs of a window, and with whom they are open, as the members stand in 4.0.2.
func TestEpochs(t *testing.T) {
	const win, ranks, slots, targets = 0x1000, 0x2000, 0x3000, 0x4000
	field := inferiortest.Field
	lock := func(exclusive, granted bool, ranks ...int32) mqs.Epoch {
		return mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: mqs.Known(exclusive), Ranks: ranks, Granted: mqs.Known(granted)}
	}
	for name, c := range map[string]struct {
		access, exposure, slots uint32
		want                    []mqs.Epoch
	}{
		"none":               {63, 63, 2, []mqs.Epoch{}},
		"a fence":            {65, 63, 2, []mqs.Epoch{{Kind: mqs.FenceEpoch}}},
		"start and post":     {66, 68, 2, []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{2, 1}, Granted: mqs.Known(false)}, {Kind: mqs.PostEpoch}}},
		"start, answered":    {67, 63, 2, []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{2, 1}, Granted: mqs.Known(true)}}},
		"all":                {70, 63, 2, []mqs.Epoch{{Kind: mqs.LockAllEpoch}}},
		"all, granted":       {72, 63, 2, []mqs.Epoch{{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)}}},
		"locks":              {69, 63, 2, []mqs.Epoch{lock(false, false, 0), lock(true, false, 1), lock(false, true, 2)}},
		"locks, unreadable":  {69, 63, 1 << 30, []mqs.Epoch{{Kind: mqs.LockEpoch}}},
		"of another release": {1, 63, 2, nil},
		"for others too":     {63, 1, 2, nil},
	} {
		p := inferiortest.New()
		p.Types["MPIR_Win"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"states.access_state": field(0, 4, layout.KindUnsigned), "states.exposure_state": field(4, 4, layout.KindUnsigned),
			"start_ranks_in_win_grp": field(8, 8, layout.KindPointer), "start_grp_size": field(16, 4, layout.KindSigned), "slots": field(24, 8, layout.KindPointer), "num_slots": field(32, 4, layout.KindSigned)}}
		p.Types["MPIDI_RMA_Slot_t"] = &layout.Layout{Size: 8, Fields: map[string]layout.Field{"target_list_head": field(0, 8, layout.KindPointer)}}
		p.Types["MPIDI_RMA_Target_t"] = &layout.Layout{Size: 32, Fields: map[string]layout.Field{"next": field(0, 8, layout.KindPointer), "target_rank": field(8, 4, layout.KindSigned),
			"access_state": field(12, 4, layout.KindUnsigned), "lock_type": field(16, 4, layout.KindSigned)}}
		p.PutUint32(win, c.access, c.exposure)
		p.PutUint64(win+8, ranks, 2)
		p.PutUint64(win+24, slots)
		p.PutUint32(win+32, c.slots)
		p.PutUint32(ranks, 2, 1)
		p.PutUint64(slots, targets, targets+96)
		put := func(at inferior.Addr, next uint64, rank, state, lock uint32) {
			p.PutUint64(at, next)
			p.PutUint32(at+8, rank, state, lock)
		}
		put(targets, targets+32, 2, 75, 235)
		put(targets+32, targets+64, 0, 73, 235)
		put(targets+64, 0, 3, 63, 0) // accessed, not locked
		put(targets+96, 0, 1, 74, lockExclusive)
		d := over(p)
		bind(t, p, &d.epochs)
		if got := d.Epochs(&mpir.Window{At: win}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
