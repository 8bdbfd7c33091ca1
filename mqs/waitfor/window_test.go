package waitfor

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const leftID = inferior.Addr(0x300) // a window

// held is a lock that a rank has.
func held(exclusive bool, ranks ...int32) mqs.Epoch {
	return mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: mqs.Known(exclusive), Ranks: ranks, Granted: mqs.Known(true)}
}

// What a member's calls do with a lock that its library has entered.
func TestKeeping(t *testing.T) {
	const other = leftID + 1
	in := func(call string, window, target int32) mqs.Thread { // -1 where it is not known
		th := mqs.Thread{Call: call}
		if window >= 0 {
			th.Window = mqs.Known(leftID)
			if window > 0 {
				th.Window = mqs.Known(other)
			}
		}
		if target >= 0 {
			th.Target = mqs.Known(target)
		}
		return th
	}
	for name, c := range map[string]struct {
		threads []mqs.Thread
		want    [2]keeping // of the lock of rank 1, and of all
	}{
		"no call":                      {nil, [2]keeping{isKept, isKept}},
		"another call":                 {[]mqs.Thread{in("MPI_Recv", -1, -1)}, [2]keeping{isKept, isKept}},
		"it asks for it":               {[]mqs.Thread{in("MPI_Win_lock", 0, 1)}, [2]keeping{isAskedFor, isKept}},
		"it asks for another":          {[]mqs.Thread{in("MPI_Win_lock", 0, 2)}, [2]keeping{isKept, isKept}},
		"it asks on another window":    {[]mqs.Thread{in("MPI_Win_lock", 1, 1)}, [2]keeping{isKept, isKept}},
		"it asks, for what unknown":    {[]mqs.Thread{in("MPI_Win_lock", 0, -1)}, [2]keeping{isUnsure, isUnsure}},
		"it asks, where unknown":       {[]mqs.Thread{in("MPI_Win_lock", -1, 1)}, [2]keeping{isUnsure, isUnsure}},
		"it asks for all":              {[]mqs.Thread{in("MPI_Win_lock_all", 0, -1)}, [2]keeping{isAskedFor, isAskedFor}},
		"it asks for all, somewhere":   {[]mqs.Thread{in("MPI_Win_lock_all", -1, -1)}, [2]keeping{isUnsure, isUnsure}},
		"it releases it":               {[]mqs.Thread{in("MPI_Win_unlock", 0, 1)}, [2]keeping{isUnsure, isKept}},
		"it releases another":          {[]mqs.Thread{in("MPI_Win_unlock", 0, 2)}, [2]keeping{isKept, isKept}},
		"it releases one":              {[]mqs.Thread{in("MPI_Win_unlock", 0, -1)}, [2]keeping{isUnsure, isKept}},
		"it releases all":              {[]mqs.Thread{in("MPI_Win_unlock_all", 0, -1)}, [2]keeping{isUnsure, isUnsure}},
		"it releases all elsewhere":    {[]mqs.Thread{in("MPI_Win_unlock_all", 1, -1)}, [2]keeping{isKept, isKept}},
		"one releases, one asks":       {[]mqs.Thread{in("MPI_Win_unlock", 0, 1), in("MPI_Win_lock", 0, 1)}, [2]keeping{isAskedFor, isKept}},
		"one asks for another and one": {[]mqs.Thread{in("MPI_Win_lock", 0, 2), in("MPI_Win_unlock", -1, 1)}, [2]keeping{isUnsure, isKept}},
	} {
		p := windowPart{rank: &rank{process: &mqs.Process{Threads: c.threads}}, own: &mqs.Window{Handle: leftID}}
		if got := [2]keeping{p.has(1), p.has(everyRank)}; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		for _, thread := range c.threads {
			if isHere := thread.Window != mqs.Known(other); p.isIn(thread.Call) != isHere && len(c.threads) == 1 {
				t.Errorf("%s: it is in %s on the window: %t", name, thread.Call, !isHere)
			}
		}
		if p.isIn("MPI_Win_fence") {
			t.Errorf("%s: it is in MPI_Win_fence", name)
		}
	}
	p := windowPart{rank: &rank{process: &mqs.Process{Threads: []mqs.Thread{in("MPI_Win_start", 1, -1)}}}}
	if !p.isIn("MPI_Win_start", "MPI_Win_complete") || p.isIn("MPI_Win_complete") {
		t.Error("it may be on the window of which nothing is known")
	}
}

// What is open at a member of a window.
func TestEpochsOfPart(t *testing.T) {
	asked := func(granted mqs.Maybe[bool], ranks ...int32) mqs.Epoch {
		return mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: mqs.Known(true), Ranks: ranks, Granted: granted}
	}
	own := &mqs.Window{Epochs: []mqs.Epoch{held(false, 0, 2), asked(mqs.Known(false), 1, 3), asked(mqs.Maybe[bool]{}, 4), {Kind: mqs.StartEpoch, Ranks: []int32{5}, Granted: mqs.Known(false)}}}
	p := windowPart{own: own}
	if got := p.asked(); !slices.Equal(got, []int32{1, 3}) {
		t.Errorf("it has asked for %d", got)
	}
	for target, want := range map[int32]mqs.Maybe[bool]{0: mqs.Known(false), 2: mqs.Known(false), 1: mqs.Known(true), 4: mqs.Known(true), 5: {}, 6: {}} {
		if got := p.kindOf(target); got != want {
			t.Errorf("the lock of %d is exclusive: %v", target, got)
		}
	}
	if e := p.epoch(mqs.StartEpoch); e == nil || e != &own.Epochs[3] || p.epoch(mqs.PostEpoch) != nil || (&windowPart{}).epoch(mqs.StartEpoch) != nil {
		t.Errorf("%+v", e)
	}
	for _, c := range []struct {
		own  *mqs.Window
		want bool
	}{{nil, false}, {&mqs.Window{}, false}, {&mqs.Window{Epochs: []mqs.Epoch{}}, true}, {&mqs.Window{Idle: mqs.Known(true)}, true}, {&mqs.Window{Idle: mqs.Known(false)}, false}} {
		if got := (&windowPart{own: c.own}).isRead(); got != c.want {
			t.Errorf("%+v is read: %t", c.own, got)
		}
	}
	for _, c := range []struct {
		one, other mqs.Maybe[bool]
		may, must  bool
	}{
		{mqs.Known(true), mqs.Known(true), true, true}, {mqs.Known(true), mqs.Known(false), true, true}, {mqs.Known(false), mqs.Known(true), true, true}, {mqs.Known(false), mqs.Known(false), false, false},
		{mqs.Maybe[bool]{}, mqs.Known(false), true, false}, {mqs.Known(false), mqs.Maybe[bool]{}, true, false}, {mqs.Maybe[bool]{}, mqs.Maybe[bool]{}, true, false},
	} {
		if may, must := (&windowLock{exclusive: c.one}).conflicts(c.other); may != c.may || must != c.must {
			t.Errorf("%v beside %v: %t, %t", c.one, c.other, may, must)
		}
	}
}
