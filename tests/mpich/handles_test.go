//go:build matrix

package mpich

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// What is said of a handle is what the program says of it, in C and, by the build that has it, in Fortran.
func TestHandles(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		for _, p := range append(live.HandlePrograms, live.SessionProgram) {
			if strings.HasSuffix(p.Source, ".F90") && v.work.MPI.Fortran == "" {
				continue
			}
			t.Run(v.Name+" "+filepath.Base(p.Source), func(t *testing.T) {
				t.Parallel()
				job := v.work.Start(t, p.Source, p.Ranks, nil)
				for _, account := range job.Accounts {
					core := filepath.Join(t.TempDir(), "core")
					for _, where := range job.Ways(account, core) {
						t.Run(account.Name+" "+where.Name, func(t *testing.T) {
							v.work.CompareHandles(t, p, job, account, where, 1, v.work.MPI.Library(t).MayLack)
						})
					}
				}
			})
		}
	}
}

// Of a job that goes on without a process, the communicators say who has failed, and which of them are revoked.
func TestFailed(t *testing.T) {
	t.Parallel()
	p := live.FailedProgram
	for _, v := range variants {
		if v.IsCH4() {
			continue // it can't go on
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			job := v.work.Start(t, p.Source, p.Ranks, []string{"-disable-auto-cleanup", "-genv", "MPIR_CVAR_ENABLE_FT", "1"})
			for _, account := range p.Survivors(job) {
				for _, where := range job.Ways(account, filepath.Join(t.TempDir(), "core")) {
					t.Run(account.Name+" "+where.Name, func(t *testing.T) {
						v.work.CompareHandles(t, p, job, account, where, 1, v.work.MPI.Library(t).MayLack)
					})
				}
			}
		})
	}
}

// gdb prints variables as what they stand for, all of them by one request.
func TestVariables(t *testing.T) {
	t.Parallel()
	p := live.HandlePrograms[0]
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			job := v.work.Start(t, p.Source, p.Ranks, nil)
			out := v.work.GDB(t, live.Process(job.Accounts[1].PID), "set mpi-queues debug on", "mpi-queues -output /dev/null",
				"frame function "+p.Function, "info locals", "print halo")
			out.Contains(t, `halo = MPI_COMM "halo exchange" (rank 1 of 4)`, "zero_comm = MPI_COMM 0x0 (not valid)", "integer = MPI_INT",
				"column = MPI_DATATYPE (vector 3 of 2 MPI_DOUBLE stride 100, 48 bytes)", `created = MPI_WIN "ghost cells" (rank 1 of 4)`,
				"sum = MPI_SUM", `$1 = MPI_COMM "halo exchange" (rank 1 of 4)`)
			if n := strings.Count(out.All(), " round trips, "); n != 2 {
				t.Errorf("there are %d requests, that for the queues included", n)
			}
		})
	}
}
