//go:build live

package gdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// The launcher ends a job of which a rank is killed, while that runs or stands. gdb says so, and can start
// another one. gdb 13 and 16 can break down over threads that are killed as they are let go on, which is tried again.
func TestStartedRankLost(t *testing.T) {
	for mode, states := range map[string][]string{"all-stop": {"running", "standing"}, "non-stop": {"running"}} {
		for _, state := range states {
			t.Run(mode+" "+state, func(t *testing.T) {
				t.Parallel()
				for range 3 {
					if lose(t, mode, state) {
						return
					}
				}
				t.Error("gdb broke down three times")
			})
		}
	}
}

// lose kills a rank of a job that gdb has started. It is false if gdb itself broke down.
func lose(t *testing.T, mode, state string) bool {
	t.Helper()
	s := session(t)
	s.Do("file " + s.program)
	command := "mpi-run " + s.command("wait")
	if mode == "non-stop" {
		command = "mpi-run -non-stop " + s.command("wait")
	}
	switch {
	case state == "standing":
		s.Do("break measure")
		s.Says(command, "hit Breakpoint 1")
	case mode == "non-stop":
		// gdb 16.3 may fail (an internal error) where it has not told this signal yet when
		// the next one kills.
		s.Do("handle SIGTERM nostop noprint pass")
		s.Do(command)
		s.awaitReady(t)
	default:
		s.Send(command)
		s.awaitReady(t)
	}
	lost := s.ranks(t)[1]
	live.Kill(t, lost)
	told := ""
	// prompted waits for gdb's next prompt. It is false if gdb has broken down.
	prompted := func() bool {
		const breakdown = "internal-error: "
		live.Until(t, "for gdb's prompt", func() bool { return s.Has(live.Prompt) || s.Has(breakdown) })
		if s.Has(breakdown) {
			live.Kill(t, s.PID())
			t.Logf("gdb broke down:\n%s", s.End())
			s.awaitNone(t)
			return false
		}
		told += s.Await(live.Prompt)
		return true
	}
	if mode == "all-stop" && state == "running" && !prompted() {
		return false
	}
	isWell := true
	live.Until(t, "for gdb to tell the end of the job", func() bool {
		if !isWell || strings.Contains(told, "[The launcher exited with code ") {
			return true
		}
		s.Send("mpi-continue")
		isWell = prompted() // also what gdb has told between commands
		return false
	})
	if !isWell {
		return false
	}
	s.awaitNone(t)
	s.synchronize() // gdb may have asked for commands more often
	told = s.Says("mpi-ranks", fmt.Sprint(lost))
	_, row, _ := strings.Cut(told, fmt.Sprint(lost))
	row, _, _ = strings.Cut(row, "\n")
	// gdb may take a process that stands from the kernel, and not say what has ended it.
	if is := strings.TrimSpace(row); is != "killed by SIGKILL" && (is != "exited" || state == "running") {
		t.Errorf("it says that the rank that was killed was %q:\n%s", is, told)
	}
	s.Send("mpi-run")
	s.Await("Attached 3 ranks")
	live.Kill(t, s.PID())
	s.End()
	s.awaitNone(t)
	return true
}

// ranks are the process ids of the ranks, in no order.
func (s started) ranks(t *testing.T) []int {
	t.Helper()
	return slices.DeleteFunc(s.processes(t), func(pid int) bool {
		path, err := procfs.Host.Program(pid)
		return err != nil || path != s.program
	})
}

// Ctrl-C while gdb takes the ranks, or while it lets them go on: gdb can be used, and start the job again.
func TestStartedInterrupted(t *testing.T) {
	for _, mode := range []string{"", "-non-stop "} {
		t.Run("mode "+mode, func(t *testing.T) {
			t.Parallel()
			s := session(t)
			s.Do("file " + s.program)
			for _, moment := range []struct {
				name string
				has  func() bool
			}{
				{"a rank has come", func() bool { return len(s.ranks(t)) > 0 }},
				{"a rank is attached to", func() bool { return s.traced(t) > 0 }},
				{"all are attached to", func() bool { return s.traced(t) == 3 }},
				{"all wait", func() bool {
					names, err := filepath.Glob(filepath.Join(s.folder, "ready-*"))
					return err == nil && len(names) == 3
				}},
			} {
				s.Send("mpi-run " + mode + s.command("wait"))
				live.Until(t, "until "+moment.name, moment.has)
				s.interrupt(t)
				if out := s.Do("mpi-ranks"); strings.Contains(out, "rror") {
					t.Errorf("Ctrl-C when %s leaves gdb so:\n%s", moment.name, out)
				}
				s.Send("kill inferiors 1 2 3")
				s.awaitNone(t) // what the launcher writes as it ends can stand amid a prompt
				s.synchronize()
			}
			s.Do("break measure")
			s.Send("mpi-run " + mode + s.command("wait"))
			s.Await("hit Breakpoint 1")
			s.Send("quit")
			s.End()
			s.awaitNone(t)
		})
	}
}

// traced is how many of the ranks gdb has.
func (s started) traced(t *testing.T) int {
	t.Helper()
	n := 0
	for _, pid := range s.ranks(t) {
		if status, err := procfs.Host.Status(pid); err == nil && status.Tracer == s.PID() {
			n++
		}
	}
	return n
}

// interrupt presses Ctrl-C until gdb waits for a command: gdb 13 may miss one in the moment in which it lets
// processes go on.
func (s started) interrupt(t *testing.T) {
	t.Helper()
	live.Until(t, "for gdb to be interrupted", func() bool {
		s.Type("\x03")
		s.Send(`printf "it is %d\n", 1`)
		return s.Has("it is 1")
	})
	s.synchronize()
}

// synchronize waits until gdb has done all that was typed.
func (s started) synchronize() {
	s.Send(`printf "it is %d\n", 2`)
	s.Await("it is 2")
	s.Await(live.Prompt)
}

// gdb ends while ranks run in the background.
func TestStartedJobEndsInBackground(t *testing.T) {
	t.Parallel()
	s := session(t)
	s.Do("file " + s.program)
	s.Do("set confirm on")
	s.Do("mpi-run -non-stop " + s.command("wait"))
	s.awaitReady(t)
	s.Send("quit")
	s.Await("Quit anyway? (y or n) ")
	s.Send("y")
	if out := s.End(); strings.Contains(out, "internal-error") {
		t.Errorf("gdb fails as it ends:\n%s", out)
	}
	s.awaitNone(t)
}
