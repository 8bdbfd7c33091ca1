//go:build live

package gdb

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// started is a job that a gdb has started, all of whose ranks wait for a message that nobody sends if they
// are let run.
type started struct {
	*live.Session
	program, folder string
}

// start has a gdb start a job whose ranks stop when they measure.
func start(t *testing.T) started {
	s := started{work.StartSession(t, live.Nothing()), work.Program(t, "tests/programs/started.c"), t.TempDir()}
	s.Do("file " + s.program)
	s.Do("break measure")
	s.Says("mpi-run "+s.command("wait"), "Attached 3 ranks", "hit Breakpoint 1")
	return s
}

func (s started) command(what string) string {
	return fmt.Sprintf("%s -n 3 %s %s %s", strings.Join(work.MPI.Launcher, " "), s.program, s.folder, what)
}

// processes are those of the job, its launcher among them.
func (s started) processes(t *testing.T) []int {
	t.Helper()
	all, err := procfs.Host.Processes()
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, pid := range all {
		if line, err := procfs.Host.CommandLine(pid); err == nil && strings.Contains(strings.Join(line, " "), s.program+" "+s.folder) {
			out = append(out, pid)
		}
	}
	return out
}

func (s started) awaitNone(t *testing.T) {
	t.Helper()
	live.Until(t, "for the end of all processes of the job", func() bool { return len(s.processes(t)) == 0 })
}

// The job ends with the gdb that has started it, whatever ends that.
func TestStartedJobEndsWithGDB(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s started){
		"quit":   func(_ *testing.T, s started) { s.Send("quit") },
		"killed": func(t *testing.T, s started) { live.Kill(t, s.PID()) },
		"hung up": func(t *testing.T, s started) {
			if err := syscall.Kill(s.PID(), syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		},
		"running": func(t *testing.T, s started) {
			s.Do("delete")
			s.Send("mpi-continue")
			s.awaitReady(t)
			live.Kill(t, s.PID())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			end(t, s)
			s.End()
			s.awaitNone(t)
		})
	}
}

// resuming are the commands that gdb lists among those that let programs run, each as the tests of a lost terminal
// enter it once gdb has ranks. mpi-run starts those tests and needs no entry there.
var resuming = map[string][]string{
	"mpi-attach":    {"mpi-attach"},
	"mpi-continue":  {"mpi-continue", "mpi-continue -alone"},
	"mpi-detach":    {"mpi-detach"},
	"mpi-interrupt": {"mpi-interrupt"},
	"mpi-next":      {"mpi-next", "mpi-next -alone"},
	"mpi-run":       nil,
	"mpi-step":      {"mpi-step", "mpi-step -alone"},
	"mpi-until":     {"mpi-until main", "mpi-until -alone main"},
}

// TestResumingCommands checks that the tests of a lost terminal know each command that lets ranks run.
func TestResumingCommands(t *testing.T) {
	t.Parallel()
	s := work.StartSession(t, live.Nothing())
	var listed []string
	for _, match := range regexp.MustCompile(`(?m)^(mpi-[a-z]+)\b.* -- `).FindAllStringSubmatch(s.Do("help running"), -1) {
		listed = append(listed, match[1])
	}
	if known := slices.Sorted(maps.Keys(resuming)); !slices.Equal(listed, known) {
		t.Errorf("gdb lists %q, and the tests know %q", listed, known)
	}
}

// inTurn returns what to enter before the terminal is lost: nothing, mpi-continue and one other command, or in a whole run
// all of resuming.
func inTurn() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(resuming)) {
		all = append(all, resuming[name]...)
	}
	if sample.Whole() {
		return slices.Concat([]string{""}, all, all, all)
	}
	return []string{"", "mpi-continue", all[rand.N(len(all))]}
}

// A job that gdb has started ends with the terminal, and gdb does not break down over it, at whatever moment that is.
func TestStartedJobTerminalLost(t *testing.T) {
	for flags, commands := range map[string][]string{"": {"", ""}, "-start": inTurn()[1:], "-non-stop": inTurn()[1:]} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			for _, command := range commands {
				s := session(t, "file "+work.Program(t, "tests/programs/started.c"))
				s.Send("mpi-run " + flags + " " + s.command("wait"))
				s.Await("Attached 3 ranks")
				if command != "" {
					s.Await(live.Prompt)
					s.Send("mpi-interrupt") // those that run
					s.Send(command)
				}
				time.Sleep(rand.N(2 * time.Second)) // a moment of any kind: ranks begin, run, step, or wait
				s.HangUp()
				s.End()
				if s.Signal() == syscall.SIGABRT {
					t.Errorf("gdb has aborted after %q", command)
				}
				if command == "mpi-detach" { // the job may have been let go
					awaitRunning(t, command, func() []int { return s.processes(t) })
					for _, pid := range s.processes(t) {
						live.Kill(t, pid)
					}
				}
				s.awaitNone(t)
			}
		})
	}
}

// Ranks of a job that gdb has attached to run on when its terminal is lost, at whatever moment that is.
func TestAttachedJobTerminalLost(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "tests/programs/queues.c", 3, nil)
	var ranks []int
	for _, account := range job.Accounts {
		ranks = append(ranks, account.PID)
	}
	for _, command := range inTurn() {
		s := work.StartSession(t, live.Nothing())
		s.Send(fmt.Sprintf("mpi-attach %d", ranks[0]))
		live.Until(t, "for gdb at the first rank", func() bool { return tracer(ranks[0]) == s.PID() })
		if command != "" && rand.N(4) != 0 {
			s.Await(live.Prompt)
		}
		s.Send(command)
		time.Sleep(rand.N(time.Second)) // a moment of any kind: gdb attaches, stands, or lets ranks run
		s.HangUp()
		s.End()
		if s.Signal() == syscall.SIGABRT {
			t.Errorf("gdb has aborted after %q", command)
		}
		awaitRunning(t, command, func() []int { return ranks })
	}
}

// awaitRunning waits until all of some processes run, which gdb was debugging when a command was entered.
func awaitRunning(t *testing.T, command string, processes func() []int) {
	t.Helper()
	live.Until(t, fmt.Sprintf("for all processes to run after %q", command), func() bool {
		return !slices.ContainsFunc(processes(), func(pid int) bool {
			stat, err := procfs.Host.Stat(pid)
			return err != nil || stat.HasEnded() || stat.State == 'T' || stat.State == 't'
		})
	})
}

// tracer is the process that debugs another one.
func tracer(pid int) int {
	status, err := procfs.Host.Status(pid)
	if err != nil {
		return 0
	}
	return status.Tracer
}

// A job ends with its supervisor or, where that is killed, with gdb at the latest.
func TestStartedJobEndsWithSupervisor(t *testing.T) {
	for name, end := range map[string]syscall.Signal{"terminated": syscall.SIGTERM, "hung up": syscall.SIGHUP, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			if err := syscall.Kill(s.supervisor(t), end); err != nil {
				t.Fatal(err)
			}
			if end != syscall.SIGKILL {
				s.awaitNone(t)
			}
			s.Send("quit")
			s.End()
			s.awaitNone(t)
		})
	}
}

// TestStartedJobEndsAsSupervisorIsKilled checks that gdb ends the ranks if the supervisor is killed while gdb waits for the
// supervisor to end them.
func TestStartedJobEndsAsSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	supervisor := s.supervisor(t)
	if err := syscall.Kill(supervisor, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ends := pipes(t, supervisor)
	s.Send("quit")
	live.Until(t, "for gdb to hang up", func() bool {
		return !slices.ContainsFunc(pipes(t, s.PID()), func(pipe string) bool { return slices.Contains(ends, pipe) })
	})
	live.Kill(t, supervisor)
	s.End()
	s.awaitNone(t)
}

// pipes names the pipes of which a process has an end.
func pipes(t *testing.T, pid int) []string {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		if target, err := os.Readlink(name); err == nil && strings.HasPrefix(target, "pipe:") {
			out = append(out, target)
		}
	}
	return out
}

// TestStartedJobEndsBeforeItBegins checks that the launcher does not stay stopped, nor run on, if the supervisor is killed before
// a debugger has attached to the launcher, or while one traces it.
func TestStartedJobEndsBeforeItBegins(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]byte{"stopped": 'T', "traced": 't'} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for hasBeenHit := false; !hasBeenHit; {
				s := session(t)
				s.Send("mpi-run " + s.command("wait"))
				for !hasBeenHit && !s.Has("Attached 3 ranks") {
					for _, pid := range s.processes(t) {
						stat, err := procfs.Host.Stat(pid)
						if parent := s.supervisor(t); err == nil && stat.State == state && stat.Parent == parent && tracer(pid) != parent {
							live.Kill(t, parent)
							hasBeenHit = true
						}
					}
				}
				s.Await(live.Prompt)
				s.Send("quit")
				s.End()
				s.awaitNone(t)
			}
		})
	}
}

// supervisor is the process that starts the job.
func (s started) supervisor(t *testing.T) int {
	t.Helper()
	for _, child := range procfs.Host.Children(s.PID()) {
		if line, err := procfs.Host.CommandLine(child); err == nil && len(line) > 1 && line[1] == "supervise" {
			return child
		}
	}
	return 0
}

// awaitReady waits until all ranks wait for a message.
func (s started) awaitReady(t *testing.T) {
	t.Helper()
	live.Until(t, "for all ranks to wait", func() bool {
		names, err := filepath.Glob(filepath.Join(s.folder, "ready-*"))
		return err == nil && len(names) == 3
	})
}

// A job of which gdb lets go runs on, also when gdb ends.
func TestStartedJobLetGo(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Says("mpi-detach", "Detached 3 processes")
	s.Send("quit")
	s.End()
	s.awaitReady(t)
	for _, pid := range s.processes(t) {
		live.Kill(t, pid)
	}
	s.awaitNone(t)
}

// Ranks that are killed end the job, and gdb says how; it can be started again, with the same inferiors.
func TestStartedJobKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Do("kill inferiors 1 2 3")
	s.awaitNone(t)
	s.Says("mpi-run", "Attached 3 ranks", "inferiors 1-3 are ranks 0-2", "hit Breakpoint 1")
	// The launcher is killed, and ranks with it or alone.
	for _, pid := range s.processes(t) {
		live.Kill(t, pid)
	}
	s.awaitNone(t)
	// Each mpi-continue reports one exit, and the launcher's may be any of them.
	live.Until(t, "for gdb to report the launcher's exit", func() bool {
		return strings.Contains(s.Do("mpi-continue"), "[The launcher was killed by SIGKILL]")
	})
	s.Says("mpi-run", "Attached 3 ranks", "inferiors 1-3 are ranks 0-2", "hit Breakpoint 1")
	s.Send("quit")
	s.End()
	s.awaitNone(t)
}

// What starts no job has a sentence, and Ctrl-C ends the waiting for ranks.
func TestNoJobIsStarted(t *testing.T) {
	t.Parallel()
	s := work.StartSession(t, live.Nothing())
	s.Says("mpi-run", "No job was started before: name the command that starts it")
	s.Says("mpi-run true", "[The command exited normally]", "none of its processes has come to the debugger")
	s.Says("mpi-run sh -c 'exit 3'", "[The command exited with code 03]", "If it has run, put `mpi-queues rank --' before its program.")
	s.Says("mpi-run /nonesuch/mpirun -n 2 x", "exited with code 177")
	mark := filepath.Join(t.TempDir(), "mark")
	s.Send("mpi-run sh -c 'echo > " + mark + "; exec sleep 1000'")
	live.Until(t, "for the command's beginning", func() bool {
		_, err := os.Stat(mark)
		return err == nil
	})
	s.Type("\x03")
	if out := s.Await(live.Prompt); !strings.Contains(out, "Quit") {
		t.Errorf("Ctrl-C does not end it:\n%s", out)
	}
	s.Says("info inferiors", "<null>")
}
