package hang

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// script is a job that is made up, and its time.
type script struct {
	*Watch
	time  time.Time
	looks int
	// confirmed is how often a report was made.
	confirmed int
	// at is when the looks were, since the beginning.
	at []time.Duration
	// told are the errors that were told.
	told []string
}

// over ends a script of a job that does not hang.
const over = time.Hour

// play makes a job of two ranks. look is told how often it was called before.
func play(look func(n int, s *script) (*mqs.Snapshot, error)) *script {
	start := time.Unix(1000, 0)
	s := &script{time: start}
	s.Watch = &Watch{Every: 10 * time.Second, After: time.Minute}
	s.Look = func(context.Context) (liveness.Look, error) {
		s.at = append(s.at, s.time.Sub(start))
		s.looks++
		snapshot, err := look(s.looks-1, s)
		// The clocks are as on another machine: each rank has run since the last look.
		clocks := func(more uint64) map[int]liveness.Clock {
			out := map[int]liveness.Clock{}
			for pid := range 3 {
				out[pid] = liveness.Clock{Started: 1, Ticks: uint64(10*s.looks) + more, Runnable: true}
			}
			return out
		}
		return liveness.Look{Snapshot: snapshot, Stopped: clocks(0), Left: clocks(1)}, err
	}
	s.Transferred = func(int) (uint64, error) { return 0, os.ErrNotExist }
	s.HeldUp = func(why string) { s.told = append(s.told, why) }
	s.Told = func(err error) { s.told = append(s.told, err.Error()) }
	s.Confirm = func(context.Context) (*waitfor.Report, error) {
		s.confirmed++
		return &waitfor.Report{Verdict: waitfor.NoProgress}, nil
	}
	s.now = func() time.Time { return s.time }
	s.wait = func(_ context.Context, d time.Duration) error {
		if s.time = s.time.Add(d); s.time.Sub(start) > over {
			return context.DeadlineExceeded
		}
		return nil
	}
	return s
}

// pair is two ranks in calls of the program's, at lines.
func pair(call string, lines ...int) *mqs.Snapshot {
	s := &mqs.Snapshot{}
	for rank, line := range lines {
		p := &mqs.Process{PID: rank + 1, Threads: []mqs.Thread{{Number: 1, Placed: true, Call: call, Function: "main", File: "a.c", Line: line}}}
		p.Seat(mqs.Known(int32(rank)), mqs.Known(int32(len(lines))), "")
		s.Processes = append(s.Processes, p)
	}
	return s
}

// A job is reported on when nothing has moved for the time given, and not before; one that moves now and then,
// or computes, never.
func TestRun(t *testing.T) {
	failure := errors.New("no gdb")
	for name, c := range map[string]struct {
		look func(n int, s *script) (*mqs.Snapshot, error)
		// hangs is when the report comes, 0 if never.
		hangs time.Duration
		err   error
	}{
		"it stands":            {look: func(int, *script) (*mqs.Snapshot, error) { return pair("MPI_Recv", 3, 4), nil }, hangs: 70 * time.Second},
		"it moves":             {look: func(n int, _ *script) (*mqs.Snapshot, error) { return pair("MPI_Recv", 3, 4+n), nil }, err: context.DeadlineExceeded},
		"it moves for a while": {look: func(n int, _ *script) (*mqs.Snapshot, error) { return pair("MPI_Recv", 3, 4+min(n, 3)), nil }, hangs: 100 * time.Second},
		"it is slow":           {look: func(n int, _ *script) (*mqs.Snapshot, error) { return pair("MPI_Recv", 3, 4+n/5), nil }, err: context.DeadlineExceeded},
		"it computes":          {look: func(int, *script) (*mqs.Snapshot, error) { return pair("", 3, 4), nil }, err: context.DeadlineExceeded},
		"it ends": {look: func(n int, _ *script) (*mqs.Snapshot, error) {
			if n == 3 {
				return nil, ErrEnded
			}
			return pair("MPI_Recv", 3, 4), nil
		}, err: ErrEnded},
		"ranks come": {look: func(n int, _ *script) (*mqs.Snapshot, error) {
			return pair("MPI_Recv", []int{3, 4}[:1+min(n/4, 1)]...), nil
		}, hangs: 110 * time.Second},
		"it can't be seen": {look: func(int, *script) (*mqs.Snapshot, error) { return nil, failure }, err: context.DeadlineExceeded},
		"it can't be seen any more": {look: func(n int, _ *script) (*mqs.Snapshot, error) {
			if n > 0 {
				return nil, failure
			}
			return pair("MPI_Recv", 3, 4), nil
		}, err: failure},
		"it can't be seen now and then": {look: func(n int, _ *script) (*mqs.Snapshot, error) {
			if n%6 > 0 {
				return nil, failure
			}
			return pair("MPI_Recv", 3, 4+n), nil
		}, err: context.DeadlineExceeded},
		"it can't be seen yet": {look: func(n int, _ *script) (*mqs.Snapshot, error) {
			if n < 3 {
				return nil, failure
			}
			return pair("MPI_Recv", 3, 4), nil
		}, hangs: 100 * time.Second},
		"a look takes long": {look: func(_ int, s *script) (*mqs.Snapshot, error) {
			s.time = s.time.Add(time.Second)
			return pair("MPI_Recv", 3, 4), nil
		}, hangs: 74 * time.Second},
	} {
		s := play(c.look)
		start := s.time
		r, err := s.Run(t.Context())
		if took := s.time.Sub(start); !errors.Is(err, c.err) || (r != nil) != (c.hangs > 0) || r != nil && took != c.hangs {
			t.Errorf("%s: %v and %v after %s; looks at %s", name, r, err, took, s.at)
		}
		if told := name == "it can't be seen" || name == "it can't be seen any more"; told != (len(s.told) == 1) {
			t.Errorf("%s: %q is told", name, s.told)
		}
	}
}

// A report that is no hang's has the job watched on.
func TestNotConfirmed(t *testing.T) {
	s := play(func(int, *script) (*mqs.Snapshot, error) { return pair("MPI_Recv", 3, 4), nil })
	s.Confirm = func(context.Context) (*waitfor.Report, error) {
		s.confirmed++
		if s.confirmed < 3 {
			return &waitfor.Report{Verdict: waitfor.NoDeadlock}, nil
		}
		return &waitfor.Report{Verdict: waitfor.Unknown}, nil
	}
	start := s.time
	if r, err := s.Run(t.Context()); err != nil || r.Verdict != waitfor.Unknown || s.time.Sub(start) != 190*time.Second {
		t.Errorf("%v, %v after %s", r, err, s.time.Sub(start))
	}
}

// TestVerdicts checks that a watch ends under the verdicts for which the table of REPORT.md has an exit status, and goes on under the
// others: when nothing has moved, and when a rank computes beside ranks that have been deadlocked for long.
func TestVerdicts(t *testing.T) {
	const root = "../../../../"
	read := func(name string) string {
		text, err := os.ReadFile(root + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z ]+)` \\|.*\\| ([^|]+) \\|$").FindAllStringSubmatch(read(".github/REPORT.md"), -1) {
		page[row[1]] = row[2]
	}
	verdicts := regexp.MustCompile(`Verdict = "([^"]+)"`).FindAllStringSubmatch(read("mqs/waitfor/report.go"), -1)
	if len(verdicts) != 9 {
		t.Errorf("there are %d verdicts, want the nine of the page", len(verdicts))
	}
	still, computing := pair("MPI_Recv", 3, 4), pair("", 3, 4)
	for _, match := range verdicts {
		verdict, status := waitfor.Verdict(match[1]), page[match[1]]
		if status != "120" && status != "none" && status != "120, also while other ranks move" {
			t.Errorf("the page has %q for %s", status, verdict)
		}
		for _, job := range []*mqs.Snapshot{still, computing} {
			r := waitfor.Analyse(job)
			if r.Verdict = verdict; strings.HasPrefix(match[1], "deadlock") {
				r.Deadlocks = []waitfor.Deadlock{{Ranks: []int32{2, 3}}}
			}
			w := Watch{Confirm: func(context.Context) (*waitfor.Report, error) { return r, nil }}
			got, err := w.confirm(t.Context())
			want := strings.HasPrefix(status, "120")
			if job == computing {
				want = strings.HasSuffix(status, "other ranks move")
			}
			if (got != nil) != want || err != nil {
				t.Errorf("%s, a rank computes: %v: the watch ends: %v, want %v (%v)", verdict, job == computing, got != nil, want, err)
			}
		}
	}
}

// Ranks that read or write are not stopped to be looked at, but for once in the time that a hang may take: what waits
// may write that it does.
func TestTransfers(t *testing.T) {
	s := play(func(n int, _ *script) (*mqs.Snapshot, error) { return pair("MPI_Recv", 3, 4+n), nil })
	var written uint64 = 1
	s.Transferred = func(int) (uint64, error) { written++; return written, nil }
	_, _ = s.Run(t.Context())
	if want := []time.Duration{10 * time.Second, 70 * time.Second, 130 * time.Second}; !slices.Equal(s.at[:3], want) {
		t.Errorf("the looks are at %s", s.at[:min(len(s.at), 10)])
	}
}

// TestHeldUp checks that a watch says once which rank holds up the others by computing, and says it again only after something has moved.
func TestHeldUp(t *testing.T) {
	for name, c := range map[string]struct {
		line func(n int) int // of the rank that waits
		told int
	}{
		"for ever":            {func(int) int { return 3 }, 1},
		"after a move, again": {func(n int) int { return 3 + min(n/60, 1) }, 2},
		"never for long":      {func(n int) int { return 3 + n/4 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(func(n int, _ *script) (*mqs.Snapshot, error) {
				job := pair("", c.line(n), 4)
				for _, p := range job.Processes {
					p.Phase = mqs.Starting
				}
				job.Processes[0].Threads[0].Call, job.Processes[1].Threads[0].Activity = "MPI_Init", mqs.Computes
				return job, nil
			})
			if _, err := s.Run(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the watch ends: %v", err)
			}
			if len(s.told) != c.told || slices.ContainsFunc(s.told, func(why string) bool {
				return !strings.Contains(why, "waits for rank 1, which has not called MPI_Init")
			}) {
				t.Errorf("told %d times, want %d: %q", len(s.told), c.told, s.told)
			}
		})
	}
}
