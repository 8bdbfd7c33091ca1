package liveness

import (
	"context"
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// How a job is watched: as often as it takes to see it move or to confirm that it hangs, but
// no longer than that. Each look stops it, so they become rare.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = time.Second
	mostWatch  = 3 * time.Second
	// mostHeld takes the place of mostWatch if a rank can't be stopped. To find that out, the rank was watched for one second before
	// the first sample.
	mostHeld = 500 * time.Millisecond
	// mostMoving is how long a job is watched while something is unknown or doubtful that another sample may settle. On a busy
	// machine, the usual time allows only a few samples.
	mostMoving = 20 * time.Second
	// doubtfulLooks is the number of samples that such a job gets within that time. Each sample stops a rank at another point of its
	// call; on a busy machine, about one point in ten does not show that the call waits.
	doubtfulLooks = 8
	mostLooks     = 20
	// mostRunning is how long ranks are waited for that have something to run and no processor.
	mostRunning = 30 * time.Second
)

// Watch looks at a job again until it is seen to get on, or what it hangs in is confirmed: one
// look proves neither. A message that a library has just taken into its hands is counted as
// having come, while the receive that it is for still waits. s is the first look, and again
// looks once more; an error of that ends the watch with what was seen before, but for one that
// isFinal says is the job's end.
func Watch(ctx context.Context, s *mqs.Snapshot, again func(ctx context.Context) (*mqs.Snapshot, error), isFinal func(error) bool) (*waitfor.Report, error) {
	return watch(ctx, thisMachine{}, s, again, isFinal, func(*mqs.Snapshot, waitfor.Past, Clocks) {})
}

// watch is [Watch] of processes on a machine. sampled is called for each sample, with the clocks that the processes had
// before it stopped them.
func watch(ctx context.Context, on machine, s *mqs.Snapshot, again func(ctx context.Context) (*mqs.Snapshot, error), isFinal func(error) bool,
	sampled func(s *mqs.Snapshot, past waitfor.Past, stopped Clocks)) (*waitfor.Report, error) {
	seen := History{on: on}
	past := seen.Past(s, nil)
	past.Again = true
	sampled(s, past, nil)
	r := waitfor.AnalyseLive(s, past)
	seen.Keep(r)
	second := false // of all that have run at all
	for pause := firstPause; ctx.Err() == nil && isOpen(r, past.Looks) && past.Looks < mostLooks && (!second || hasTime(r, s, past.Looks, seen.watched())); pause = min(3*pause, mostPause) {
		next := on.now().Add(pause)
		running, stop := context.WithTimeout(ctx, mostRunning)
		on.wait(running, func() bool { return on.now().After(next) && seen.settled() })
		stop()
		stopped := seen.Clocks()
		var err error
		s, err = again(ctx)
		if err != nil && isFinal(err) {
			return nil, err
		}
		if err != nil {
			break // what was seen before stands
		}
		past = seen.Past(s, stopped)
		second = second || isSecond(past, stopped)
		past.Again, past.Watched = true, seen.watched()
		sampled(s, past, stopped)
		r = waitfor.AnalyseLive(s, past)
		seen.Keep(r)
	}
	return r, nil
}

// hasTime reports whether the job may be sampled again, given its report after the samples so far, of which s is the last. If another
// sample may settle something unknown or doubtful, the job gets more samples and, on a busy machine, more time for them: up to mostMoving.
func hasTime(r *waitfor.Report, s *mqs.Snapshot, looks int, watched time.Duration) bool {
	most := mostWatch
	if slices.ContainsFunc(s.Processes, func(p *mqs.Process) bool { return p.Hold == mqs.Unwakeable || p.Hold == mqs.Frozen }) {
		most = mostHeld
	}
	switch {
	case r.Verdict != waitfor.Unknown && r.Verdict != waitfor.DeadlockedUnless:
		return watched < most
	case r.GetsOn:
		return looks < waitfor.LeastSettling || watched < mostMoving
	}
	return watched < most || r.Moving && looks < doubtfulLooks && watched < mostMoving
}

// leastLooks are those before the last one of a job of which ranks are missing, and which does not get on: what those
// do stays unknown, however often the others are looked at.
const leastLooks = 2

// isOpen says whether another look may say more than the report after some looks: what is unknown may be known, or show
// not to matter, once ranks have gone on, and on a busy machine they may not have by the next look.
func isOpen(r *waitfor.Report, looks int) bool {
	isUnknown := r.Verdict == waitfor.Unknown && len(r.Groups) > 0 && (looks < leastLooks || r.GetsOn || len(r.Missing) == 0)
	return isUnknown || r.Moving || r.Verdict == waitfor.Undecided || r.Verdict == waitfor.NoProgress || r.Verdict == waitfor.HeldUp
}
