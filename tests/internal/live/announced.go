//go:build live || matrix || full

package live

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// AnnouncedJobs has gdb start a job, and fails the test unless its launcher, which has the MPIR interface, is told
// that it is debugged before it starts the ranks, and so are the ranks where their MPI has the variables
// named.
func (w *Workspace) AnnouncedJobs(t *testing.T, ranks []string) {
	t.Helper()
	program := w.Program(t, "tests/programs/ring.c")
	s := w.StartSession(t, Nothing())
	s.Do("file " + program)
	s.Do("break MPI_Comm_rank")
	command := fmt.Sprintf("%s -n 2 %s %s quiet", strings.Join(w.MPI.Launcher, " "), program, t.TempDir())
	out := s.Says("mpi-run "+command, "Attached 2 ranks of ", "inferiors 1-2 are ranks 0-1.", "Breakpoint 1")
	for _, name := range ranks {
		s.Says("print *(int *) &"+name, "= 1")
	}
	number := regexp.MustCompile(`\(process (\d+)\)`).FindStringSubmatch(out)
	pid, err := strconv.Atoi(number[1])
	if err != nil {
		t.Fatal(err)
	}
	if status, err := procfs.Host.Status(pid); err != nil || status.Tracer <= 0 {
		t.Errorf("nobody traces the launcher: %+v, %v", status, err)
	}
	// Its table is filled: it has been in MPIR_Breakpoint, or is about to.
	for name, want := range map[string]int64{"MPIR_being_debugged": 1, "MPIR_proctable_size": 2} {
		Until(t, name, func() bool { return variable(t, pid, name) == want })
	}
	s.Do("kill inferiors 1 2")
	s.Send("quit")
	s.End()
	Until(t, "for the launcher's end", func() bool {
		_, err := procfs.Host.Stat(pid)
		return err != nil
	})
}

// variable is an int of a process.
func variable(t testing.TB, pid int, name string) int64 {
	t.Helper()
	p, err := procmem.Open(pid, name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := inferior.NewReader(t.Context(), p)
	symbols, err := r.Symbols(name)
	symbol, ok := symbols[name]
	if err != nil || !ok {
		t.Fatalf("the launcher has no %s (%v)", name, err)
	}
	n, err := r.Int(symbol.Addr, 4)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
