//go:build live

package acquisition

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/hold"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// traced is a launcher of tests/programs/mpir that a gdb traces.
type traced struct {
	*Tracer
	cmd    *exec.Cmd
	folder string
}

// compile makes a launcher.
func compile(t *testing.T, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "launcher")
	args := append([]string{"-o", out, "../../../../tests/programs/mpir/launcher.c"}, flags...)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, text)
	}
	return out
}

// start starts a command line whose $0 is a folder for what the launcher records.
func start(t *testing.T, script string) *traced {
	t.Helper()
	return startHeld(t, 1, script)
}

// startHeld does the same, and the launcher is held when it executes a program for the last of so many times.
func startHeld(t *testing.T, times int, script string) *traced {
	t.Helper()
	l := &traced{folder: t.TempDir()}
	l.cmd = exec.Command("/bin/sh", "-c", script, l.folder)
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	pid, err := hold.Start(times, func() (int, error) {
		err := l.cmd.Start()
		return l.cmd.Process.Pid, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.cmd.Process.Kill() })
	if l.Tracer, err = Trace(cmp.Or(os.Getenv("MPI_QUEUES_TEST_GDB"), "gdb"), t.TempDir(), pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// says waits for a stop of the launcher.
func (l *traced) says(t *testing.T, want launch.State) *launch.Starter {
	t.Helper()
	if _, ok := <-l.Stops(); !ok {
		t.Fatalf("it does not stop, and has recorded\n%s", l.record(t))
	}
	s, err := launch.ReadStarter(l.pid)
	if err != nil || s.State != want {
		t.Fatalf("%+v, %v: not %d", s, err, want)
	}
	return s
}

// record is what the launcher has recorded.
func (l *traced) record(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.folder, "launcher"))
	if err != nil && !errors.Is(err, os.ErrNotExist) { // not yet
		t.Fatal(err)
	}
	return string(text)
}

// has waits for a line of what the launcher records.
func (l *traced) has(t *testing.T, line string) {
	t.Helper()
	until(t, line, func() bool { return strings.Contains("\n"+l.record(t), "\n"+line) })
}

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// goOn lets a launcher end that lingers.
func (l *traced) goOn(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(l.folder, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the launcher's end.
func (l *traced) ends(t *testing.T) {
	t.Helper()
	if err := l.cmd.Wait(); err != nil {
		t.Fatalf("the launcher has ended with %v, and has recorded\n%s", err, l.record(t))
	}
}

func (l *traced) state(t *testing.T) byte {
	t.Helper()
	stat, err := procfs.Host.Stat(l.pid)
	if err != nil {
		t.Fatal(err)
	}
	return stat.State
}

// A launcher is known of before its main, also through shells, and says what becomes of its job.
func TestTrace(t *testing.T) {
	t.Parallel()
	program := compile(t)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+program+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		times   int
		command string
	}{"program": {1, program}, "script": {1, script}, "held in the shell": {2, "/bin/sh -c 'exec \"$0\" \"$@\"' " + program}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := startHeld(t, c.times, `exec `+c.command+` "$0" null abort=why -- true`)
			if s := l.says(t, launch.StateNull); !s.IsSeparate || s.PartialAttach || s.PreMain || s.ToMain {
				t.Errorf("%+v", s)
			}
			if got := l.record(t); !strings.HasPrefix(got, "main: being_debugged=1 traced=1\n") || strings.Contains(got, "null") {
				t.Error(got)
			}
			l.Continue()
			l.says(t, launch.StateSpawned)
			if job, err := launch.Find(l.pid); err != nil || len(job.Ranks) != 2 || job.IsAborting {
				t.Errorf("%+v, %v", job, err)
			}
			l.Continue()
			if s := l.says(t, launch.StateAborting); s.AbortReason != "why" {
				t.Errorf("%+v", s)
			}
			if job, err := launch.Find(l.pid); err != nil || !job.IsAborting || job.AbortReason != "why" {
				t.Errorf("%+v, %v", job, err)
			}
			l.Continue()
			if _, more := <-l.Stops(); more {
				t.Error("it stops once more")
			}
			l.ends(t)
		})
	}
}

// Each member is told by its presence.
func TestMembers(t *testing.T) {
	t.Parallel()
	l := start(t, `exec `+compile(t, "-DNO_I_AM_STARTER", "-DNO_ABORT_STRING", "-DWITH_PARTIAL_ATTACH", "-DWITH_ACQUIRED_PRE_MAIN", "-DWITH_FORCE_TO_MAIN")+` "$0" abort= -- true`)
	want := launch.Starter{State: launch.StateSpawned, PartialAttach: true, PreMain: true, ToMain: true}
	if s := l.says(t, launch.StateSpawned); *s != want {
		t.Errorf("%+v", s)
	}
	l.Continue()
	want.State = launch.StateAborting
	if s := l.says(t, launch.StateAborting); *s != want {
		t.Errorf("%+v", s)
	}
	l.Continue()
	l.ends(t)
}

// What is in a library that the launcher loads is seen when it is loaded.
func TestLateLibrary(t *testing.T) {
	t.Parallel()
	library := filepath.Join(t.TempDir(), "liblate.so")
	cmd := exec.Command("gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-")
	cmd.Stdin = strings.NewReader("volatile int MPIR_being_debugged;")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	l := start(t, `exec `+compile(t, "-DLATE")+` "$0" late=`+library+` -- true`)
	l.says(t, launch.StateSpawned)
	l.has(t, "main: being_debugged=1 ")
	l.Continue()
	l.ends(t)
}

// A launcher without the interface runs, and is let go of.
func TestNoInterface(t *testing.T) {
	t.Parallel()
	l := start(t, `exec `+compile(t, "-DNO_INTERFACE", "-DNO_BEING_DEBUGGED")+` "$0" linger -- true`)
	l.has(t, "spawned: being_debugged=-1 traced=1")
	l.Close()
	l.goOn(t)
	l.ends(t)
	l.has(t, "end: being_debugged=-1 traced=0")
}

// lingering is a launcher that has told of its ranks: it is stopped for that still, or has gone on.
func lingering(t *testing.T, isStopped bool) *traced {
	t.Helper()
	l := start(t, `exec `+compile(t)+` "$0" linger -- true`)
	l.says(t, launch.StateSpawned)
	if !isStopped {
		l.Continue()
		l.has(t, "spawned: being_debugged=1 traced=1")
	}
	return l
}

// When nobody wants to know any more, the launcher runs on, and is told.
func TestClose(t *testing.T) {
	t.Parallel()
	for name, isStopped := range map[string]bool{"stopped": true, "running": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lingering(t, isStopped)
			l.Close()
			l.goOn(t)
			l.ends(t)
			l.has(t, "again: being_debugged=0 traced=0")
		})
	}
}

// A gdb that is killed leaves nothing behind that would end the launcher.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, isStopped := range map[string]bool{"stopped": true, "running": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lingering(t, isStopped)
			l.kill()
			if _, more := <-l.Stops(); more {
				t.Error("it stops once more")
			}
			l.goOn(t)
			l.ends(t)
			l.has(t, "again: being_debugged=1 traced=0")
		})
	}
}

// The launcher runs on, too, when its gdb was just about to stop it.
func TestKilledAsItStops(t *testing.T) {
	t.Parallel()
	l := lingering(t, false)
	if err := l.Tracer.cmd.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "gdb's stop", func() bool {
		stat, err := procfs.Host.Stat(l.Tracer.cmd.Process.Pid)
		return err == nil && stat.State == 'T'
	})
	if err := unix.Kill(l.pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	l.kill()
	l.Close()
	l.goOn(t)
	l.ends(t)
}

// A launcher that is a rank stays stopped for another debugger.
func TestLeave(t *testing.T) {
	t.Parallel()
	l := lingering(t, true)
	if err := l.Leave(); err != nil {
		t.Fatal(err)
	}
	until(t, "its stop", func() bool { return l.state(t) == 'T' })
	l.Close()
	if l.state(t) != 'T' || strings.Contains(l.record(t), "spawned") {
		t.Errorf("it runs on:\n%s", l.record(t))
	}
	if err := unix.Kill(l.pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	l.goOn(t)
	l.ends(t)
	l.has(t, "again: being_debugged=1 traced=0")
}

// What can't be traced stays as it is.
func TestUntraceable(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	pid, err := hold.Start(1, func() (int, error) {
		err := cmd.Start()
		return cmd.Process.Pid, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	folder := t.TempDir()
	if _, err := Trace(filepath.Join(folder, "none"), folder, pid); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Trace("true", folder, pid); err == nil || !strings.Contains(err.Error(), "true did not attach") {
		t.Error(err)
	}
	if stat, err := procfs.Host.Stat(pid); err != nil || stat.State != 'T' {
		t.Errorf("%+v, %v", stat, err)
	}
	if _, err := Trace(cmp.Or(os.Getenv("MPI_QUEUES_TEST_GDB"), "gdb"), folder, 1<<30); err == nil || strings.Contains(err.Error(), "did not attach") {
		t.Errorf("gdb's own words are not told: %v", err)
	}
}
