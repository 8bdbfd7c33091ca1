//go:build linux

package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// restPatience is how long is waited for ranks of a further daemon of this machine, once all of those
// are there whose daemons are known. Only a launcher's table tells that the others are elsewhere.
const restPatience = time.Second

// size is how many ranks of the job come to this machine, by those that are held, and -1 if that is not
// known. isSure is false if there may be more.
func (s *Supervisor) size(held []int) (n int, isSure bool) {
	s.mu.Lock()
	listed := s.listed
	s.mu.Unlock()
	if listed != nil {
		return int(listed.Here.Value), true
	}
	if len(held) == 0 {
		return -1, false
	}
	job, err := launch.Find(held[0])
	switch {
	case err != nil || !job.Size.Known:
		return -1, false
	case job.Here.Known && job.Here.Value < job.Size.Value && len(held) < int(job.Size.Value):
		return int(job.Here.Value), false
	}
	return int(job.Size.Value), true
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

// linkName is the name of a link to this program.
const linkName = "mpi-queues"

// unquoted returns a path of a program that needs no quotes in a command line and in launchers'
// settings: its own, by which other hosts may have it too, or else that of a link in a folder.
func unquoted(program, folder string) (string, error) {
	const plain = "/._-+@%=:,abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if strings.Trim(program, plain) == "" {
		return program, nil
	}
	link := filepath.Join(folder, linkName)
	return link, os.Symlink(program, link)
}
