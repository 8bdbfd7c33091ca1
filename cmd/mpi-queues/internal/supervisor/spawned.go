package supervisor

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// spawnPatience is how long the debugger may take to ask for processes that were spawned.
const spawnPatience = 30 * time.Second

// announce has the debugger ask for processes that the job has spawned, when all of one job of theirs
// have come: it gives one of the ranks a signal that stops every debugger, and that no program gets.
// [Supervisor.mu] is held.
func (s *Supervisor) announce() {
	for _, pid := range s.spawned {
		size := sizeOf(pid)
		if size == 0 || s.count(pid) < size {
			continue
		}
		for debugged := range s.told {
			if s.held[debugged] != nil {
				_ = unix.Kill(debugged, unix.SIGTRAP)
				time.AfterFunc(spawnPatience, s.giveUp)
				return
			}
		}
	}
}

// count is how many of the processes that have come were spawned with one.
func (s *Supervisor) count(pid int) int {
	job, err := launch.Find(pid)
	if err != nil {
		return 0
	}
	n := 0
	for _, r := range job.Ranks {
		if slices.Contains(s.spawned, r.PID) {
			n++
		}
	}
	return n
}

// giveUp lets processes run that were spawned and that the debugger has not asked for.
func (s *Supervisor) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range s.spawned {
		if p := s.held[pid]; p != nil {
			_ = unix.Kill(pid, unix.SIGCONT)
			p.close()
			delete(s.held, pid)
		}
	}
	s.spawned = nil
}

// Spawned returns the jobs that the job has spawned, whose ranks are held.
func (s *Supervisor) Spawned(context.Context, *bridge.Debugger, bridge.SpawnedParams) (*bridge.SpawnedResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &bridge.SpawnedResult{Jobs: []bridge.RanksResult{}}
	for len(s.spawned) > 0 {
		first := s.spawned[0]
		job, err := launch.Find(first)
		result := bridge.RanksResult{Ranks: []bridge.Rank{{PID: first}}}
		if err == nil {
			result = *helper.RanksOf(job)
			result.Self = 0
			// The first job is debugged already.
			result.Others = nil
		}
		for _, r := range result.Ranks {
			s.told[r.PID] = true
		}
		s.told[first] = true
		s.spawned = slices.DeleteFunc(s.spawned, func(pid int) bool { return s.told[pid] })
		out.Jobs = append(out.Jobs, result)
	}
	return out, nil
}
