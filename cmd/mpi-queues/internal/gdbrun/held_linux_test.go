package gdbrun

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
)

// acting starts this program in a scene, as a process to attach to.
func acting(t *testing.T, scene string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asGDB+"="+scene)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// TestHeldMeanwhile checks that a gdb which waits for a process that can't stop is ended, long before its time is over,
// that the process is named, and that no SIGSTOP stays pending for it.
func TestHeldMeanwhile(t *testing.T) {
	pid := acting(t, "sleeps")
	// When it starts, it may sleep for a page of a file, and has no child yet.
	liveness.Wait(t.Context(), func() bool {
		stat, err := procfs.Host.Stat(pid)
		return err == nil && stat.State == 'D' && len(procfs.Host.Children(pid)) > 0
	})
	before, err := tracee.Read(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(stopped, strconv.Itoa(pid))
	_, err = fake(t, "attaches", time.Hour).Read(t.Context(), Task{Job: pid, Before: []tracee.State{before}})
	held := errorOf[*tracee.HeldError](err)
	if held == nil || (*held).PID != pid || (*held).Hold != mqs.Unwakeable || len((*held).Threads) == 0 || (*held).Threads[0].WaitChannel == "" {
		t.Fatalf("%v", err)
	}
	for _, id := range procfs.Host.Threads(pid) {
		status, err := procfs.Host.Status(id)
		if err != nil || status.Tracer != 0 || status.Pending>>(unix.SIGSTOP-1)&1 != 0 {
			t.Errorf("thread %d: %+v, %v", id, status, err)
		}
	}
}

// TestUnanswering checks that a process that has not stopped when gdb's time is over is named, and that one that has
// stopped is not.
func TestUnanswering(t *testing.T) {
	for scene, want := range map[string]bool{"traces": true, "attaches": false} {
		pid := acting(t, "is silent")
		before, err := tracee.Read(pid)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(stopped, strconv.Itoa(pid))
		var held *tracee.HeldError
		// On a busy machine the gdb may not have come to the process when its time is over.
		for timeout := time.Second; timeout < 5*time.Minute && held == nil; timeout *= 2 {
			_, err = fake(t, scene, timeout).Read(t.Context(), Task{Job: pid, Before: []tracee.State{before}})
			if held = errorOf[*tracee.HeldError](err); !want {
				break
			}
		}
		if (held != nil) != want || want && ((*held).PID != pid || (*held).Hold != mqs.Unanswering) || !want && errorOf[*TimeoutError](err) == nil {
			t.Errorf("%s: %v", scene, err)
		}
	}
}
