package supervisor

import (
	"time"

	"golang.org/x/sys/unix"
)

// grace is how long a launcher that is told to end may take to end its ranks.
const grace = 3 * time.Second

// Close leaves the job alone if the debugger has let go of all its ranks, and ends it else.
func (s *Supervisor) Close() {
	if s.listener != nil {
		s.listener.Close()
	}
	if s.launcher != nil && s.launcher.tracer != nil {
		s.launcher.tracer.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.launcher != nil && (!s.isComplete || len(s.held) > 0) {
		s.kill()
	}
	if s.folder != nil {
		s.folder.Remove()
	}
}

// kill ends the launcher, which ends what it has started, and the ranks. A rank that is stopped, or
// that has not begun, hears nothing of the launcher, so it is killed first.
func (s *Supervisor) kill() {
	for _, rank := range s.held {
		rank.kill()
		rank.close()
	}
	clear(s.held)
	if s.signal(unix.SIGTERM) {
		select {
		case <-s.launcher.ended:
		case <-time.After(grace):
			s.signal(unix.SIGKILL)
		}
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
