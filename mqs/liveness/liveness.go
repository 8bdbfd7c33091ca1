// Package liveness reports whether processes make progress between two samples of a job. A rank hangs if it has run since the
// previous sample and still waits for the same.
package liveness

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// History remembers how processes were when they were last looked at, and how long they had
// run by then.
type History struct {
	mutex sync.Mutex
	// on is where the clocks of the processes are read, this machine if it is nil.
	on   machine
	seen map[int]sighting // by process id
	// first is when the first look was, looks how many there were.
	first time.Time
	looks int
	// open are the earlier looks at which ranks may have hung, with those of them that are not known to have left their
	// calls since; an empty one is settled.
	open []map[int]sighting
}

// Keep remembers which processes may have hung at the last look, as its report says.
func (h *History) Keep(r *waitfor.Report) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if r.Open == nil {
		return
	}
	open := map[int]sighting{}
	for pid, p := range r.Open {
		of, isKnown := h.seen[pid]
		if !isKnown { // it is on another machine, or gone
			return
		}
		open[pid] = sighting{process: waitfor.Trace(p), clock: of.clock}
	}
	h.open = append(h.open, open)
}

// settle drops a process from the looks at which it may have hung, if it is seen to have left its call since.
func (h *History) settle(p *mqs.Process, c clock) {
	for _, look := range h.open {
		if then, isOpen := look[p.PID]; isOpen && then.clock.start == c.start && waitfor.HasLeft(p, then.process) {
			delete(look, p.PID)
		}
	}
}

type sighting struct {
	process *mqs.Process
	clock   clock
	polls   []waitfor.Poll
	outside map[int]int // see [waitfor.Outside]
}

// clock says how long a process has run and when it was started, in the kernel's ticks: another one
// may have the same number.
type clock struct {
	ticks, start uint64
	// runnable is true of one that runs, or would if it had a processor.
	runnable bool
}

// Clocks are those of processes at one moment, by process id.
type Clocks map[int]clock

// leastTicks is how long a process has to have run for a second look to say anything: it
// looks for messages all the time that it waits for one. One that sleeps meanwhile, or is
// stopped, does not run, and proves nothing.
const leastTicks = 2

// Clocks reads the clocks of the processes that were looked at before. It has to be done before they
// are stopped again: what they run after that says nothing of what is seen.
func (h *History) Clocks() Clocks {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	out := Clocks{}
	for pid := range h.seen {
		if c, err := h.machine().clock(pid); err == nil {
			out[pid] = c
		}
	}
	return out
}

// Past is what was seen of processes before, by the clocks that they had then. The processes of a snapshot are remembered for the
// next time. If this sample shows less of a process than an earlier one did, Past completes the process in s:
// see [waitfor.KeepCalls].
func (h *History) Past(s *mqs.Snapshot, stopped Clocks) waitfor.Past {
	return h.past(s, func(pid int) clock { return stopped[pid] }, h.machine().clock)
}

// past is [History.Past] with the clocks that processes have now.
func (h *History) past(s *mqs.Snapshot, stopped func(pid int) clock, clockOf func(pid int) (clock, error)) waitfor.Past {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	known := min(len(h.seen), len(s.Processes))
	out := waitfor.Past{Earlier: make(map[int]*mqs.Process, known), Ran: make(map[int]bool, known), Polls: map[int][]waitfor.Poll{}, Outside: map[int]map[int]int{}}
	now := make(map[int]sighting, len(s.Processes))
	for i, p := range s.Processes {
		c, err := clockOf(p.PID)
		before, known := h.seen[p.PID]
		if err != nil && p.Phase != mqs.Exited {
			continue // on another machine, or gone since it was read
		}
		h.settle(p, c)
		if known && before.clock.start == c.start {
			p = waitfor.KeepCalls(p, before.process)
			s.Processes[i] = p
			out.Earlier[p.PID] = before.process
			if len(before.polls) > 0 {
				out.Polls[p.PID] = before.polls
			}
			if len(before.outside) > 0 {
				out.Outside[p.PID] = before.outside
			}
			hasRun := stopped != nil && stopped(p.PID).ticks >= before.clock.ticks+leastTicks
			if hasRun {
				out.Ran[p.PID] = true
			}
			if !hasRun && !waitfor.HasMoved(p, before.process) {
				now[p.PID] = before // as long as it stands still, the next look is not a second one
				continue
			}
		}
		now[p.PID] = sighting{p, c, waitfor.Polling(p, out.Earlier[p.PID], out.Polls[p.PID]), waitfor.Outside(p, out.Earlier[p.PID], out.Outside[p.PID])}
	}
	if out.Looks = h.looks; h.looks == 0 {
		h.first = h.machine().now()
	}
	h.looks++
	h.seen = now
	out.Settled = slices.ContainsFunc(h.open, func(look map[int]sighting) bool { return len(look) == 0 })
	return out
}

// isSecond says whether a look at processes is a second one at all of them that had
// something to run when they were stopped: on a busy machine they may not have run yet.
func isSecond(past waitfor.Past, stopped Clocks) bool {
	for pid := range past.Earlier {
		if stopped[pid].runnable && !past.Ran[pid] {
			return false
		}
	}
	return true
}

// settled says whether all processes that have something to run have run for long enough
// since they were looked at.
func (h *History) settled() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for pid, before := range h.seen {
		if c, err := h.machine().clock(pid); err == nil && c.runnable && c.ticks < before.clock.ticks+leastTicks {
			return false
		}
	}
	return true
}

// watched is how long ago the first look was.
func (h *History) watched() time.Duration { return h.machine().now().Sub(h.first) }

// machine is what a watch uses of the machine that the processes run on.
type machine interface {
	// clock reads the clock of a process.
	clock(pid int) (clock, error)
	now() time.Time
	// wait waits until something is so, as long as the context lasts.
	wait(ctx context.Context, until func() bool)
}

func (h *History) machine() machine {
	if h.on == nil {
		return thisMachine{}
	}
	return h.on
}

type thisMachine struct{}

func (thisMachine) clock(pid int) (clock, error) { return clockOf(pid) }

func (thisMachine) now() time.Time { return time.Now() }

func (thisMachine) wait(ctx context.Context, until func() bool) { Wait(ctx, until) }

// Wait waits until something is so, as long as the context lasts.
func Wait(ctx context.Context, until func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !until() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// clockOf reads the clock of a process. The process has something to run if any of its threads has: its main thread may sleep
// in a join or at a lock while another one waits in MPI.
func clockOf(pid int) (clock, error) {
	s, err := procfs.Host.Stat(pid)
	if err != nil {
		return clock{}, err
	}
	return clock{s.User + s.System, s.Started, s.State == 'R' || hasRunnableThread(pid)}, nil
}

func hasRunnableThread(pid int) bool {
	return slices.ContainsFunc(procfs.Host.Threads(pid), func(thread int) bool {
		s, err := procfs.Host.Stat(thread)
		return err == nil && s.State == 'R'
	})
}
