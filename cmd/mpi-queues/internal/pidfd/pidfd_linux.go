// Package pidfd signals processes, and waits for their ends: none that has got the number of one that has
// ended.
package pidfd

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Process is one process, whatever becomes of its number.
type Process struct{ pid, fd int }

// Open returns the process that has a number now. [Process.Close] gives it back.
func Open(pid int) *Process {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1 // Linux before 5.3, or a filter of a container's
	}
	return &Process{pid, fd}
}

// Signal sends a signal to the process if it is still there.
func (p *Process) Signal(signal unix.Signal) {
	if p.fd < 0 || errors.Is(unix.PidfdSendSignal(p.fd, signal, nil, 0), unix.ENOSYS) {
		_ = unix.Kill(p.pid, signal)
	}
}

// AwaitEnd waits until the process has ended, and takes nothing of what wait(2) would say of it: to who
// traces a child of its own that also tells of the child's stops. It may return at once where the kernel
// has no handles of processes.
func (p *Process) AwaitEnd() {
	if p.fd < 0 {
		return
	}
	for {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
			return
		}
	}
}

// Close gives up the process.
func (p *Process) Close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
	}
}
