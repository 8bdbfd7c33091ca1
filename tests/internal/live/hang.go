//go:build live || matrix || full

package live

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// PythonDeadlock is what a report says of the program where everything can be read.
var PythonDeadlock = []string{"Deadlock of ranks 0-1", "with tag 7 on MPI_COMM_WORLD, but the one that has come from rank 1 has tag 8"}

// PythonHang runs a program of mpi4py's that hangs, by a launcher and an interpreter, and fails the test unless the
// report has its Python lines and the parts that are wanted besides, and unless core files of it show the lines too.
func (w *Workspace) PythonHang(t *testing.T, launcher []string, python string, wants ...string) {
	t.Helper()
	wants = slices.Clone(wants)
	source := filepath.Join(w.Root, "tests", "programs", "exchange.py")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, mark := range []string{"# receives", "# enters"} {
		before, _, _ := strings.Cut(string(text), mark)
		lines = append(lines, fmt.Sprintf("exchange.py:%d", strings.Count(before, "\n")+1))
		wants = append(wants, " at "+lines[len(lines)-1])
	}
	job := w.Hang(t, slices.Concat(launcher, []string{"-n", "2", python, source}), wants...)
	found, err := launch.Find(job.Process.Pid)
	if err != nil || len(found.Ranks) != 2 {
		t.Fatal(found, err)
	}
	args := []string{"dump", "--core", python}
	for _, r := range found.Ranks {
		core := filepath.Join(job.Dir, "core."+strconv.Itoa(r.PID))
		w.GDB(t, Process(r.PID), "generate-core-file "+core)
		args = append(args, core)
	}
	if shown := string(w.Shell(t, args...)); !containsAll(shown, lines) {
		t.Errorf("of the core files it says\n%s", shown)
	}
}

// Hang starts a job by a command line, and waits until the report on it has the parts that are wanted.
func (w *Workspace) Hang(t *testing.T, command []string, wants ...string) *exec.Cmd {
	t.Helper()
	job := exec.Command(command[0], command[1:]...)
	job.Dir = t.TempDir()
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = job.Process.Signal(syscall.SIGTERM)
		_ = job.Wait()
	})
	Until(t, "for the report that is expected", func() bool {
		_, report, _ := w.Try(t, "report", strconv.Itoa(job.Process.Pid)) // there may be no ranks yet
		return containsAll(report, wants)
	})
	return job
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
