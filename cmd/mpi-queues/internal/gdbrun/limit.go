package gdbrun

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// TimeoutError means that a gdb was ended that made no progress.
type TimeoutError struct {
	after time.Duration
	// doing is what it had said last, empty if that was nothing.
	doing string
}

func (e *TimeoutError) Error() string {
	last := ""
	if e.doing != "" {
		last = " (" + e.doing + ")"
	}
	return fmt.Sprintf("gdb made no progress within %s%s and was told to end: --timeout gives it more", e.after, last)
}

// maxSteps bounds how often a gdb that reads this many processes is believed to make
// progress: as it attaches to each, as it reads each, and a few times at the end. So a gdb
// that stands still is ended after the timeout, and one that crawls after that many of them.
func maxSteps(processes int) int { return 2*processes + 10 }

// alarm goes off a time after it was set.
type alarm struct {
	after time.Duration
	off   <-chan time.Time
	set   func() // anew
	stop  func() bool
}

func newAlarm(after time.Duration) alarm {
	timer := time.NewTimer(after)
	return alarm{after, timer.C, func() { timer.Reset(after) }, timer.Stop}
}

// limited ends a context when an alarm goes off, which everything that is told sets anew. What is
// told are steps; one that is like the one before, or more of them than there can be, are no
// progress. The ranks of a job stand still meanwhile, so the time is not one for each of them.
// Several goroutines may tell.
func limited(ctx context.Context, late alarm, most int, show func(step string)) (_ context.Context, tell func(step string), stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	steps, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		defer late.stop()
		doing := ""
		for {
			select {
			case <-ctx.Done():
				return
			case doing = <-steps:
				late.set()
				show(doing)
			case <-late.off:
				cancel(&TimeoutError{late.after, doing})
			}
		}
	}()
	filter := &stepFilter{most: most}
	tell = func(step string) {
		if step, isNew := filter.pass(step); isNew {
			select {
			case steps <- step:
			case <-ctx.Done():
			}
		}
	}
	return ctx, tell, func() {
		cancel(context.Canceled)
		<-ended
	}
}

// stepFilter knows which steps are progress.
type stepFilter struct {
	most int

	mu   sync.Mutex
	n    int
	last string
}

// pass returns a step as it can be shown, and whether it is progress.
func (f *stepFilter) pass(step string) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	step = printable.Line(step)
	if f.n >= f.most || step == "" || step == f.last {
		return step, false
	}
	f.last = step
	f.n++
	return step, true
}
