//go:build matrix

package dap

import (
	"strings"
	"testing"
)

// A job is started from the debug console as in gdb.
func TestStartedJob(t *testing.T) {
	t.Parallel()
	program := work.Program(t, "tests/programs/started.c")
	e := work.Edit(t)
	e.Says("file " + program)
	says := func(command string, wanted ...string) {
		t.Helper()
		said := e.Says(command)
		for _, want := range wanted {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q:\n%s", command, want, said)
			}
		}
	}
	says("mpi-run -start "+strings.Join(append(work.MPI.Launcher, "-n", "3", program, t.TempDir(), "finish"), " "),
		"Attached 3 ranks of ", "inferiors 1-3 are ranks 0-2", "main (argc=3")
	says("mpi-ranks", "* 0 ", "main at started.c")
	says("mpi-continue", "[The launcher exited with code 07]")
}
