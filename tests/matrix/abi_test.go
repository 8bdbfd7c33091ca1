//go:build matrix

package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// abiFolder has what the distribution's MPICH brings of MPI 5's ABI: mpi.h, with which programs for
// either MPI's library are compiled.
const abiFolder = "/usr/lib/x86_64-linux-gnu/mpi_abi_mpich"

// abiLibraries are the MPIs' own libraries of MPI 5's ABI, which go by one name.
var abiLibraries = []struct {
	mpi              live.MPI
	library, outcome string
	// hasHandles is false where the program that says what its handles are does not run: MPICH's
	// MPI_Win_allocate_shared ends a job over UCX.
	hasHandles bool
}{
	{live.OpenMPI, "libmpi_abi_openmpi.so.1.0.0", "equal", true},
	{live.StockMPICH, "libmpi_abi_mpich.so.1.0.0", "equal as far as kept", false},
}

// withABI is a workspace for an MPI's library of the ABI: programs are linked with the ABI's name, and
// find that MPI's library by it.
func withABI(t *testing.T, mpi live.MPI, library string) *live.Workspace {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(filepath.Dir(abiFolder), library), filepath.Join(folder, "libmpi_abi.so.1")); err != nil {
		t.Fatal(err)
	}
	mpi.Compiler = filepath.Join(folder, "compile")
	script := fmt.Sprintf("#!/bin/sh\nexec gcc -I%s/include \"$@\" -Wl,-rpath,%s %s/libmpi_abi.so.1\n", abiFolder, folder, folder)
	if err := os.WriteFile(mpi.Compiler, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := work.With("abi-"+mpi.Kind.MPI, mpi)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Of a program that is linked with the ABI's library of an MPI, what is shown is its account, field by
// field, live and in a core, and its handles are called by their names.
func TestABI(t *testing.T) {
	t.Parallel()
	for _, c := range abiLibraries {
		t.Run(c.mpi.Kind.MPI, func(t *testing.T) {
			w := withABI(t, c.mpi, c.library)
			library := w.MPI.Library(t)
			live.EachProgram(t, live.Row{
				Workspace: w, Library: library, CoreDiffers: true,
				Result: result.Result{MPI: w.MPI.Release(t) + ", MPI 5's ABI", Build: live.System(t) + ", stripped", Layout: "embedded tables", Outcome: c.outcome},
				Runs: func(p live.Program) bool {
					return p.Is("queues", "requests", "groups", "blocked recv", "blocked barrier")
				},
			})
			if !c.hasHandles {
				return
			}
			t.Run("handles", func(t *testing.T) {
				t.Parallel()
				p := live.HandlePrograms[0]
				job := w.Start(t, p.Source, p.Ranks, nil)
				account := job.Accounts[1]
				w.CompareHandles(t, p, job, account, live.Process(account.PID), 1, library.MayLack)
			})
		})
	}
}
