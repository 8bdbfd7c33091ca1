//go:build matrix

package mpich

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// Each program's account must be what is shown of it, field by field, as far as
// the build keeps it, live and in a core; and what was recorded must replay to
// the same bytes. The modes of a program take turns with the builds.
func TestPrograms(t *testing.T) {
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			for i, c := range []struct {
				program string
				ranks   int
				args    []string
			}{
				{"queues", 3, nil},
				{"requests", 2, nil},
				{"spawn", 2, nil},
				{"groups", 4, nil},
				{"sessions", 3, nil},
				{"blocked", 3, []string{"recv"}},
				{"blocked", 3, []string{"send"}},
				{"blocked", 3, []string{"ssend"}},
				{"blocked", 3, []string{"barrier"}},
				{"many", 2, []string{"100"}},
				{"many", 2, []string{"100", "wild"}},
				{"many", 2, []string{"100", "specific"}},
			} {
				if v.IsOverUCX() && c.program == "spawn" {
					continue // MPI_Comm_spawn ends the job over UCX
				}
				if len(c.args) > 0 && !v.inTurn(i) && !sample.Whole() {
					continue
				}
				t.Run(strings.Join(append([]string{c.program}, c.args...), " "), func(t *testing.T) {
					t.Parallel()
					v.readAll(t, c.program, c.ranks, c.args...)
				})
			}
		})
	}
}

// readAll starts a program and reads each rank that has written an account.
func (v *variant) readAll(t *testing.T, program string, ranks int, args ...string) {
	job := v.work.Start(t, program, ranks, nil, args...)
	for _, account := range job.Accounts {
		t.Run(account.Name, func(t *testing.T) { v.read(t, job, account) })
	}
}

func (v *variant) compare(account *expect.Account, process expect.Object) []string {
	return v.work.MPI.Kind.Fidelity().Compare(account, process)
}

func (v *variant) read(t *testing.T, job *live.Job, account *expect.Account) {
	core := filepath.Join(t.TempDir(), "core")
	var first string
	for _, where := range job.Ways(account, core) {
		t.Run(where.Name, func(t *testing.T) {
			v.record(t, where.Name, "equal")
			r := v.work.ReadOf(t, job, where, func(p expect.Object) []string { return v.compare(account, p) })
			process := r.Process(t)
			layout := "dwarf"
			if v.isStripped {
				layout = "table"
			}
			for key, want := range map[string]any{"mpi": "MPICH", "source": "native", "layout": layout, "image": job.Program} {
				if process[key] != want {
					t.Errorf("%s is %v, want %v", key, process[key], want)
				}
			}
			if first == "" {
				first = string(r.Text)
			} else if string(r.Text) != first {
				t.Errorf("the text differs from that of the live process:\n%s\nlive:\n%s", r.Text, first)
			}
		})
	}
	_ = os.Remove(core)
}
