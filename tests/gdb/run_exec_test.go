//go:build live

package gdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// session is a gdb whose jobs are of the program that [start] starts.
func session(t *testing.T, commands ...string) started {
	t.Helper()
	s := started{work.StartSession(t, live.Nothing()), work.Program(t, "tests/programs/started.c"), t.TempDir()}
	for _, c := range commands {
		s.Do(c)
	}
	return s
}

// through is a command line that starts a job through a shell's words, in which %s is the program with its
// arguments.
func (s started) through(words, what string) string {
	return fmt.Sprintf("%s -n 3 %s", strings.Join(work.MPI.Launcher, " "), fmt.Sprintf(words, s.program+" "+s.folder+" "+what))
}

// The ranks execute the program in place of what the launcher has started: the user's breakpoints hold in it,
// also those that were set for the program before, and also when the job is started again.
func TestStartedJobExecutes(t *testing.T) {
	t.Parallel()
	s := session(t)
	s.Do("file " + s.program)
	s.Do("break measure")
	hit := func(command string) {
		t.Helper()
		out := s.Do(command)
		for range 2 {
			out += s.Do("mpi-continue")
		}
		for rank := range 3 {
			if !strings.Contains(out, fmt.Sprintf(`Thread %d.1 "started" hit Breakpoint 1`, rank+1)) {
				t.Errorf("rank %d does not stop in the program that it has executed:\n%s", rank, out)
			}
		}
	}
	s.Do("mpi-run -start " + s.through("sh -c 'exec %s'", "finish"))
	if out := s.Do("thread apply all -q frame"); strings.Count(out, "main (") != 3 {
		t.Errorf("not all ranks are in main of the program that they have executed:\n%s", out)
	}
	if out := s.Says("mpi-ranks", "inferior"); strings.Contains(out, "breakpoint") {
		t.Errorf("a breakpoint is told that is not the user's:\n%s", out)
	}
	hit("mpi-continue")
	s.Says("mpi-queues -all", "Rank 0 of 3", "Rank 2 of 3")
	s.Says("mpi-continue", "[The launcher exited with code 07]")
	s.Says("print $_exitcode", "= 7")
	s.Says("mpi-ranks", "exited") // with their codes, as far as they can be told

	hit("mpi-run " + s.through("env %s", "finish"))
	s.Do("catch exec")
	s.Says("mpi-run", "Attached 3 ranks", "inferiors 1-3 are ranks 0-2", "exec'd "+s.program)
	s.Says("mpi-ranks", "catchpoint 2")
	s.Do("kill inferiors 1 2 3")
	s.awaitNone(t)
}

// In non-stop mode a script executes the program. A user is told what to do where -start can't help.
func TestStartedScriptNonStop(t *testing.T) {
	t.Parallel()
	s := session(t)
	script := s.script(t, "HOSTS=$(echo here)\nexec \"$@\"")
	s.Do("file " + s.program)
	s.Do("break measure")
	s.Says("mpi-run -non-stop -start "+s.through(script+" %s", "finish"), "has no symbol main", "`break main'")
	s.Send("mpi-continue")
	for range 3 {
		s.Await("hit Breakpoint 1")
	}
	s.Send("mpi-continue")
	s.Await("[The launcher exited with code 07]")
	s.Says("mpi-ranks", "exited with code 7")
}

// A script that starts the program otherwise is debugged itself, as with gdb's own `run', and the job ends.
func TestStartedScriptForks(t *testing.T) {
	t.Parallel()
	s := session(t, "set breakpoint pending on", "break measure")
	const forks = "sh -c '%s; true'"
	s.Says("mpi-run "+s.through(forks, "finish"), "Detaching after", "[The launcher exited normally]")
	s.Says("mpi-run -start", "No rank has come to main", "exec ./program", "[The launcher exited normally]")
	if testing.Short() {
		return
	}
	s.Do("set follow-fork-mode child")
	s.Send("mpi-run -non-stop " + s.through(forks, "wait"))
	for range 3 {
		s.Await("hit Breakpoint 1")
	}
	s.Says("mpi-ranks", "measure")
	s.Send("quit")
	s.End()
	s.awaitNone(t)
}

// A rank goes on alone that had come to a breakpoint while another one's was told.
func TestStartedRankAlone(t *testing.T) {
	t.Parallel()
	s := session(t)
	s.Do("file " + s.program)
	s.Do("break measure")
	for range 20 {
		s.Says("mpi-run "+s.command("finish"), "hit Breakpoint 1")
		if out := s.Do("mpi-ranks"); strings.Count(out, "measure at") == 3 {
			stopped := gdbValue(s, "$_inferior")
			for inferior := 1; inferior <= 3; inferior++ {
				if fmt.Sprint(inferior) != stopped {
					s.Says(fmt.Sprintf("mpi-continue -alone %d", inferior-1), "hit Breakpoint 1")
				}
			}
			s.Do("kill inferiors 1 2 3")
			return
		}
	}
	t.Error("the ranks never come to a breakpoint at the same time")
}

// gdbValue is the value of an expression, in gdb's words.
func gdbValue(s started, expression string) string {
	_, value, _ := strings.Cut(s.Do("print "+expression), " = ")
	return strings.TrimSpace(value)
}
