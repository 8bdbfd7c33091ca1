package tracee

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/liveness"
)

// sleeper starts a process that does nothing.
func sleeper(t *testing.T) *os.Process {
	t.Helper()
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process
}

// stop stops a process, and returns once it is.
func stop(t *testing.T, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	liveness.Wait(t.Context(), func() bool { return isStopped(t, p) })
}

// isStopped is false of a process as soon as SIGCONT was sent to it.
func isStopped(t *testing.T, p *os.Process) bool {
	t.Helper()
	now, err := Read(p.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return now.State == 'T'
}

// What a gdb leaves stopped runs on, unless it was stopped before, or is another process now.
func TestLetRun(t *testing.T) {
	gdb := exec.Command("true")
	if err := gdb.Run(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		isStopped bool // before
		change    func(before *State)
		gdb       *os.ProcessState
		runs      bool
	}{
		"left stopped":      {gdb: gdb.ProcessState, runs: true},
		"stopped before":    {isStopped: true, gdb: gdb.ProcessState},
		"another of its id": {change: func(before *State) { before.started++ }, gdb: gdb.ProcessState},
		"no gdb ran":        {},
	} {
		p := sleeper(t)
		if c.isStopped {
			stop(t, p)
		}
		before, err := Read(p.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(&before)
		}
		stop(t, p)
		if before.LetRun(c.gdb, false); isStopped(t, p) == c.runs {
			t.Errorf("%s: it runs: %v", name, !c.runs)
		}
	}
}

// What a gdb that was told to end has attached to may be about to stop.
func TestLetRunAboutToStop(t *testing.T) {
	gdb := exec.Command("true")
	if err := gdb.Run(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "trap 'exit 7' CONT; echo; while :; do sleep 0.01; done")
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := said.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	before, err := Read(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	before.LetRun(gdb.ProcessState, false)
	before.LetRun(gdb.ProcessState, true)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("it has not been told to run on: %v", cmd.ProcessState)
	}
}
