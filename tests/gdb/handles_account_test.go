//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// handlePrograms are those that say what their handles are, and the function whose variables these are.
var handlePrograms = []struct {
	source, function string
	ranks            int
}{
	{"tests/programs/handles.c", "main", 4},
	{"tests/programs/handles_mpif.F90", "MAIN__", 2},
	{"tests/programs/handles_mpi.F90", "MAIN__", 2},
	{"tests/programs/handles_f08.F90", "MAIN__", 2},
}

// What is said of a handle is what the program says of it, in C and in Fortran, of a process and of a core.
func TestHandlesOfPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range handlePrograms {
		t.Run(filepath.Base(p.source), func(t *testing.T) {
			t.Parallel()
			job := work.Start(t, p.source, p.ranks, nil)
			for _, account := range job.Accounts {
				core := filepath.Join(t.TempDir(), "core")
				for _, where := range job.Ways(account, core, live.Remote(account.PID)) {
					t.Run(account.Name+" "+where.Name, func(t *testing.T) { compareHandles(t, job, account, where, p.function) })
				}
			}
		})
	}
}

// compareHandles asks for all handles of a process in one session.
func compareHandles(t *testing.T, job *live.Job, account *expect.Account, where live.Where, function string) {
	entries, err := expect.LoadHandles(job.Folder, account)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	output := func(i int) string { return filepath.Join(folder, fmt.Sprint(i)) }
	commands := []string{"frame function " + function}
	for i, e := range entries {
		command := "mpi-handle -json -output " + output(i)
		if e.Type != "" {
			command += " -type " + e.Type
		}
		commands = append(commands, command+" -- "+e.Expression)
	}
	said := work.GDB(t, where, commands...)
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
		differences = append(differences, expect.CompareHandle(&e, shown, func(string) bool { return false })...)
	}
	if live.Report(t, differences); t.Failed() {
		t.Logf("%.4000s", said.All())
	}
}
