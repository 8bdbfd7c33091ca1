package cluster

import (
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
)

// Guarded starts this program with arguments to have it guard this process until it is released, or this process ends.
// The ranks that a collector has stopped would stand for ever if it hung, as when it has been stopped itself.
func Guarded(args ...string) (release func(), err error) {
	// The program may be in a file that has no name.
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.SysProcAttr = child.Detached()
	alive, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	return func() {
		_ = alive.Close()
		_ = cmd.Wait()
	}, nil
}

// Guard kills the parent of this process after a time, unless that closes this one's standard input before.
func Guard(pid int, after time.Duration) {
	parent := pidfd.Open(pid)
	defer parent.Close()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(after):
		if os.Getppid() == pid {
			parent.Signal(unix.SIGKILL)
		}
	}
}
