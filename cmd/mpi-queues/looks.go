package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// lookedAt remembers how processes were when they were last looked at, and how long they had
// run by then.
type lookedAt struct {
	mutex sync.Mutex
	seen  map[int]look // by process id
	// first is when the first look was, looks how many there were.
	first time.Time
	looks int
}

type look struct {
	process *mqs.Process
	clock   clock
}

// clock says how long a process has run, and when it was started: another one may have
// the same number.
type clock struct {
	ticks, start uint64
	// runnable is true of one that runs, or would if it had a processor.
	runnable bool
}

// leastTicks is how long a process has to have run for a second look to say anything: it
// looks for messages all the time that it waits for one. One that sleeps meanwhile, or is
// stopped, does not run, and proves nothing.
const leastTicks = 2

// clocks reads the clocks of those that were looked at before. It has to be done before they
// are stopped again: what they run after that says nothing of what is seen.
func (l *lookedAt) clocks() map[int]clock {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	out := map[int]clock{}
	for pid := range l.seen {
		if c, err := clockOf(pid); err == nil {
			out[pid] = c
		}
	}
	return out
}

// past is what was seen of processes before, by the clocks that they had then. The processes
// of a snapshot are remembered for the next time.
func (l *lookedAt) past(s *mqs.Snapshot, stopped map[int]clock) waitfor.Past {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	out := waitfor.Past{Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	now := map[int]look{}
	for _, p := range s.Processes {
		c, err := clockOf(p.PID)
		before, known := l.seen[p.PID]
		if err != nil && p.Phase != mqs.Exited {
			continue // on another machine, or gone since it was read
		}
		if known && before.clock.start == c.start {
			out.Earlier[p.PID] = before.process
			out.Ran[p.PID] = stopped[p.PID].ticks >= before.clock.ticks+leastTicks
			if !out.Ran[p.PID] && !waitfor.HasMoved(p, before.process) {
				now[p.PID] = before // as long as it stands still, the next look is not a second one
				continue
			}
		}
		now[p.PID] = look{p, c}
	}
	if out.Looks = l.looks; l.looks == 0 {
		l.first = time.Now()
	}
	l.looks++
	l.seen = now
	return out
}

// isSecond says whether a look at processes is a second one at all of them that had
// something to run when they were stopped: on a busy machine they may not have run yet.
func isSecond(past waitfor.Past, stopped map[int]clock) bool {
	for pid := range past.Earlier {
		if stopped[pid].runnable && !past.Ran[pid] {
			return false
		}
	}
	return true
}

// settled says whether all processes that have something to run have run for long enough
// since they were looked at.
func (l *lookedAt) settled() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for pid, look := range l.seen {
		if c, err := clockOf(pid); err == nil && c.runnable && c.ticks < look.clock.ticks+leastTicks {
			return false
		}
	}
	return true
}

// watched is how long ago the first look was.
func (l *lookedAt) watched() time.Duration { return time.Since(l.first) }

// wait waits until something is so, as long as the context lasts.
func wait(ctx context.Context, until func() bool) {
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

// clockOf reads the state of a process, the processor time that it has used and its start,
// in the kernel's ticks (/proc/PID/stat, fields 3, 14, 15 and 22; proc(5)).
func clockOf(pid int) (clock, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return clock{}, err
	}
	// The program's name, in brackets, may hold anything; the third field follows it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, user, system, start = 0, 14 - 3, 15 - 3, 22 - 3
	if len(fields) <= start {
		return clock{}, fmt.Errorf("/proc/%d/stat is cut short", pid)
	}
	var values [start + 1]uint64
	for _, i := range []int{user, system, start} {
		if values[i], err = strconv.ParseUint(string(fields[i]), 10, 64); err != nil {
			return clock{}, err
		}
	}
	return clock{values[user] + values[system], values[start], string(fields[state]) == "R"}, nil
}
