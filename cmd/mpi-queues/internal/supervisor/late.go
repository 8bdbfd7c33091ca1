//go:build linux

package supervisor

import (
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// latePatience is how long the debugger may take to ask for a process that came late.
const latePatience = 30 * time.Second

// wakeSignal is sent to a rank to make gdb report a stop; the extension, where it is called WAKE, then asks for the processes
// that came late. Its default action must be to ignore it, because it may arrive after gdb has detached from the rank. It can't
// be SIGTRAP, which gdb takes for the end of a step: a rank that is stepping over a breakpoint would then continue after gdb's
// copy of the instruction, which lies at the program's entry point, and run main again.
const wakeSignal = unix.SIGWINCH

// wakePause is how long the debugger may take to ask before it is woken again: it misses the signal while it attaches.
const wakePause = time.Second

// announce wakes the debugger repeatedly until it has asked for the processes that came late, once all ranks that pid's job has
// on this machine have started. pid came late.
func (s *Supervisor) announce(pid int) {
	time.AfterFunc(latePatience, func() { s.giveUp(pid) })
	job, err := launch.Find(pid)
	if err != nil || !job.Size.Known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there, size := 0, job.Size.Value
	if job.Here.Known {
		size = min(size, job.Here.Value)
	}
	for _, r := range job.Ranks {
		if s.told[r.PID] || slices.Contains(s.late, r.PID) {
			there++
		}
	}
	if there < int(size) || s.isAnnounced {
		return
	}
	s.isAnnounced = true
	go func() {
		for s.wakeDebugger() {
			time.Sleep(wakePause)
		}
	}()
}

// wakeDebugger sends wakeSignal to a rank that is being debugged, and returns true, as long as the debugger has not yet asked for
// the processes that came late. It returns false once the debugger has asked.
func (s *Supervisor) wakeDebugger() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isAnnounced = s.isAnnounced && len(s.late) > 0
	if !s.isAnnounced {
		return false
	}
	for _, pid := range slices.Sorted(maps.Keys(s.told)) {
		if p := s.held[pid]; p != nil {
			if status, err := procfs.Host.Status(pid); err == nil && status.Tracer == s.debugger {
				p.Signal(wakeSignal)
				break
			}
		}
	}
	return true
}

// giveUp lets a process run that came late, if the debugger has not asked for it.
func (s *Supervisor) giveUp(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.late, pid)
	if i < 0 {
		return
	}
	s.late = slices.Delete(s.late, i, i+1)
	if p := s.held[pid]; p != nil {
		p.Signal(unix.SIGCONT)
		p.Close()
		delete(s.held, pid)
	}
}

// Late returns the jobs of the processes that came late, which are held.
func (s *Supervisor) Late(context.Context, *bridge.Debugger, bridge.LateParams) (*bridge.LateResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isAnnounced = false
	out := &bridge.LateResult{Jobs: []bridge.RanksResult{}}
	for len(s.late) > 0 {
		first := s.late[0]
		result := bridge.RanksResult{Ranks: []bridge.Rank{{PID: first}}}
		if job, err := launch.Find(first); err == nil {
			result = s.ranksOf(job)
			// The first job is debugged already.
			result.Others = nil
		}
		s.told[first] = true
		s.tell(result.Ranks)
		s.late = slices.DeleteFunc(s.late, func(pid int) bool { return s.told[pid] })
		out.Jobs = append(out.Jobs, result)
	}
	return out, nil
}
