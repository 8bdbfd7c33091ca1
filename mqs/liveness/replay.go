package liveness

import (
	"context"
	"errors"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// Sample is one sample of a job, with what else [Watch] bases its report on.
type Sample struct {
	Look
	// Watched is the time from the first sample to this one.
	Watched time.Duration
}

// Record is [Watch] that returns the samples as well, for [Replay].
func Record(ctx context.Context, s *mqs.Snapshot, again func(ctx context.Context) (*mqs.Snapshot, error), isFinal func(error) bool) (*waitfor.Report, []Sample, error) {
	on := &recordingMachine{}
	var all []Sample
	r, err := watch(ctx, on, s, again, isFinal, func(s *mqs.Snapshot, past waitfor.Past, stopped Clocks) {
		one := Sample{Look{s, map[int]Clock{}, map[int]Clock{}}, past.Watched}
		for pid, c := range stopped {
			one.Stopped[pid] = c.exported()
		}
		for _, p := range s.Processes {
			if c, isThere := on.last[p.PID]; isThere {
				one.Left[p.PID] = c.exported()
			}
		}
		all = append(all, one)
	})
	return r, all, err
}

// recordingMachine is this machine. It keeps the last clock of each process: when a sample has been taken, the one that
// [History.Past] has read.
type recordingMachine struct {
	thisMachine
	last map[int]clock
}

func (m *recordingMachine) clock(pid int) (clock, error) {
	if m.last == nil {
		m.last = map[int]clock{}
	}
	c, err := m.thisMachine.clock(pid)
	if delete(m.last, pid); err == nil {
		m.last[pid] = c
	}
	return c, err
}

// Replay returns the report that [Watch] made of samples, by the same code. Where Watch would take another sample after
// the last of them, the report is the one on that, as if no other could be had.
func Replay(samples []Sample) (*waitfor.Report, error) {
	if len(samples) == 0 {
		return nil, errors.New("there is no sample")
	}
	on := &recordedMachine{samples: samples}
	again := func(context.Context) (*mqs.Snapshot, error) {
		if on.next == len(samples) {
			return nil, errNoMore
		}
		on.next++
		return samples[on.next-1].Snapshot, nil
	}
	first, _ := again(context.Background())
	return watch(context.Background(), on, first, again, func(error) bool { return false }, func(*mqs.Snapshot, waitfor.Past, Clocks) {
		on.sampled = on.next
	})
}

// ReplayFar returns the report that [WatchFar] would make of the samples, as if the processes were on several machines.
func ReplayFar(samples []Sample) (*waitfor.Report, error) {
	if len(samples) == 0 {
		return nil, errors.New("there is no sample")
	}
	next := 1
	return watchFar(context.Background(), 0, samples[0].Look, func(context.Context) (Look, error) {
		if next == len(samples) {
			return Look{}, errNoMore
		}
		next++
		return samples[next-1].Look, nil
	})
}

var errNoMore = errors.New("there are no more samples")

// recordedMachine is the machine of recorded samples.
type recordedMachine struct {
	samples []Sample
	// next is how many samples were taken, sampled how many of those a report has been made of. Between the two, the
	// processes have the clocks that the sample left them with.
	next, sampled int
}

func (m *recordedMachine) clock(pid int) (clock, error) {
	clocks := m.samples[m.next-1].Left
	if m.sampled == m.next && m.next < len(m.samples) { // the next sample is about to stop them
		clocks = m.samples[m.next].Stopped
	}
	c, isThere := clocks[pid]
	if !isThere {
		return clock{}, errGone
	}
	return c.clock(), nil
}

// now is the time of the last sample.
func (m *recordedMachine) now() time.Time { return time.Time{}.Add(m.samples[m.next-1].Watched) }

func (*recordedMachine) wait(context.Context, func() bool) {}
