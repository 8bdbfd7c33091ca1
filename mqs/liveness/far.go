package liveness

import (
	"context"
	"errors"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// Clock is the clock of a process, to be sent to another machine: when the process was started, and how
// long it has run, in the kernel's ticks.
type Clock struct {
	Started  uint64 `json:"started"`
	Ticks    uint64 `json:"ticks"`
	Runnable bool   `json:"runnable"`
}

// Of reads the clock of a process of this machine; nil if there is none.
func Of(pid int) *Clock {
	c, err := clockOf(pid)
	if err != nil {
		return nil
	}
	clock := c.exported()
	return &clock
}

func (c clock) exported() Clock { return Clock{c.start, c.ticks, c.runnable} }

// HaveRun says whether all processes that had something to run, or have it now, have run for long enough.
func HaveRun(before, now map[int]Clock) bool {
	for pid, c := range now {
		if was, known := before[pid]; known && was.Started == c.Started && (was.Runnable || c.Runnable) && c.Ticks < was.Ticks+leastTicks {
			return false
		}
	}
	return true
}

// Look is a look at processes of other machines, each of which has a process id of its own in it. Stopped
// are the clocks of these before the look stopped them, and Left those after it.
type Look struct {
	*mqs.Snapshot
	Stopped, Left map[int]Clock
}

// farLooks is how often a job on many machines is looked at. How long it runs in between at least is as in [Watch].
const farLooks = 4

// errGone means that a process has no clock.
var errGone = errors.New("the process is gone")

// WatchFar is [Watch] for a job on several machines, whose ranks are not all stopped at one moment. What
// stands in two looks as it was, and has run meanwhile, stood so at every moment from the end of the first
// look to the beginning of the second, on whatever machine it is.
func WatchFar(ctx context.Context, first Look, again func(ctx context.Context) (Look, error)) (*waitfor.Report, error) {
	return watchFar(ctx, firstPause, first, again)
}

func watchFar(ctx context.Context, pause time.Duration, first Look, again func(ctx context.Context) (Look, error)) (*waitfor.Report, error) {
	var seen History
	at := func(l Look) waitfor.Past {
		past := seen.PastFar(l)
		past.Again = true
		if past.Looks > 0 {
			past.Watched = seen.watched()
		}
		return past
	}
	// One look says of no rank that it stands, so the first one is analysed only if it is the last.
	// Of a look, what the analysis takes is kept, and not the clocks.
	last, past := first.Snapshot, at(first)
	for looks := 1; looks < farLooks; looks, pause = looks+1, 3*pause {
		if looks > 1 {
			if r := waitfor.AnalyseLive(last, past); !isOpen(r, looks-1) {
				return r, ctx.Err()
			}
		}
		select {
		case <-ctx.Done():
			return waitfor.AnalyseLive(last, past), ctx.Err()
		case <-time.After(pause):
		}
		next, err := again(ctx)
		if err != nil {
			break // what was seen before stands
		}
		last, past = next.Snapshot, at(next)
	}
	return waitfor.AnalyseLive(last, past), ctx.Err()
}

// PastFar is [History.Past] of a look at other machines.
func (h *History) PastFar(l Look) waitfor.Past {
	past := h.past(l.Snapshot, func(pid int) clock { return l.Stopped[pid].clock() }, func(pid int) (clock, error) {
		c, ok := l.Left[pid]
		if !ok {
			return clock{}, errGone
		}
		return c.clock(), nil
	})
	past.Apart = true
	return past
}

func (c Clock) clock() clock { return clock{c.Ticks, c.Started, c.Runnable} }
