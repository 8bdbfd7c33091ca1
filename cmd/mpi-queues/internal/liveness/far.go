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
	return &Clock{c.start, c.ticks, c.runnable}
}

// Look is a look at processes of other machines, each of which has a process id of its own in it. Stopped
// are the clocks of these before the look stopped them, and Left those after it.
type Look struct {
	*mqs.Snapshot
	Stopped, Left map[int]Clock
}

// farLooks is how often a job on many machines is looked at, and farPause how long it runs in between.
const (
	farLooks = 4
	farPause = time.Second
)

// errGone means that a process has no clock.
var errGone = errors.New("the process is gone")

// WatchFar is [Watch] for a job on several machines, whose ranks are not all stopped at one moment. What
// stands in two looks as it was, and has run meanwhile, stood so at every moment from the end of the first
// look to the beginning of the second, on whatever machine it is.
func WatchFar(ctx context.Context, first Look, again func(ctx context.Context) (Look, error)) (*waitfor.Report, error) {
	var seen History
	at := func(l Look) waitfor.Past {
		past := seen.past(l.Snapshot, clocksOf(l.Stopped), func(pid int) (clock, error) {
			c, ok := l.Left[pid]
			if !ok {
				return clock{}, errGone
			}
			return clock{c.Ticks, c.Started, c.Runnable}, nil
		})
		past.Again = true
		if past.Looks > 0 {
			past.Watched = seen.watched()
		}
		return past
	}
	r := waitfor.AnalyseLive(first.Snapshot, at(first))
	for looks := 1; looks < farLooks && isOpen(r); looks++ {
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(farPause):
		}
		next, err := again(ctx)
		if err != nil {
			break // what was seen before stands
		}
		r = waitfor.AnalyseLive(next.Snapshot, at(next))
	}
	return r, ctx.Err()
}

func clocksOf(from map[int]Clock) Clocks {
	out := Clocks{}
	for pid, c := range from {
		out[pid] = clock{c.Ticks, c.Started, c.Runnable}
	}
	return out
}
