package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"

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
	ticks   uint64
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
		ticks, err := ticksOf(p.PID)
		if err != nil {
			continue // on another machine, or gone
		}
		before, ok := l.seen[p.PID]
		switch {
		case !ok:
		case ticks-before.ticks >= leastTicks:
			out.Processes = append(out.Processes, before.process)
		case before.process.Progress == p.Progress:
			now[p.PID] = before // as long as it stands still, the next look is not a second one
			continue
		}
		now[p.PID] = look{p, ticks}
	}
	l.seen = now
	return out
}

// ticksOf is the processor time that a process has used, in the kernel's ticks
// (/proc/PID/stat, fields 14 and 15; proc(5)).
func ticksOf(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The program's name, in brackets, may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc/%d/stat is cut short", pid)
	}
	u, err := strconv.ParseUint(string(fields[user]), 10, 64)
	if err != nil {
		return 0, err
	}
	k, err := strconv.ParseUint(string(fields[system]), 10, 64)
	return u + k, err
}
