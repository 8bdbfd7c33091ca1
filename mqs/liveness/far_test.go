package liveness

import (
	"context"
	"errors"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// looked is a look at a job that hangs, whose processes had run for so many ticks before it.
func looked(t *testing.T, ticks uint64) Look {
	t.Helper()
	l := Look{undecided(t), map[int]Clock{}, map[int]Clock{}}
	for i, p := range l.Processes {
		p.PID = i + 1
		l.Stopped[p.PID] = Clock{Started: 5, Ticks: ticks, Runnable: true}
		l.Left[p.PID] = Clock{Started: 5, Ticks: ticks + 1, Runnable: true}
	}
	return l
}

// A deadlock across machines is claimed at the second look at ranks that have run and stand as they stood;
// else it is looked for again, a few times. What fails, or is cancelled, leaves what was seen before.
func TestWatchFar(t *testing.T) {
	failure := errors.New("no")
	runs := func(n int) (Look, error) { return looked(t, uint64(10*n)), nil }
	for name, c := range map[string]struct {
		again func(n int) (Look, error)
		looks int
		want  waitfor.Verdict
	}{
		"they stand":      {runs, 2, waitfor.Deadlocked},
		"they do not run": {func(int) (Look, error) { return looked(t, 0), nil }, farLooks, waitfor.DeadlockedUnless},
		"others have their numbers": {func(n int) (Look, error) {
			l := looked(t, uint64(10*n))
			for pid := range l.Left {
				l.Left[pid] = Clock{Started: uint64(10 * n), Ticks: uint64(10 * n)}
			}
			return l, nil
		}, farLooks, waitfor.Unknown},
		"one does not answer again": {func(n int) (Look, error) {
			l := looked(t, uint64(10*n))
			l.Processes = l.Processes[1:]
			return l, nil
		}, 3, waitfor.Unknown},
		"nobody answers again": {func(int) (Look, error) { return Look{}, failure }, 2, waitfor.Unknown},
		"they run at last": {func(n int) (Look, error) {
			if n < 3 {
				return looked(t, 0), nil
			}
			return runs(n)
		}, 4, waitfor.Deadlocked},
	} {
		n := 1
		r, err := watchFar(t.Context(), 0, looked(t, 0), func(context.Context) (Look, error) {
			n++
			return c.again(n - 1)
		})
		if err != nil || n != c.looks || r.Verdict != c.want {
			t.Errorf("%s: %d looks, %q, %s, %v", name, n, r.Verdict, r.Why, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := WatchFar(ctx, Look{Snapshot: &mqs.Snapshot{}}, func(context.Context) (Look, error) {
		t.Error("it is looked at again")
		return Look{}, failure
	})
	if r == nil || !errors.Is(err, context.Canceled) {
		t.Error(r, err)
	}
}

// What is runnable has to have run.
func TestHaveRun(t *testing.T) {
	for name, c := range map[string]struct {
		before, now Clock
		want        bool
	}{
		"it has":              {Clock{5, 10, true}, Clock{5, 12, true}, true},
		"it waits for a turn": {Clock{5, 10, true}, Clock{5, 11, true}, false},
		"it sleeps":           {Clock{5, 10, false}, Clock{5, 10, false}, true},
		"it wakes up":         {Clock{5, 10, false}, Clock{5, 10, true}, false},
		"it is another one":   {Clock{5, 10, true}, Clock{6, 0, true}, true},
	} {
		if got := HaveRun(map[int]Clock{1: c.before}, map[int]Clock{1: c.now, 2: {1, 0, true}}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
