//go:build live || matrix || full

package live

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// SpawnedRanks has gdb start a job of two ranks that spawns another of two (MPI_Comm_spawn), with a command before their
// program. It fails the test unless gdb shows the queues of both jobs, and the intercommunicator between them. If the spawned
// ranks do not become inferiors by themselves, they must run on without a debugger until `mpi-attach' is given one of them.
func (w *Workspace) SpawnedRanks(t *testing.T, becomeInferiors bool, command ...string) {
	program, folder := w.Program(t, "tests/programs/spawn.c"), t.TempDir()
	s := w.StartSession(t, Nothing())
	s.Do("file " + program)
	words := slices.Concat(w.MPI.Launcher, w.options(t, "tests/programs/spawn.c"), []string{"-n", "2", program, folder}, command)
	s.Send("mpi-run " + strings.Join(words, " "))
	s.Await("Attached 2 ranks of ")
	if becomeInferiors {
		s.Await("inferiors 3-4 are ranks 0-1.")
	}
	Until(t, "for both jobs", func() bool {
		ready, err := filepath.Glob(filepath.Join(folder, "ready-*"))
		return err == nil && len(ready) == 4
	})
	child := 0
	for rank := range 2 {
		account, err := expect.Load(filepath.Join(folder, fmt.Sprintf("child-%d.json", rank)))
		if err != nil {
			t.Fatal(err)
		}
		child = account.PID
		if status, err := procfs.Host.Status(child); err != nil || (status.Tracer == s.PID()) != becomeInferiors {
			t.Errorf("gdb is %d; spawned rank %d, process %d: %+v, %v", s.PID(), rank, child, status, err)
		}
	}
	s.Type("\x03")
	s.Await(Prompt)
	if !becomeInferiors {
		s.Says("mpi-ranks", "* 0 ", "  1 ")
		s.Says(fmt.Sprint("mpi-attach ", child), "Attached 2 ranks of ", "inferiors 3-4 are ranks 0-1")
	}
	out := s.Do("mpi-queues -all")
	for text, want := range map[string]int{
		"Rank 0 of 2, process ": 2, "Rank 1 of 2, process ": 2,
		"\nto the others (": 4, ": rank 1 of 2, an intercommunicator with a remote group of 2": 2, "\nfamily (": 4,
	} {
		if got := strings.Count(strings.ReplaceAll(out, "\r", ""), text); got != want {
			t.Errorf("gdb says %q %d times, not %d:\n%s", text, got, want, out)
		}
	}
	s.Do("kill inferiors 1 2 3 4")
	s.Send("quit")
	s.End()
	NothingRuns(t, program, folder)
}
