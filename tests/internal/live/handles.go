//go:build live || matrix || full

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// HandleProgram is a program that says what its handles are.
type HandleProgram struct {
	Source string
	Ranks  int
	// Function has the variables.
	Function string
}

// HandlePrograms are in C, and in Fortran with each of its bindings.
var HandlePrograms = []HandleProgram{
	{"tests/programs/handles.c", 4, "main"},
	{"tests/programs/handles_mpif.F90", 2, "MAIN__"},
	{"tests/programs/handles_mpi.F90", 2, "MAIN__"},
	{"tests/programs/handles_f08.F90", 2, "MAIN__"},
}

// SessionProgram has sessions alone, and no MPI_COMM_WORLD.
var SessionProgram = HandleProgram{"tests/programs/sessions.c", 3, "main"}

// FailedProgram has a process that fails, which has the last rank, and goes on.
var FailedProgram = HandleProgram{"tests/programs/failed.c", 4, "main"}

// Survivors are the accounts of the processes that have not failed.
func (p HandleProgram) Survivors(job *Job) []*expect.Account { return job.Accounts[:p.Ranks-1] }

// CompareHandles asks for every n-th of the handles of a process, in one session, and fails the test
// where it is not what the program says. isUnknown is as in [expect.CompareHandle].
func (w *Workspace) CompareHandles(t *testing.T, p HandleProgram, job *Job, account *expect.Account, where Where, n int, isUnknown func(expression, path string) bool) {
	t.Helper()
	all, err := expect.LoadHandles(job.Folder, account)
	if err != nil {
		t.Fatal(err)
	}
	var entries []expect.HandleEntry
	for i := 0; i < len(all); i += n {
		entries = append(entries, all[i])
	}
	folder := t.TempDir()
	output := func(i int) string { return filepath.Join(folder, fmt.Sprint(i)) }
	commands := []string{"frame function " + p.Function}
	for i, e := range entries {
		command := "mpi-handle -json -output " + output(i)
		if e.Type != "" {
			command += " -type " + e.Type
		}
		commands = append(commands, command+" -- "+e.Expression)
	}
	said := w.GDB(t, where, commands...)
	var differences []string
	for i, e := range entries {
		text, err := os.ReadFile(output(i))
		if err != nil {
			differences = append(differences, fmt.Sprintf("%s: nothing is shown (%v)", e.Expression, err))
			continue
		}
		shown, err := expect.ParseHandle(text)
		if err != nil {
			t.Fatal(err)
		}
		differences = append(differences, expect.CompareHandle(&e, shown, isUnknown)...)
	}
	if Report(t, differences); t.Failed() {
		t.Logf("%.4000s", said.All())
	}
}
