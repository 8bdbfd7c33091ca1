//go:build live

package gdb

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// The thread of a Python program that is in an MPI call is at the Python line, and so are its other threads,
// live and in a core: with this machine's CPython, which is stripped and in one file with its program.
func TestPython(t *testing.T) {
	t.Parallel()
	source := filepath.Join(work.Root, "tests", "programs", "pywaits.py")
	line := func(of string) string { return lineOf(t, "pywaits.py", of) }
	job := startPython(t, source)
	since := live.CPU(job.Process.Pid)
	live.Until(t, "the call to look for messages", func() bool { return live.CPU(job.Process.Pid) >= since+10 })
	live.Yield(t, job.Process.Pid)

	core := filepath.Join(t.TempDir(), "core")
	for _, where := range []live.Where{live.Process(job.Process.Pid), live.Core("/usr/bin/python3", core)} {
		t.Run(where.Name, func(t *testing.T) {
			commands := []string{"mpi-queues", "mpi-stacks -threads"}
			if where.Name != "core" {
				commands = append(commands, "generate-core-file "+core)
			}
			out := work.GDB(t, where, commands...)
			out.Contains(t, ", called by Größe.warte at "+filepath.Dir(source)+"/"+line("self.receive(\n")+"\n",
				"  main at "+line("list(map(")+"\n  Größe.warte at "+line("self.receive(\n")+"\n  MPI_Recv\n", "sleep at "+line("time.sleep(seconds)"))
			out.Lacks(t, "Traceback", "PyObject_", "_PyEval", "ffi_call")
		})
	}
}

// startPython starts a Python program, and waits until it has made the file that it is given as its first argument.
func startPython(t *testing.T, source string, arguments ...string) *exec.Cmd {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	job := exec.Command("/usr/bin/python3", append([]string{source, ready}, arguments...)...)
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-job.Process.Pid, syscall.SIGKILL)
		_ = job.Wait()
	})
	live.Until(t, "the program to wait", func() bool { return live.Exists(ready) })
	return job
}

// TestPythonLock checks that a thread of a Python program that waits for the global interpreter lock is reported with the thread that
// holds the lock, and that a thread that sleeps is not.
func TestPythonLock(t *testing.T) {
	t.Parallel()
	source := filepath.Join(work.Root, "tests", "programs", "pywaits.py")
	const lock = "waits for the global interpreter lock (GIL) that thread 1 holds, which is in MPI_Recv (pywaits.py:"
	report := func(job *exec.Cmd) string {
		_, out, _ := work.Try(t, "report", strconv.Itoa(job.Process.Pid))
		return out
	}
	holds, sleeps := startPython(t, source, "holds"), startPython(t, source)
	live.Until(t, "the report on the lock", func() bool { return strings.Contains(report(holds), lock) })
	var other string
	live.Until(t, "the report on the deadlock", func() bool {
		other = report(sleeps)
		return strings.Contains(other, "MPI_Recv on MPI_COMM_SELF")
	})
	if strings.Contains(other, "(GIL)") {
		t.Error(other)
	}
}

// TestPythonCollection checks that a finalizer that waits in MPI is reported to be in a garbage collection if one runs it, and not if the
// program itself does.
func TestPythonCollection(t *testing.T) {
	t.Parallel()
	source := filepath.Join(work.Root, "tests", "programs", "pycollects.py")
	const collection = "in a garbage collection of Python"
	place := " that began at " + lineOf(t, "pycollects.py", "gc.collect()")
	for _, c := range []struct {
		arguments []string
		want      bool
	}{{nil, true}, {[]string{"finalizes"}, false}} {
		job := startPython(t, source, c.arguments...)
		var out string
		live.Until(t, "the report on the deadlock", func() bool {
			_, out, _ = work.Try(t, "report", strconv.Itoa(job.Process.Pid))
			return strings.Contains(out, "MPI_Recv on MPI_COMM_SELF")
		})
		if strings.Contains(out, collection) != c.want || strings.Contains(out, "that began at") && !strings.Contains(out, place) {
			t.Errorf("%q: %s", c.arguments, out)
		}
	}
}
