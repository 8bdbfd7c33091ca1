package liveness

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// undecided is a job of which one look does not say whether it hangs, for certain.
func undecided(t *testing.T) *mqs.Snapshot {
	t.Helper()
	r, err := recording.Open("../../cmd/mpi-queues/internal/demo/program/deadlock.mpiq")
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Read(t.Context(), decoders.All, read.Filter{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A job is looked at again as long as that may say more. That it has ended is an error; after any
// other failure, and when it is cancelled, what was seen before stands.
func TestWatch(t *testing.T) {
	ended, broken := errors.New("ended"), errors.New("broken")
	isFinal := func(err error) bool { return err == ended }
	for _, failure := range []error{ended, broken} {
		looks := 0
		r, err := Watch(t.Context(), undecided(t), func(context.Context) (*mqs.Snapshot, error) {
			if looks++; looks == 2 {
				return nil, failure
			}
			return undecided(t), nil
		}, isFinal)
		if isEnd := failure == ended; looks != 2 || isEnd && (r != nil || err != ended) || !isEnd && (r == nil || len(r.Deadlocks) != 1 || err != nil) {
			t.Errorf("%v: %d looks, %+v, %v", failure, looks, r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	r, err := Watch(ctx, undecided(t), func(context.Context) (*mqs.Snapshot, error) {
		looks++
		cancel()
		return undecided(t), nil
	}, isFinal)
	if r == nil || err != nil || looks != 1 {
		t.Errorf("cancelled: %d looks, %+v, %v", looks, r, err)
	}
	r, err = Watch(t.Context(), &mqs.Snapshot{}, func(context.Context) (*mqs.Snapshot, error) {
		t.Error("a job without any rank is looked at again")
		return nil, ended
	}, isFinal)
	if r == nil || err != nil {
		t.Error(r, err)
	}
}

// Who is cancelled waits no longer: else this does not end.
func TestWaitIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Wait(ctx, func() bool { return false })
}

// A job that gets on, and of which something is unknown, is looked at as often as may settle that: where looks take
// long, their time is no reason to end without an answer. Where a rank can't be stopped, it has been watched for a while already.
func TestHasTime(t *testing.T) {
	for _, c := range []struct {
		verdict waitfor.Verdict
		getsOn  bool
		moving  bool
		looks   int
		watched time.Duration
		want    bool
		hold    mqs.Hold
	}{
		{waitfor.Unknown, true, false, waitfor.LeastSettling - 1, time.Minute, true, ""},
		{waitfor.DeadlockedUnless, true, false, waitfor.LeastSettling - 1, time.Minute, true, ""},
		{waitfor.Unknown, true, false, waitfor.LeastSettling, mostMoving - 1, true, ""},
		{waitfor.Unknown, true, false, waitfor.LeastSettling, mostMoving, false, ""},
		{waitfor.Unknown, false, false, 1, mostWatch, false, ""},
		{waitfor.Unknown, false, true, doubtfulLooks - 1, mostMoving - 1, true, ""},
		{waitfor.DeadlockedUnless, false, true, doubtfulLooks - 1, mostMoving - 1, true, ""},
		{waitfor.DeadlockedUnless, false, true, doubtfulLooks, mostMoving - 1, false, ""},
		{waitfor.DeadlockedUnless, false, true, doubtfulLooks - 1, mostMoving, false, ""},
		{waitfor.DeadlockedUnlessPollingEnds, false, true, 1, mostWatch, false, ""},
		{waitfor.NoProgress, true, false, 1, mostWatch, false, ""},
		{waitfor.NoProgress, false, false, 9, mostWatch - 1, true, ""},
		{waitfor.HeldUp, false, false, 1, mostHeld - 1, true, mqs.Unwakeable},
		{waitfor.HeldUp, false, false, 1, mostHeld, false, mqs.Unwakeable},
		{waitfor.HeldUp, false, false, 1, mostHeld, false, mqs.Frozen},
		{waitfor.HeldUp, false, false, 1, mostHeld, true, mqs.BeingTraced},
		{waitfor.HeldUp, false, false, 1, mostHeld, true, ""},
		{waitfor.Unknown, false, true, doubtfulLooks - 1, mostMoving - 1, true, mqs.Unwakeable},
	} {
		job := &mqs.Snapshot{Processes: []*mqs.Process{{}, {Hold: c.hold}}}
		if got := hasTime(&waitfor.Report{Verdict: c.verdict, GetsOn: c.getsOn, Moving: c.moving}, job, c.looks, c.watched); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
