package tracee

import (
	"golang.org/x/sys/unix"
)

// processHandle stands for one process, whatever becomes of its number.
type processHandle struct{ pid, fd int }

func openProcess(pid int) processHandle {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1 // Linux before 5.3, or a filter of a container's
	}
	return processHandle{pid, fd}
}

// resume has a stopped process run on.
func (h processHandle) resume() {
	if h.fd < 0 || unix.PidfdSendSignal(h.fd, unix.SIGCONT, nil, 0) == unix.ENOSYS {
		_ = unix.Kill(h.pid, unix.SIGCONT)
	}
}

func (h processHandle) close() {
	if h.fd >= 0 {
		_ = unix.Close(h.fd)
	}
}
