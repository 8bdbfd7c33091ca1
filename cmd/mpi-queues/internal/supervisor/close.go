//go:build linux

package supervisor

import (
	"time"

	"golang.org/x/sys/unix"
)

// grace is how long a launcher that is told to end may take to end its ranks.
const grace = 3 * time.Second

// Close leaves the job alone if the debugger has let go of its ranks, and ends it else.
func (s *Supervisor) Close() {
	if s.listener != nil {
		s.listener.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	isLeft := s.isComplete && s.hasLetGo && len(s.held) == 0
	// A rank that is stopped, or that has not begun, hears nothing of the launcher.
	for _, rank := range s.held {
		rank.Signal(unix.SIGKILL)
		rank.Close()
	}
	clear(s.held)
	if s.launcher != nil {
		if s.launcher.tracer != nil {
			s.launcher.tracer.Close()
		}
		if !isLeft {
			s.end()
		}
	}
	if s.folder != nil {
		s.folder.Remove()
	}
}

// end ends the launcher, which ends what it has started.
func (s *Supervisor) end() {
	if !s.signal(unix.SIGTERM) {
		return
	}
	s.signal(unix.SIGCONT)
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
