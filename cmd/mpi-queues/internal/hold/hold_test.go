//go:build linux

package hold

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// child is a shell that executes a command when it has read a line.
func child(t *testing.T, command string) (pid int, goOn func() error) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read line && exec "+command)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, func() error {
		_, err := in.Write([]byte("\n"))
		return err
	}
}

// isHeld fails the test unless a process is stopped, by itself, in a program of which nothing was executed.
func isHeld(t *testing.T, pid int, program string) {
	t.Helper()
	state := byte(0)
	for state != 'T' && state != 'Z' {
		stat, err := procfs.Host.Stat(pid)
		if err != nil {
			t.Fatal(err)
		}
		state = stat.State
	}
	status, err := procfs.Host.Status(pid)
	if err != nil || state != 'T' || status.Tracer != 0 {
		t.Errorf("state %c, traced by %d, %v", state, status.Tracer, err)
	}
	path, err := procfs.Host.Program(pid)
	if err != nil || !strings.HasSuffix(path, program) {
		t.Errorf("it executes %s, %v", path, err)
	}
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil || strings.Contains(m.Path, "/libc.") { // the loader has mapped nothing yet
			t.Errorf("%s is there, %v", m.Path, err)
		}
	}
}

func TestExecuted(t *testing.T) {
	pid, goOn := child(t, "sleep 1000")
	if err := Executed(pid, goOn); err != nil {
		t.Fatal(err)
	}
	isHeld(t, pid, "/sleep")
}

// A process that executes nothing says how it has ended, and one that is not told to go runs on.
func TestNotExecuted(t *testing.T) {
	pid, goOn := child(t, "/nonesuch 2>&-")
	if err := Executed(pid, goOn); err == nil || err.Error() != "it ended with exit status 127" {
		t.Error(err)
	}
	pid, _ = child(t, "sleep 1000")
	lost := errors.New("it does not hear")
	if err := Executed(pid, func() error { return lost }); !errors.Is(err, lost) {
		t.Error(err)
	}
	if status, err := procfs.Host.Status(pid); err != nil || status.Tracer != 0 {
		t.Errorf("it is traced by %d, %v", status.Tracer, err)
	}
	if err := Executed(os.Getpid(), nil); err == nil || !strings.Contains(err.Error(), "it can't be traced") {
		t.Error(err)
	}
}

// A signal that comes meanwhile is the process's.
func TestSignalBefore(t *testing.T) {
	pid, goOn := child(t, "sleep 1000")
	err := Executed(pid, func() error {
		if err := unix.Kill(pid, syscall.SIGURG); err != nil { // which is ignored
			return err
		}
		return goOn()
	})
	if err != nil {
		t.Fatal(err)
	}
	isHeld(t, pid, "/sleep")
}
