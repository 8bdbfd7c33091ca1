//go:build live

package gdb

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// Ranks of a launcher that only tells of them (MPIR) are attached to before it goes on, and let go on,
// however they wait. (Those that wait for nothing but the gate would end before the launcher looks at them.)
func TestRanksOfMPIR(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ flags, options, args string }{
		"gate":    {"-DNO_ABORT_STRING", "n=3 barrier", "gate"},
		"barrier": {"-DWITH_PARTIAL_ATTACH", "n=3 barrier null", ""},
		"stopped": {"-DWITH_ACQUIRED_PRE_MAIN", "n=3 hold barrier", "gate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLauncher(t, c.flags)
			out := work.GDB(t, live.Nothing(), "mpi-run "+l.command(t, c.options, c.args))
			out.Contains(t, "Attached 3 ranks of launcher (process ", "inferiors 1-3 are ranks 0-2")
			out.Lacks(t, "Traceback", "SIGSTOP", "SIGCONT")
			l.await(t, "launcher", "main: being_debugged=1 traced=1",
				"started: being_debugged=1 traced=1 rank0=free rank1=free rank2=free",
				"spawned: being_debugged=1 traced=1 rank0=traced rank1=traced rank2=traced", "end: ")
			first := "init: being_debugged=0 gate=0"
			if name == "stopped" {
				first = "constructor: being_debugged=1 gate=1"
			}
			for rank := range 3 {
				l.await(t, fmt.Sprint("rank-", rank), first, "initialised: being_debugged=1 gate=1", "work: ")
			}
		})
	}
}

// Ranks that are stopped before their main are the debugger's before it: breakpoints in constructors hold.
func TestMPIRPreMain(t *testing.T) {
	t.Parallel()
	l := newLauncher(t, "-DWITH_ACQUIRED_PRE_MAIN")
	s := work.StartSession(t, live.Nothing())
	s.Do("file " + rankProgram(t))
	s.Do("break before_main")
	s.Says("mpi-run "+l.command(t, "hold n=1"), "Breakpoint 1", "before_main ()")
	s.Says("print MPIR_being_debugged", "= 1")
	s.Says("print MPIR_debug_gate", "= 1")
	if text := l.record(t, "rank-0"); text != "" {
		t.Errorf("the rank has run on:\n%s", text)
	}
	s.Says("continue", "exited normally")
	l.await(t, "launcher", "end: ")
}

// A launcher may ask for its ranks to be shown in main: they stop there as `start' has it, or, where
// that is behind them, main's frame is shown.
func TestMPIRForceToMain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ flags, options, args, says, lacks string }{
		"before":     {"-DWITH_FORCE_TO_MAIN", "hold", "", "main (argc=1", "exited"},
		"behind":     {"-DWITH_FORCE_TO_MAIN", "", "gate", "main (argc=2", "exited"},
		"not wanted": {"-DNO_ABORT_STRING", "", "gate", "exited", "main (argc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLauncher(t, c.flags)
			out := work.GDB(t, live.Nothing(), "mpi-run "+l.command(t, "n=1 "+c.options, c.args))
			out.Contains(t, c.says)
			out.Lacks(t, c.lacks, "Traceback")
		})
	}
}

// A launcher that is a rank itself, whichever one, is handed to the user's gdb.
func TestMPIRStarterIsRank(t *testing.T) {
	t.Parallel()
	for rank, states := range []string{"rank0=self rank1=%s", "rank0=%s rank1=self"} {
		t.Run(fmt.Sprint("rank ", rank), func(t *testing.T) {
			t.Parallel()
			l := newLauncher(t, "-DNO_I_AM_STARTER", fmt.Sprint("-DIS_RANK=", rank))
			s := work.StartSession(t, live.Nothing())
			s.Says("mpi-run -start "+l.command(t, "n=2 barrier", "gate"), "Attached 2 ranks of launcher", "inferiors 1-2 are ranks 0-1", "main (argc=")
			s.Do(fmt.Sprint("inferior ", rank+1))
			s.Says("backtrace", "MPIR_Breakpoint")
			if text := l.record(t, "launcher"); strings.Contains(text, "spawned") {
				t.Errorf("the launcher has run on:\n%s", text)
			}
			s.Do("mpi-continue")
			l.await(t, "launcher", "started: being_debugged=1 traced=1 "+fmt.Sprintf(states, "free"), "spawned: being_debugged=1 traced=1 "+fmt.Sprintf(states, "traced"))
			l.await(t, fmt.Sprint("rank-", 1-rank), "init: being_debugged=0 gate=0", "initialised: being_debugged=1 gate=1")
		})
	}
}

// Ranks of other machines are said to be there; those of this one are attached to.
func TestMPIRRemote(t *testing.T) {
	t.Parallel()
	l := newLauncher(t)
	out := work.GDB(t, live.Nothing(), "mpi-run "+l.command(t, "n=2 barrier remote", "gate"))
	out.Contains(t, "Attached 2 ranks of launcher", "Rank 2 is on far.example")
	l.await(t, "launcher", "spawned: being_debugged=1 traced=1 rank0=traced rank1=traced", "end: ")
}

// Ranks that the launcher tells of when the job runs already are let go on, without a debugger.
func TestMPIRMore(t *testing.T) {
	t.Parallel()
	l := newLauncher(t)
	s := work.StartSession(t, live.Nothing())
	s.Says("mpi-run "+l.command(t, "n=1 more barrier", ""), "Attached 1 rank of launcher")
	l.await(t, "launcher", "spawned: being_debugged=1 traced=1 rank0=traced", "more: being_debugged=1 traced=1 rank0=traced rank1=free", "end: ")
	l.await(t, "rank-1", "init: being_debugged=0 gate=0", "initialised: being_debugged=0 gate=1", "work: ")
}

// What is for debuggers with daemons of their own stays as it is.
func TestMPIRDaemons(t *testing.T) {
	t.Parallel()
	l := newLauncher(t, "-DWITH_DAEMONS")
	work.GDB(t, live.Nothing(), "mpi-run "+l.command(t, "n=1", "gate"))
	l.await(t, "launcher", "main: being_debugged=1 traced=1 executable_path='' server_arguments='' forward_output=0",
		"spawned: being_debugged=1 traced=1 executable_path='' server_arguments='' forward_output=0", "end: ")
}

// That a job is being aborted is said when it is, and why, as far as the launcher tells.
func TestMPIRAbort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ flag, option, says, told string }{
		"reason":    {"-DWITH_PARTIAL_ATTACH", "abort=out-of-memory", "[The job is being aborted: out-of-memory]", "being aborted: out-of-memory."},
		"none":      {"-DWITH_PARTIAL_ATTACH", "abort=", "[The job is being aborted]", "and does not say why."},
		"no member": {"-DNO_ABORT_STRING", "abort=never", "[The job is being aborted]", "and does not say why."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLauncher(t, c.flag)
			out := work.GDB(t, live.Nothing(), "mpi-run "+l.command(t, c.option, "gate 3"))
			out.Contains(t, c.says)
			// Whoever comes late hears it, too.
			cmd := exec.Command("sh", "-c", "exec "+l.command(t, c.option+" linger"))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Wait() }()
			defer l.goOn(t)
			live.Until(t, "the abort", func() bool { return strings.Contains(l.record(t, "launcher"), "aborted: being_debugged=0") })
			work.GDB(t, live.Nothing(), fmt.Sprintf("mpi-attach %d", cmd.Process.Pid)).Contains(t, "The launcher says that the job is being aborted", c.told)
		})
	}
}

// Without the interface the ranks have to come by themselves.
func TestNoMPIR(t *testing.T) {
	t.Parallel()
	l := newLauncher(t, "-DNO_INTERFACE", "-DNO_BEING_DEBUGGED")
	out := work.GDB(t, live.Nothing(), "mpi-run "+l.command(t, "n=1"))
	out.Contains(t, "none of its processes has come to the debugger. If it has run, put `mpi-queues rank --' before its program.")
}

// Ranks that come by themselves come also where the launcher stops them first, as srun does.
func TestMPIRStoppedRanksCome(t *testing.T) {
	t.Parallel()
	l := newLauncher(t)
	command := strings.Join([]string{l.program, l.folder, "n=3 hold", "--", work.Helper, "rank", "--", rankProgram(t)}, " ")
	s := work.StartSession(t, live.Nothing())
	s.Do("file " + rankProgram(t))
	s.Do("break before_main")
	s.Says("mpi-run "+command, "Attached 3 ranks of launcher", "inferiors 1-3 are ranks 0-2", "before_main ()")
	l.await(t, "launcher", "main: being_debugged=1 traced=1", "spawned: being_debugged=1 traced=1")
	s.Do("kill inferiors 1 2 3")
}

// When the user's gdb lets go of the job, nobody has the launcher, which runs on.
func TestMPIRLetGo(t *testing.T) {
	t.Parallel()
	l := newLauncher(t)
	s := work.StartSession(t, live.Nothing())
	s.Do("file " + rankProgram(t))
	s.Do("break work")
	s.Says("mpi-run "+l.command(t, "n=1 linger", "gate stay"), "work ()")
	s.Says("mpi-detach", "Detached 1 process")
	s.Send("quit")
	s.End()
	l.goOn(t)
	l.await(t, "launcher", "again: being_debugged=0 traced=0", "end: ")
	l.await(t, "rank-0", "work: ")
}

// A DLL that shows sends for a debugger only shows them of a job that was started under one.
func TestSendsForDebuggerOnly(t *testing.T) {
	t.Parallel()
	dll := dlls().Reference(t)
	toy := work.Program(t, "tests/dll/toy_asks.c")
	sends := func(process expect.Object) bool {
		t.Helper()
		world := expect.Communicators(process)[0]
		if world["name"] != "toy world" {
			t.Errorf("the first communicator is %s", show(world["name"]))
		}
		ops, _ := expect.Operations(world, "pending_sends")
		return len(ops) > 0
	}
	job := startToy(t, "toy_asks", dll)
	if sends(readJSON(t, live.Process(job.Accounts[0].PID), trusting("")...)) {
		t.Error("sends are shown of a process that has no debugger")
	}
	l := newLauncher(t)
	command := strings.Join([]string{l.program, l.folder, "n=1", "--", toy, l.folder, dll}, " ")
	file := filepath.Join(t.TempDir(), "json")
	out := work.GDB(t, live.Nothing(), append(append([]string{"file " + toy, "break nanosleep"}, trusting("")...), "mpi-run "+command, "mpi-queues -json -output "+file)...)
	if !sends(parseJSON(t, file, out.All())) {
		t.Errorf("no sends are shown:\n%s", out.All())
	}
}

// Open MPI's mpirun and its ranks know of their debuggers.
func TestMPIROfOpenMPI(t *testing.T) {
	t.Parallel()
	work.AnnouncedJobs(t, []string{"MPIR_being_debugged", "MPIR_debug_gate"})
}
