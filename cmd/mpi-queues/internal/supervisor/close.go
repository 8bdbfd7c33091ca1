//go:build linux

package supervisor

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// grace is how long a launcher that is told to end may take to end its ranks.
const grace = 3 * time.Second

// Close leaves the job alone if the debugger has let go of its ranks, and ends it else.
func (s *Supervisor) Close() {
	if s.listener != nil {
		// Last, so that no rank starts by itself of a job that is being ended.
		defer s.listener.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	isLeft := s.isComplete && s.hasLetGo && len(s.held) == 0
	if s.launcher != nil && s.launcher.tracer != nil {
		s.launcher.tracer.Close()
	}
	// First, so that it does not take the ends of ranks for a failure of theirs.
	isEnding := s.launcher != nil && !isLeft && s.signal(unix.SIGTERM)
	// A rank that is stopped, or that has not begun, hears nothing of the launcher.
	for _, rank := range s.held {
		rank.Signal(unix.SIGKILL)
		rank.Close()
	}
	clear(s.held)
	if isEnding {
		s.awaitEnd()
	}
	if s.folder != nil {
		s.folder.Remove()
	}
}

// awaitEnd waits for the end of the launcher, which ends what it has started.
func (s *Supervisor) awaitEnd() {
	if stat, err := procfs.Host.Stat(s.launcher.pid); err == nil && stat.State == 'T' {
		s.signal(unix.SIGCONT)
	}
	select {
	case <-s.launcher.ended:
	case <-time.After(grace):
		s.signal(unix.SIGKILL)
	}
}

// signal sends a signal to the launcher, unless that has ended.
func (s *Supervisor) signal(number unix.Signal) bool {
	select {
	case <-s.launcher.ended:
		return false
	default: // it is not reaped before it is said to have ended
		_ = unix.Kill(-s.launcher.pid, number)
		return true
	}
}
