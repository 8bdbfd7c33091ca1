// Package hold stops processes at the first instruction of a program that they execute, and leaves
// them there, untraced, for a debugger to attach to.
package hold

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// Executed has a process execute a program, which goOn tells it to, and stops it before the program's
// first instruction. It is the kernel's stop that SIGSTOP brings (T). The process must execute from
// its main thread, and may be of any parent. Errors are clauses.
func Executed(pid int, goOn func() error) error {
	return onThread(func() error {
		if err := seize(pid); err != nil {
			return fmt.Errorf("it can't be traced (%w)", err)
		}
		if err := goOn(); err != nil {
			detach(pid)
			return err
		}
		return untilExec(pid, 1)
	})
}

// Start starts a process that asks to be traced (PTRACE_TRACEME), by start, which returns its id, and
// stops it in the same way when it executes a program for the last of so many times: the first one is
// that of start itself.
func Start(times int, start func() (int, error)) (int, error) {
	pid := 0
	err := onThread(func() (err error) {
		if pid, err = start(); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				detach(pid) // so that it runs
			}
		}()
		// The first stop is that of its program, and a signal's: the trace has no options yet.
		var status unix.WaitStatus
		if _, err := wait(pid, &status); err != nil {
			return err
		}
		if !status.Stopped() {
			return ended(status)
		}
		if times == 1 {
			return leave(pid)
		}
		if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACEEXEC); err != nil {
			return err
		}
		if err := unix.PtraceCont(pid, 0); err != nil {
			return err
		}
		return untilExec(pid, times-1)
	})
	return pid, err
}

// onThread runs what traces on one thread: a tracer is a thread.
func onThread(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- do()
	}()
	return <-done
}

func seize(pid int) error {
	// PTRACE_SEIZE takes its options where other requests have their data, and so has no function.
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, unix.PTRACE_O_TRACEEXEC, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// untilExec lets a traced process run until it has executed a program so many times.
func untilExec(pid, times int) error {
	for {
		var status unix.WaitStatus
		if _, err := wait(pid, &status); err != nil {
			return err
		}
		signal := unix.Signal(0)
		switch {
		case !status.Stopped():
			return ended(status)
		case status.TrapCause() == unix.PTRACE_EVENT_EXEC:
			if times--; times == 0 {
				return leave(pid)
			}
		case status.TrapCause() <= 0: // a signal that it is to have
			signal = status.StopSignal()
		}
		if err := unix.PtraceCont(pid, int(signal)); err != nil {
			return err
		}
	}
}

// leave lets go of a traced process that is to stay stopped.
func leave(pid int) error {
	// The signal that a detaching tracer names counts only where a signal has stopped the process, so
	// it is sent before, and stops the process as it goes on.
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		return err
	}
	if err := unix.PtraceDetach(pid); err != nil {
		return err
	}
	// Who asks whether it is stopped may do so at once.
	for deadline := time.Now().Add(stopPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if stat, err := procfs.Host.Stat(pid); err != nil || stat.State == 'T' {
			break
		}
	}
	return nil
}

// stopPatience is how long a process may take to stop, whose processor may have others to run.
const stopPatience = 10 * time.Second

// detach lets go of a process that was seized and runs: only one that stands can be let go of.
func detach(pid int) {
	if unix.PtraceInterrupt(pid) != nil {
		return // it has ended
	}
	var status unix.WaitStatus
	if _, err := wait(pid, &status); err == nil && status.Stopped() {
		_ = unix.PtraceDetach(pid)
	}
}

func wait(pid int, status *unix.WaitStatus) (int, error) {
	for {
		got, err := unix.Wait4(pid, status, unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			return got, err
		}
	}
}

func ended(status unix.WaitStatus) error {
	if status.Signaled() {
		return fmt.Errorf("it was killed by %s", unix.SignalName(status.Signal()))
	}
	return fmt.Errorf("it ended with exit status %d", status.ExitStatus())
}
