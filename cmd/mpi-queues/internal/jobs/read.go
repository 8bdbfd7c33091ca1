package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Read reads what is asked for, several at once, and makes one snapshot of it in that order. What can't
// be read is in it with its reason. It fails only if ctx ends or the gdb is of no use. g may be
// nil if nothing needs it.
func Read(ctx context.Context, g GDB, asked []Inquiry, f read.Filter) (*mqs.Snapshot, error) {
	asked = slices.Clone(asked)
	leaveHeld(ctx, asked)
	processes, err := readEach(ctx, g, asked, f)
	if err != nil {
		return nil, err
	}
	return read.Join(processes), nil
}

// readEach reads each core file by a gdb of its own, and processes by as many gdbs as there are processors.
func readEach(ctx context.Context, g GDB, asked []Inquiry, f read.Filter) ([]*mqs.Process, error) {
	processes := make([]*mqs.Process, len(asked))
	done := func(k int, s *mqs.Snapshot, err error) {
		if err == nil && len(s.Processes) != 1 {
			err = fmt.Errorf("gdb showed %d processes, not one", len(s.Processes))
		}
		var p *mqs.Process
		if err == nil {
			p = s.Processes[0]
		} else {
			p = asked[k].failed(err)
		}
		asked[k].complete(p, k)
		processes[k] = p
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	live := &queue{asked: asked}
	for k, i := range asked {
		switch {
		case i.obstacle != nil:
			done(k, nil, i.obstacle)
		case i.core != "":
			group.Go(func() error {
				s, err := g.Read(ctx, gdbrun.Task{Program: i.program, Core: i.core, Filter: f})
				var useless *gdbrun.UselessError
				if errors.As(err, &useless) {
					return err
				}
				done(k, s, err)
				return ctx.Err()
			})
		default:
			live.places = append(live.places, k)
		}
	}
	most := len(live.places)
	for range min(most, runtime.NumCPU()) {
		group.Go(func() error { return g.ReadInTurn(ctx, f, most, &turn{queue: live, done: done}) })
	}
	return processes, group.Wait()
}

// queue is processes that nobody reads yet, by their places in what is asked for.
type queue struct {
	asked []Inquiry

	mu     sync.Mutex
	places []int
}

// turn is one gdb's at a queue.
type turn struct {
	*queue
	done    func(place int, s *mqs.Snapshot, err error)
	current int
}

func (t *turn) Next() (before tracee.State, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.places) == 0 {
		return before, false
	}
	t.current, t.places = t.places[0], t.places[1:]
	return t.asked[t.current].before, true
}

func (t *turn) Done(s *mqs.Snapshot, err error) { t.done(t.current, s, err) }

// ReadJob reads all ranks of the job that a process belongs to, at one moment: one gdb stops them
// all before it reads the first. A rank that can't be read, or is on another machine, is in the
// snapshot with its reason. One that gdb can't stop is left out of the next try. It fails only if ctx ends, or the gdb is of no use or makes no progress.
func ReadJob(ctx context.Context, g GDB, pid int, job *launch.Job, f read.Filter) (*mqs.Snapshot, error) {
	asked := Ranks(job)
	leaveHeld(ctx, asked)
	seen := map[int]*mqs.Process{}
	for {
		whole := gdbrun.Task{Job: pid, Filter: f}
		for _, i := range asked {
			if i.obstacle == nil {
				whole.Before = append(whole.Before, i.before)
			}
		}
		if len(whole.Before) == 0 {
			break
		}
		s, err := g.Read(ctx, whole)
		var useless *gdbrun.UselessError
		var late *gdbrun.TimeoutError
		var held *tracee.HeldError
		if errors.As(err, &held) && ctx.Err() == nil {
			at := slices.IndexFunc(asked, func(i Inquiry) bool { return i.obstacle == nil && i.pid == held.PID })
			if at >= 0 { // gdb has met it on its way there; the others are read without it
				asked[at].obstacle = held
				continue
			}
		}
		switch {
		// Where gdb makes no progress, each rank would only be stopped as long once more.
		case ctx.Err() != nil || errors.As(err, &useless), errors.As(err, &late):
			return nil, err
		case err != nil: // what stands against it shows when each is tried alone
			return Read(ctx, g, asked, f)
		}
		for _, p := range s.Processes {
			seen[p.PID] = p
		}
		break
	}
	out := make([]*mqs.Process, len(asked))
	for k, i := range asked {
		p := seen[i.pid]
		switch {
		case i.obstacle != nil:
			p = i.failed(i.obstacle)
		case p == nil: // it may be another debugger's that has let go since, and if not, why is seen
			alone, err := readEach(ctx, g, asked[k:k+1], f)
			if err != nil {
				return nil, err
			}
			p = alone[0]
		}
		i.complete(p, k)
		out[k] = p
	}
	return read.Join(out), nil
}

// ReadCores reads core files as the ranks of one job, with what the MPI library did by itself and, if
// they are asked for, its threads' stacks. The remarks
// say which can't be read. It fails with why none can, and as [Read] does.
func ReadCores(ctx context.Context, g GDB, program string, cores []string, stacks bool) (s *mqs.Snapshot, remarks []string, err error) {
	if s, err = Read(ctx, g, Cores(program, cores), read.Filter{Internal: true, Stacks: stacks}); err != nil {
		return nil, nil, err
	}
	isRead := false
	for k, p := range s.Processes {
		if p.Unavailable == "" || p.Threads != nil {
			isRead = true
		} else {
			remarks = append(remarks, fmt.Sprintf("%s can't be read: %s", cores[k], p.Unavailable))
		}
	}
	if !isRead {
		return nil, nil, errors.New(strings.Join(remarks, "\nmpi-queues: "))
	}
	s, err = read.Merge(s)
	return s, remarks, err
}

// ErrEnded means that there is nothing left to look at.
var ErrEnded = errors.New("the job has ended: none of its ranks is there any more")

// ReadRanks reads all of a job that is on this machine, by rank, with what the MPI library does by
// itself: what ranks wait for may be that. The threads' stacks are there if they are asked for. The remarks say what is not in it. It fails with
// [ErrEnded], with why no rank can be read, and as [ReadJob] does.
func ReadRanks(ctx context.Context, g GDB, pid int, job *launch.Job, stacks bool) (s *mqs.Snapshot, remarks []string, err error) {
	if s, err = ReadJob(ctx, g, pid, job, read.Filter{Internal: true, Stacks: stacks}); err != nil {
		return nil, nil, err
	}
	remarks = append(Missing(job, true), mergeAdvice(job)...)
	var reasons []string
	for _, p := range s.Processes {
		if p.Unavailable != "" && p.Threads == nil && !slices.Contains(reasons, p.Unavailable) {
			reasons = append(reasons, p.Unavailable)
		}
	}
	if !slices.ContainsFunc(s.Processes, func(p *mqs.Process) bool { return p.Phase != mqs.Exited }) {
		return nil, nil, ErrEnded
	}
	isKnown := func(p *mqs.Process) bool {
		return p.Unavailable == "" || p.Threads != nil || p.KernelThreads != nil && p.Hold != mqs.BeingTraced
	}
	if !slices.ContainsFunc(s.Processes, isKnown) {
		return nil, nil, errors.New(strings.Join(append(reasons, remarks...), "\nmpi-queues: "))
	}
	s, err = read.Merge(s)
	return s, remarks, err
}
