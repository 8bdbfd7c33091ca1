//go:build linux

package supervisor

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// latePatience is how long the debugger may take to ask for a process that came late.
const latePatience = 30 * time.Second

// announce has the debugger ask for the processes that came late, when all ranks of the job of one of
// them are there: it gives a rank a signal that stops every debugger, and that no program gets.
func (s *Supervisor) announce(pid int) {
	time.AfterFunc(latePatience, func() { s.giveUp(pid) })
	job, err := launch.Find(pid)
	if err != nil || !job.Size.Known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there := 0
	for _, r := range job.Ranks {
		if r.Host != "" || s.told[r.PID] || slices.Contains(s.late, r.PID) {
			there++
		}
	}
	if there < int(job.Size.Value) || s.isAnnounced {
		return
	}
	for debugged := range s.told {
		if s.held[debugged] != nil {
			s.held[debugged].Signal(unix.SIGTRAP)
			s.isAnnounced = true
			return
		}
	}
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
