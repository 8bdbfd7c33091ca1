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
)

// lookedAt remembers how processes were when they were last looked at, and how long they had
// run by then.
type lookedAt struct {
	mutex sync.Mutex
	seen  map[int]look // by process id
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
// looks for messages all the time that it waits for one.
const leastTicks = 2

// since returns what was seen before of the processes that have run since then, and
// remembers these for the next time.
func (l *lookedAt) since(s *mqs.Snapshot) *mqs.Snapshot {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	out := &mqs.Snapshot{}
	now := map[int]look{}
	for _, p := range s.Processes {
		c, err := clockOf(p.PID)
		if err != nil {
			continue // on another machine, or gone
		}
		before, ok := l.seen[p.PID]
		switch {
		case !ok || before.clock.start != c.start:
		case c.ticks >= before.clock.ticks+leastTicks:
			out.Processes = append(out.Processes, before.process)
		case before.process.Progress == p.Progress:
			now[p.PID] = before // as long as it stands still, the next look is not a second one
			continue
		}
		now[p.PID] = look{p, c}
	}
	l.seen = now
	return out
}

// mostWaiting is how long processes that have no processor are waited for.
const mostWaiting = 2 * time.Second

// wait waits until the processes have run for long enough since they were looked at, but
// for those that sleep or are stopped.
func (l *lookedAt) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, mostWaiting)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for pid, look := range l.seen {
		for {
			c, err := clockOf(pid)
			if err != nil || !c.runnable || c.ticks >= look.clock.ticks+leastTicks {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
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
