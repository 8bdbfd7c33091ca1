package ch4

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// epochTypes are bound where the types say how the epochs of windows are kept.
type epochTypes struct {
	// Win is the device's part of a window.
	Win    inferior.Struct[winDev] `c:"MPIR_Win"`
	Target inferior.Struct[target] `c:"MPIDIG_win_target_t"`
	// Lock is a lock that has been asked for.
	Lock inferior.Struct[askedLock] `c:"MPIDIG_win_lock,optional"`
}

// winDev is MPIR_Win.dev.am.
type winDev struct {
	Access   int32                          `c:"dev.am.sync.access_epoch_type"`
	Exposure int32                          `c:"dev.am.sync.exposure_epoch_type"`
	Started  inferior.Ptr[mpir.GroupObject] `c:"dev.am.sync.sc.group"`
	Posted   inferior.Ptr[mpir.GroupObject] `c:"dev.am.sync.pw.group"`
	Targets  inferior.Ptr[target]           `c:"dev.am.targets"`
	Asked    inferior.Ptr[askedLock]        `c:"dev.am.sync.lock_recvd.head,optional"`
}

// askedLock is what a process keeps of a lock of its memory that another one has asked for, until it gets it.
type askedLock struct {
	Next inferior.Ptr[askedLock] `c:"next"`
	Rank int32                   `c:"rank"`
}

// target is what a process keeps of another one that it has a lock of, or has accessed.
type target struct {
	Access int32                `c:"sync.access_epoch_type"`
	Rank   int32                `c:"rank"`
	Next   inferior.Ptr[target] `c:"hash_handle.next"`
}

// The types of epochs (src/mpid/ch4/src/ch4_types.h, 4.0 to 5.0). A fence opens an epoch that another one may
// follow, and an operation makes it one that another fence has to close.
const (
	epochNone    = 0
	epochLock    = 1
	epochStart   = 2
	epochPost    = 3
	epochFence   = 4
	epochRefence = 5
	epochLockAll = 6
)

// LockWaiters are the ranks that have asked for a lock of this process's memory and do not have it yet.
func (d *Device) LockWaiters(w *mpir.Window) []int32 {
	if !d.epochs.Win.Bound() || !d.epochs.Lock.Bound() {
		return nil
	}
	own, err := d.epochs.Win.Read(d.lib.Reader, inferior.Ptr[winDev](w.At))
	if err != nil {
		return nil
	}
	out := []int32{}
	next := func(a inferior.Ptr[askedLock]) (inferior.Ptr[askedLock], error) {
		l, err := d.epochs.Lock.Read(d.lib.Reader, a)
		if err == nil {
			out = append(out, l.Rank)
		}
		return l.Next, err
	}
	for _, err := range inferior.Walk(own.Asked, 0, mpir.MaxMembers, next) {
		if err != nil {
			return nil
		}
	}
	return out
}

// CountsPosts says that a start counts posts, whoever makes them (MPIDIG_mpi_win_start, 4.0 to 5.0).
func (d *Device) CountsPosts() bool { return true }

// Epochs returns those that are open on a window. The device does not keep which kind of lock it has asked for. It
// enters a lock or a start when it has been granted.
func (d *Device) Epochs(w *mpir.Window) []mqs.Epoch {
	if !d.epochs.Win.Bound() {
		return nil
	}
	own, err := d.epochs.Win.Read(d.lib.Reader, inferior.Ptr[winDev](w.At))
	if err != nil {
		return nil
	}
	out := []mqs.Epoch{}
	isFence := own.Access == epochFence || own.Access == epochRefence
	switch own.Access {
	case epochNone:
	case epochFence, epochRefence:
		out = append(out, mqs.Epoch{Kind: mqs.FenceEpoch})
	case epochLockAll:
		out = append(out, mqs.Epoch{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)})
	case epochStart:
		out = append(out, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: d.lib.LocalRanks(w, own.Started), Granted: mqs.Known(true)})
	case epochLock:
		out = append(out, mqs.Epoch{Kind: mqs.LockEpoch, Ranks: d.targets(own.Targets, epochLock), Granted: mqs.Known(true)})
	default:
		return nil
	}
	switch own.Exposure {
	case epochNone:
	case epochFence, epochRefence:
		if !isFence {
			out = append(out, mqs.Epoch{Kind: mqs.FenceEpoch})
		}
	case epochPost:
		out = append(out, mqs.Epoch{Kind: mqs.PostEpoch, Ranks: d.lib.LocalRanks(w, own.Posted)})
	default:
		return nil
	}
	return out
}

// LockTarget returns the only target without an epoch: MPI_Win_lock enters its target before it waits, and the epoch afterwards
// (MPIDIG_mpi_win_lock, 4.0 to 5.0). Targets of earlier epochs stay (MPIR_CVAR_CH4_RMA_MEM_EFFICIENT), so of several targets it is
// not known which one is the call's.
func (d *Device) LockTarget(w *mpir.Window) mqs.Maybe[int32] {
	if !d.epochs.Win.Bound() {
		return mqs.Maybe[int32]{}
	}
	own, err := d.epochs.Win.Read(d.lib.Reader, inferior.Ptr[winDev](w.At))
	if err != nil {
		return mqs.Maybe[int32]{}
	}
	if out := d.targets(own.Targets, epochNone); len(out) == 1 {
		return mqs.Known(out[0])
	}
	return mqs.Maybe[int32]{}
}

// targets returns the ranks to which a process has an access epoch of a type, nil if they can't be read.
func (d *Device) targets(first inferior.Ptr[target], epoch int32) []int32 {
	out := []int32{}
	next := func(a inferior.Ptr[target]) (inferior.Ptr[target], error) {
		t, err := d.epochs.Target.Read(d.lib.Reader, a)
		if err == nil && t.Access == epoch {
			out = append(out, t.Rank)
		}
		return t.Next, err
	}
	for _, err := range inferior.Walk(first, 0, mpir.MaxMembers, next) {
		if err != nil {
			return nil
		}
	}
	slices.Sort(out)
	return out
}
