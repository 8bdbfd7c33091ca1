package main

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

func TestRender(t *testing.T) {
	open := result.Result{MPI: "Open MPI 5", Build: "stripped", Debugger: "gdb 2", Layout: "table", Check: "live", Outcome: "equal"}
	dll := open
	dll.Check, dll.Outcome = "own DLL", "known differences"
	failed := dll
	failed.Failed = true
	other := result.Result{MPI: "MPICH 4", Build: "stripped", Debugger: "gdb 2", Layout: "–", Check: "live", Outcome: "says why not"}
	want := `| MPI | build | debugger | read by | live | core file | gdbserver | its own DLL | its own tests | DAP |
|---|---|---|---|---|---|---|---|---|---|
| MPICH 4 | stripped | gdb 2 | – | says why not | – | – | – | – | – |
| Open MPI 5 | stripped | gdb 2 | table | equal | – | – | FAILED; known differences | – | – |
`
	if got := render([]result.Result{open, dll, open, failed, other}); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestAlike(t *testing.T) {
	const row = "| Open MPI 6.0.0rc2 | Debian forky/sid | gdb 18.1, Python 3.14 | equal |"
	for other, want := range map[string]bool{
		"| Open MPI 6.0.1 | Debian forky/sid | gdb 18.2, Python 3.14 | equal |":     true,
		"| Open MPI 6.0.0rc2 | Debian forky/sid | gdb 18.1, Python 3.14 | FAILED |": false,
		"| Open MPI 6.0.0rc2 | Debian forky/sid | gdb 18.1, no Python | equal |":    false,
	} {
		if alike(row, other) != want {
			t.Errorf("%s: %v", other, !want)
		}
	}
}
