package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
)

// looking says how the stacks of a job are looked at.
type looking struct {
	stacks bool
	looks  int
	every  time.Duration
	seen   [][]stacks.Process
}

// mostLooks bounds how many looks are kept.
const mostLooks = 1000

func (l *looking) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&l.stacks, "stacks", false, "show the stacks of all ranks too, as one tree")
	f.IntVar(&l.looks, "looks", 3, "with --stacks: look `N` times at a job that runs")
	f.DurationVar(&l.every, "every", time.Second, "with --stacks: wait this `TIME` between looks")
}

// check says what is wrong with the flags, of which these were given.
func (l *looking) check(given func(name string) bool, isRunning bool) error {
	switch {
	case !l.stacks && (given("looks") || given("every")):
		return errors.New("--looks and --every say how --stacks looks at a job: give that too")
	case !isRunning && (given("looks") || given("every")):
		return errors.New("what does not run is looked at once: --looks and --every take a process id")
	case l.looks < 1 || l.looks > mostLooks:
		return errors.New("--looks is a number from 1 to 1000")
	case l.every < 0:
		return errors.New("--every can't be less than nothing: 1s, 500ms")
	}
	return nil
}

// keep keeps what a look has seen.
func (l *looking) keep(s *mqs.Snapshot) {
	if l.stacks && len(l.seen) < l.looks {
		l.seen = append(l.seen, stacks.Of(s))
	}
}

// rest looks again until there are as many looks as are wanted, or no more to be had.
func (l *looking) rest(ctx context.Context, again func() (*mqs.Snapshot, error)) {
	for l.stacks && len(l.seen) < l.looks {
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.every):
		}
		s, err := again()
		if err != nil {
			return // what was seen before stands
		}
		l.keep(s)
	}
}
