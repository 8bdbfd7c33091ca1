package ch3

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// epochTypes are bound where the types say how the epochs of windows are kept.
type epochTypes struct {
	// Win is the device's part of a window.
	Win    inferior.Struct[winDev] `c:"MPIR_Win"`
	Slot   inferior.Struct[slot]   `c:"MPIDI_RMA_Slot_t"`
	Target inferior.Struct[target] `c:"MPIDI_RMA_Target_t"`
}

// winDev is what the device adds to MPIR_Win.
type winDev struct {
	Access     int32              `c:"states.access_state"`
	Exposure   int32              `c:"states.exposure_state"`
	Started    inferior.Addr      `c:"start_ranks_in_win_grp"` // of int
	StartedLen int32              `c:"start_grp_size"`
	Slots      inferior.Ptr[slot] `c:"slots"`
	SlotsLen   int32              `c:"num_slots"`
}

// slot has some of the targets.
type slot struct {
	First inferior.Ptr[target] `c:"target_list_head"`
}

// target is what a process keeps of another one that it has a lock of, or has accessed.
type target struct {
	Next  inferior.Ptr[target] `c:"next"`
	Rank  int32                `c:"target_rank"`
	State int32                `c:"access_state"`
	Lock  int32                `c:"lock_type"`
}

// The states of windows and targets (MPIDI_RMA_states in src/mpid/ch3/include/mpidpre.h, 4.0 to 5.0).
const (
	stateNone           = 63
	stateFenceIssued    = 64
	stateFenceGranted   = 65
	stateStartIssued    = 66
	stateStartGranted   = 67
	statePosted         = 68
	statePerTarget      = 69
	stateLockAllCalled  = 70
	stateLockAllIssued  = 71
	stateLockAllGranted = 72
	stateLockCalled     = 73
	stateLockGranted    = 75
)

const (
	lockExclusive = 234 // MPI_LOCK_EXCLUSIVE (src/include/mpi.h.in)
	maxSlots      = 1 << 20
)

// LockWaiters are not known: the device keeps the messages by which locks have been asked for.
func (d *Device) LockWaiters(*mpir.Window) []int32 { return nil }

// LockTarget is unknown: [Device.Epochs] has the locks that are asked for.
func (d *Device) LockTarget(*mpir.Window) mqs.Maybe[int32] { return mqs.Maybe[int32]{} }

// CountsPosts says that a start waits for a message of each of its ranks.
func (d *Device) CountsPosts() bool { return false }

// OwnFlags says that there are no flags: each message of a collective has a request.
func (d *Device) OwnFlags(*mpir.Communicator) []mqs.Flag { return nil }

// AwaitedFlags says the same.
func (d *Device) AwaitedFlags(*mpir.Communicator, string, bool) []mqs.Flag { return nil }

// MayRefuse says that no send is refused: there is a request of each that waits.
func (d *Device) MayRefuse() bool { return false }

// Epochs returns those that are open on a window. Of a fence the device does not keep whether another one has to
// close it, nor of an exposure whom it is for.
func (d *Device) Epochs(w *mpir.Window) []mqs.Epoch {
	if !d.epochs.Win.Bound() {
		return nil
	}
	own, err := d.epochs.Win.Read(d.lib.Reader, inferior.Ptr[winDev](w.At))
	if err != nil {
		return nil
	}
	out := []mqs.Epoch{}
	switch own.Access {
	case stateNone:
	case stateFenceIssued, stateFenceGranted:
		out = append(out, mqs.Epoch{Kind: mqs.FenceEpoch})
	case stateStartIssued, stateStartGranted:
		ranks, ok := d.lib.Ranks(own.Started, own.StartedLen)
		if !ok {
			ranks = nil
		}
		out = append(out, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: ranks, Granted: mqs.Known(own.Access == stateStartGranted)})
	case stateLockAllCalled, stateLockAllIssued: // it has locks of those that it has accessed
		out = append(out, mqs.Epoch{Kind: mqs.LockAllEpoch})
	case stateLockAllGranted:
		out = append(out, mqs.Epoch{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)})
	case statePerTarget:
		out = append(out, d.locks(&own)...)
	default:
		return nil
	}
	switch own.Exposure {
	case stateNone:
		return out
	case statePosted:
		return append(out, mqs.Epoch{Kind: mqs.PostEpoch})
	}
	return nil
}

// locks are a process's, those of a kind together.
func (d *Device) locks(own *winDev) []mqs.Epoch {
	unknown := []mqs.Epoch{{Kind: mqs.LockEpoch}}
	if own.SlotsLen < 0 || own.SlotsLen > maxSlots {
		return unknown
	}
	type kind struct{ exclusive, granted bool }
	ranks := map[kind][]int32{}
	next := func(a inferior.Ptr[target]) (inferior.Ptr[target], error) {
		t, err := d.epochs.Target.Read(d.lib.Reader, a)
		if err == nil && t.State >= stateLockCalled && t.State <= stateLockGranted {
			of := kind{t.Lock == lockExclusive, t.State == stateLockGranted}
			ranks[of] = append(ranks[of], t.Rank)
		}
		return t.Next, err
	}
	for i := range int(own.SlotsLen) {
		s, err := d.epochs.Slot.Read(d.lib.Reader, inferior.At(&d.epochs.Slot, own.Slots, i))
		if err != nil {
			return unknown
		}
		for _, err := range inferior.Walk(s.First, 0, mpir.MaxMembers, next) {
			if err != nil {
				return unknown
			}
		}
	}
	var out []mqs.Epoch
	for of, list := range ranks {
		slices.Sort(list)
		out = append(out, mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: mqs.Known(of.exclusive), Ranks: list, Granted: mqs.Known(of.granted)})
	}
	slices.SortFunc(out, func(a, b mqs.Epoch) int { return cmp.Compare(a.Ranks[0], b.Ranks[0]) })
	return out
}
