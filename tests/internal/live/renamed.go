//go:build live || matrix || full

package live

import (
	"fmt"
	"strings"
	"testing"
)

// CheckRenamed renames a communicator, a datatype and a window of a rank that runs the program handles, and checks that only
// their new names are shown from then on.
func (w *Workspace) CheckRenamed(t *testing.T) {
	t.Helper()
	show := []string{"print halo", "print particle", "print fenced", "mpi-handle particle", "mpi-comms", "mpi-windows", "mpi-queues"}
	commands := append([]string{"mpi-queues -output /dev/null", "frame function main"}, show...)
	var before, after []string
	for _, o := range []struct{ function, handle, variable, old, renamed string }{
		{"MPI_Comm_set_name", "MPI_Comm", "halo", "halo exchange", "new comm"},
		{"MPI_Type_set_name", "MPI_Datatype", "particle", "particle", "new type"},
		{"MPI_Win_set_name", "MPI_Win", "fenced", "fenced", "new win"},
	} {
		before, after = append(before, o.old), append(after, o.renamed)
		commands = append(commands, fmt.Sprintf("print ((int (*)(%s, const char *)) %s)(%s, %q)", o.handle, o.function, o.variable, o.renamed))
	}
	const renamed = "they are renamed"
	commands = append(append(commands, "echo "+renamed+`\n`), show...)
	job := w.Start(t, "handles", 4, nil)
	out := w.GDB(t, Process(job.Accounts[0].PID), commands...)
	first, second, _ := strings.Cut(out.Stdout, renamed)
	for i := range before {
		if !strings.Contains(first, before[i]) || strings.Contains(second, before[i]) || !strings.Contains(second, after[i]) {
			t.Errorf("%q was renamed to %q:\n%s", before[i], after[i], out.All())
		}
	}
}
