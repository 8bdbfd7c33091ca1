// Package hang follows a job that runs until it ends, or until nothing of it has moved for a time.
//
// A look stops the ranks for a moment. So there is none while the ranks read and write files or sockets, and
// after one they are left alone for 200 times as long as it took, unless that left too few of them.
// A rank moves if it sends, receives or completes something, if it leaves a call that waits or enters one, and
// if it computes: where a loop that computes has no end, nobody can tell it from one that has.
package hang

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// ErrEnded means that the job is over.
var ErrEnded = errors.New("the job has ended")

const (
	// share is how many times what a look takes the job is left alone after it.
	share = 200
	// maxFailures is the number of consecutive failed samples after which the watch of a running job gives up, if they span at least
	// three times After: it would notice no hang.
	maxFailures = 10
	// leastLooks is how often a job is looked at nevertheless before it is said to hang.
	leastLooks = 3
)

// Watch says how a job is watched.
type Watch struct {
	// Every is the time between two looks at least, and After how long nothing may move.
	Every, After time.Duration
	// Look reads all ranks. It fails with [ErrEnded] when none is left; other errors leave the job as it was
	// seen before. One that lasts as long as After is reported by Told: while a job starts, there may be nothing to
	// look at. See [maxFailures] for those that end the watch.
	Look func(ctx context.Context) (liveness.Look, error)
	// Transferred is how many bytes processes of this machine have read and written.
	Transferred func(pid int) (uint64, error)
	// Runs is true if the job is known to be running. The first sample that succeeds shows that too.
	Runs bool
	// Confirm makes the report of a job in which nothing has moved.
	Confirm func(ctx context.Context) (*waitfor.Report, error)
	Told    func(err error)
	// HeldUp is called with the reason when the ranks that wait have been held up for After, and again only after something has moved.
	// The watch continues, because the rank that holds them up may go on.
	HeldUp func(why string)

	now  func() time.Time
	wait func(ctx context.Context, d time.Duration) error

	seen  liveness.History
	moved time.Time // when something was seen to have moved
	stuck time.Time // since when ranks are deadlocked in every look; zero if they were not in the last
	last  time.Time // when the last look was
	ranks []int32   // those that were deadlocked then
	polls map[int][]waitfor.Poll
	pids  []int
	bytes uint64
	// failing is the time of the first of the current failures, zero if the last sample succeeded; failures counts them.
	failing  time.Time
	failures int
	isTold   bool
	// held is the time since which every sample has shown ranks held up, zero if the last one did not.
	held       time.Time
	isHeldTold bool
}

// Run watches until the job hangs, and returns the report on it. It fails with [ErrEnded], with the context, and with why the
// job can't be looked at any more.
func (w *Watch) Run(ctx context.Context) (*waitfor.Report, error) {
	if w.now == nil {
		w.now, w.wait = time.Now, sleep
	}
	w.moved, w.last = w.now(), w.now()
	pause := w.Every
	for {
		if err := w.wait(ctx, pause); err != nil {
			return nil, err
		}
		pause = w.Every
		if !w.transfers() || w.now().Sub(w.last) >= w.After {
			start := w.now()
			if err := w.look(ctx); err != nil {
				return nil, err
			}
			pause = max(pause, min(share*w.now().Sub(start), w.After/leastLooks))
		}
		if w.hangs() {
			if r, err := w.confirm(ctx); r != nil || err != nil {
				return r, err
			}
			w.moved, w.stuck = w.now(), time.Time{}
		}
	}
}

// look looks at the job. It fails if the watch is over.
func (w *Watch) look(ctx context.Context) error {
	stopped := w.seen.Clocks()
	look, err := w.Look(ctx)
	if err != nil {
		return w.failed(ctx, err)
	}
	w.failing, w.failures, w.isTold, w.Runs = time.Time{}, 0, false, true
	w.compare(look, stopped)
	return nil
}

// confirm makes the report, nil if it shows that the job gets on. It fails if the watch is over.
func (w *Watch) confirm(ctx context.Context) (*waitfor.Report, error) {
	r, err := w.Confirm(ctx)
	switch {
	case err != nil:
		return nil, w.failed(ctx, err)
	case r.Verdict == waitfor.NoDeadlock || len(deadlocked(r)) == 0 && w.computes(r, nil):
		return nil, ctx.Err()
	}
	return r, ctx.Err()
}

// failed returns an error that ends the watch, and reports others if they last.
func (w *Watch) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, ErrEnded) {
		return err
	}
	now := w.now()
	if w.failing.IsZero() {
		w.failing = now
	}
	w.failures++
	lasts := now.Sub(w.failing)
	if w.Runs && w.failures >= maxFailures && lasts >= 3*w.After {
		return fmt.Errorf("the watch ends, because the last %d samples of the job failed: %w", w.failures, err)
	}
	if !w.isTold && lasts >= w.After { // once
		w.isTold = true
		w.Told(err)
	}
	return nil
}

// hangs says whether nothing has moved for long, or some ranks have been deadlocked for as long.
func (w *Watch) hangs() bool {
	now := w.now()
	return w.failing.IsZero() && len(w.pids) > 0 && (now.Sub(w.moved) >= w.After || !w.stuck.IsZero() && now.Sub(w.stuck) >= w.After)
}

// transfers says whether ranks have read or written something since it was last asked.
func (w *Watch) transfers() bool {
	var sum uint64
	for _, pid := range w.pids {
		n, err := w.Transferred(pid)
		if err != nil {
			return false
		}
		sum += n
	}
	before := w.bytes
	w.bytes = sum
	if before == 0 || sum == before {
		return false
	}
	w.moved = w.now()
	return true
}

// compare holds a look against the one before. stopped are the clocks of this machine's ranks before it.
func (w *Watch) compare(look liveness.Look, stopped liveness.Clocks) {
	var past waitfor.Past
	if look.Left != nil {
		past = w.seen.PastFar(look)
	} else {
		past = w.seen.Past(look.Snapshot, stopped)
	}
	past.Again, w.polls = true, past.Polls
	r := waitfor.AnalyseLive(look.Snapshot, past)
	pids := make([]int, 0, len(look.Processes))
	for _, p := range look.Processes {
		pids = append(pids, p.PID)
	}
	slices.Sort(pids)
	now := w.now()
	moved := !slices.Equal(pids, w.pids) || slices.ContainsFunc(look.Processes, func(p *mqs.Process) bool { return hasMoved(p, past) })
	if moved || w.computes(r, past.Ran) {
		w.moved = now
	}
	switch {
	case moved || r.Verdict != waitfor.HeldUp:
		w.held, w.isHeldTold = time.Time{}, false
	case w.held.IsZero():
		w.held = now
	case !w.isHeldTold && now.Sub(w.held) >= w.After:
		w.isHeldTold = true
		w.HeldUp(r.Why)
	}
	if !slices.Equal(pids, w.pids) {
		w.pids, w.bytes = pids, 0
		w.transfers()
	}
	w.last = now
	ranks := deadlocked(r)
	switch {
	case len(ranks) == 0:
		w.stuck = time.Time{}
	case w.stuck.IsZero() || !containsAll(ranks, w.ranks):
		w.stuck = now
	}
	w.ranks = ranks
}

// hasMoved is false of a process that was not there before too: a look that could not read it says nothing.
func hasMoved(p *mqs.Process, past waitfor.Past) bool {
	before := past.Earlier[p.PID]
	return before != nil && waitfor.HasMoved(p, before)
}

// computes says whether a rank runs outside of MPI, in no loop in which it polls. ran are those processes that have
// run since the look before; nil are all.
func (w *Watch) computes(r *waitfor.Report, ran map[int]bool) bool {
	return slices.ContainsFunc(r.Ranks, func(rank waitfor.Rank) bool {
		p := rank.Process
		return p != nil && r.Groups[rank.Group].State == waitfor.Running && (ran == nil || ran[p.PID]) && len(w.polls[p.PID]) == 0 &&
			!slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool { return t.Call != "" })
	})
}

// deadlocked are the ranks that a report claims to be.
func deadlocked(r *waitfor.Report) []int32 {
	if r.Verdict != waitfor.Deadlocked {
		return nil
	}
	var out []int32
	for _, d := range r.Deadlocks {
		out = append(out, d.Ranks...)
	}
	return out
}

// containsAll says whether all of some ranks are among others.
func containsAll(ranks, some []int32) bool {
	return !slices.ContainsFunc(some, func(r int32) bool { return !slices.Contains(ranks, r) })
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
