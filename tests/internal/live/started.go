//go:build live || matrix || full

package live

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// startedRanks is how many ranks the jobs have that debuggers start here.
const startedRanks = 4

// StartedJobs has gdb start jobs, in all its modes, and fails the test unless their ranks stop, step and end
// as they must.
func (w *Workspace) StartedJobs(t *testing.T) {
	for name, job := range map[string]func(t *testing.T, s *Session, command, folder string){
		"all-stop": startedAllStop, "non-stop": startedNonStop, "deadlock": startedDeadlock} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := w.Program(t, "tests/programs/started.c")
			folder := t.TempDir()
			s := w.StartSession(t, Nothing())
			s.Do("file " + program)
			command := fmt.Sprintf("%s -n %d %s %s", strings.Join(w.MPI.Launcher, " "), startedRanks, program, folder)
			job(t, s, command, folder)
			s.Send("quit")
			s.End()
			NothingRuns(t, program, folder)
		})
	}
}

// NothingRuns fails the test if a process runs that has a program and an argument.
func NothingRuns(t *testing.T, program, argument string) {
	t.Helper()
	Until(t, "for the ends of all processes of the job", func() bool {
		all, err := procfs.Host.Processes()
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range all {
			line, err := procfs.Host.CommandLine(pid)
			if err == nil && strings.Contains(strings.Join(line, " "), program+" "+argument) {
				return false
			}
		}
		return true
	})
}

// startedAllStop: all ranks stop when one does.
func startedAllStop(t *testing.T, s *Session, command, _ string) {
	s.Says("break begin", "Breakpoint 1")
	out := s.Says("mpi-run "+command, "Attached 4 ranks of ", "inferiors 1-4 are ranks 0-3.", "hit Breakpoint 1", "begin ()")
	for range startedRanks - 1 {
		out += s.Says("mpi-continue", "hit Breakpoint 1")
	}
	for rank := range startedRanks {
		if !strings.Contains(out, fmt.Sprintf("Thread %d.1 ", rank+1)) {
			t.Errorf("rank %d does not stop in its constructor:\n%s", rank, out)
		}
	}
	s.Says("print begun", "= 0")
	s.Do("delete")
	s.Do("break measure if $mpi_rank() == 2")
	s.Says("mpi-continue", "Thread 3.1 ", "hit Breakpoint 2", "measure (rank=2)")
	s.Says("mpi-next", "value += begun")
	s.Says("print value", "= 4")
	s.Says("mpi-next -alone", "return value")
	s.Says("print value", "= 46")
	s.Says("mpi-queues -all", "Rank 0 of 4", "Rank 3 of 4")
	s.Do("delete")
	endsWith7(t, s)

	s.Says("mpi-run -start "+command, "Attached 4 ranks of ", "inferiors 1-4 are ranks 0-3.", "main (")
	if out := s.Do("thread apply all -q frame"); strings.Count(out, "main (") != startedRanks {
		t.Errorf("not all ranks are in main:\n%s", out)
	}
	s.Says("mpi-step -alone 3", "")
	s.Says("mpi-until measure 1", "measure (rank=1)")
	s.Do("kill inferiors 1 2 3 4")
}

// endsWith7 lets the ranks go on until the job ends. Since they have an exit code, the launcher may end
// some of them, which gdb tells.
func endsWith7(t *testing.T, s *Session) {
	t.Helper()
	out := ""
	for range 2 * startedRanks {
		out += s.Do("mpi-continue")
		if strings.Contains(out, "[The launcher exited with code 07]") {
			s.Says("print $_exitcode", "= 7")
			return
		}
	}
	t.Errorf("the job does not end:\n%s", out)
}

// startedNonStop: ranks stop and go on one by one.
func startedNonStop(t *testing.T, s *Session, command, _ string) {
	s.Do("break measure")
	s.Send("mpi-run -non-stop " + command)
	for range startedRanks {
		s.Await("hit Breakpoint 1")
	}
	s.Do("mpi-interrupt")
	for rank := range startedRanks {
		s.Says(fmt.Sprintf("inferior %d", rank+1), "measure (rank="+fmt.Sprint(rank)+")")
	}
	Until(t, "for all threads to stop", func() bool { return !strings.Contains(s.Do("info threads"), "(running)") })
	s.Says("mpi-queues -all", "Rank 0 of 4", "Rank 3 of 4", "Nothing pending")
	s.Send("mpi-next -alone 1-2")
	for range 2 {
		s.Await("value += begun")
	}
	s.Says("thread 2.1", "")
	s.Says("print value", "= 1")
	s.Says("thread 3.1", "")
	s.Says("print value", "= 4")
	s.Says("thread 1.1", "")
	s.Says("frame", "int value = rank * rank")
	s.Do("delete")
	s.Send("mpi-continue 0")
	s.Send("mpi-continue")
	s.Await("[The launcher exited with code 07]")
}

// untilRanksRun waits until a gdb has let all ranks go on: it says nothing then.
func untilRanksRun(t *testing.T, s *Session) {
	t.Helper()
	Until(t, "for the ranks to run", func() bool {
		all, err := procfs.Host.Processes()
		if err != nil {
			t.Fatal(err)
		}
		running := 0
		for _, pid := range all {
			if status, err := procfs.Host.Status(pid); err != nil || status.Tracer != s.PID() {
				continue
			}
			if stat, err := procfs.Host.Stat(pid); err == nil && stat.State != 't' {
				running++
			}
		}
		return running == startedRanks
	})
}

// startedDeadlock: a hang is stopped by hand and read.
func startedDeadlock(t *testing.T, s *Session, command, folder string) {
	s.Send("mpi-run " + command + " wait")
	s.Await("Attached 4 ranks")
	Until(t, "for all ranks to wait", func() bool {
		names, err := filepath.Glob(filepath.Join(folder, "ready-*"))
		return err == nil && len(names) == startedRanks
	})
	Until(t, "for a deadlock", func() bool {
		s.Type("\x03")
		s.Await(Prompt)
		if strings.Contains(s.Do("mpi-deadlock -all"), "eadlock") {
			return true
		}
		s.Send("mpi-continue")
		untilRanksRun(t, s)
		return false
	})
	s.Says("mpi-queues -all", "Pending receives", "Rank 3 of 4", "In MPI_Recv on MPI_COMM_WORLD")
}
