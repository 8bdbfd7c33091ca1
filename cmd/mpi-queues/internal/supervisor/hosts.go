//go:build linux

package supervisor

import (
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// restPatience is how long is waited for ranks of a further daemon of this machine, once all of those
// are there whose daemons are known. Only a launcher's table tells that the others are elsewhere.
const restPatience = time.Second

// sizeOf is that of the job of a rank, 0 if the rank does not know.
func sizeOf(pid int) int {
	job, err := launch.Find(pid)
	if err != nil || !job.Size.Known {
		return 0
	}
	return int(job.Size.Value)
}

// areAllHere says whether those ranks of a job are held that come to this machine. size is how many it
// has in all, 0 if that is not known. isSettled is true if none has come for some time.
func (s *Supervisor) areAllHere(held []int, size int, isSettled bool) bool {
	s.mu.Lock()
	listed := s.listed
	s.mu.Unlock()
	switch {
	case slices.Contains(held, s.launcher.pid): // it starts no ranks, and is the only one
		return true
	case listed != nil:
		return len(held) >= int(listed.Here.Value)
	case size > 0 && len(held) >= size:
		return true
	case !isSettled || len(held) == 0:
		return false
	}
	job, err := launch.Find(held[0])
	return err == nil && job.Here.Known && len(held) >= int(job.Here.Value)
}

// job is the job of the ranks that are held.
func (s *Supervisor) job(held []int) bridge.RanksResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed != nil && s.lists(held) {
		// Its ranks may have executed their programs since.
		if job, err := launch.Find(s.launcher.pid); err == nil {
			return s.ranksOf(job)
		}
	}
	if len(held) > 0 {
		if job, err := launch.Find(held[0]); err == nil {
			out := s.ranksOf(job)
			if !isBelow(out.Launcher, s.launcher.pid) {
				// A daemon has started the ranks, for which the launcher has asked it.
				out.Launcher, out.Name, out.Others = s.launcher.pid, s.launcher.name(), nil
			}
			return out
		}
	}
	out := bridge.RanksResult{Launcher: s.launcher.pid, Name: s.launcher.name()}
	for _, pid := range held {
		out.Ranks = append(out.Ranks, bridge.Rank{PID: pid})
	}
	return out
}

// lists says whether all ranks that are held are in the launcher's table. [Supervisor.mu] is held.
func (s *Supervisor) lists(held []int) bool {
	listed := here(s.listed)
	return !slices.ContainsFunc(held, func(pid int) bool { return !slices.Contains(listed, pid) })
}
