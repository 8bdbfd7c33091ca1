//go:build live

package gdb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// With pml ucx each program's account must be what is shown of it, field by field, as
// far as UCX keeps it: with old and new protocols, live and in a core.
func TestUCX(t *testing.T) {
	t.Parallel()
	for _, protocols := range []string{"n", "y"} {
		t.Run("protocols "+protocols, func(t *testing.T) {
			for _, c := range []struct {
				program    string
				ranks      int
				transports string
				args       []string
			}{
				{"queues", 3, "all", nil},
				{"requests", 2, "all", nil},
				// Without CMA no rank fetches data from one that stays out of MPI: what has matched stays so.
				{"requests", 2, "^cma", nil},
				{"groups", 4, "all", nil},
				{"blocked", 3, "all", []string{"recv"}},
				{"blocked", 3, "all", []string{"send"}},
				{"blocked", 3, "all", []string{"ssend"}},
				{"blocked", 3, "all", []string{"barrier"}},
				{"blocked", 3, "all", []string{"waitall"}},
				{"many", 2, "all", []string{"100"}},
				{"many", 2, "all", []string{"100", "wild"}},
				{"many", 2, "all", []string{"100", "specific"}},
			} {
				if testing.Short() && c.program != "queues" && (c.program != "requests" || protocols == "y") {
					continue // the matrix has them all
				}
				t.Run(strings.Join(append([]string{c.program, c.transports}, c.args...), " "), func(t *testing.T) {
					t.Parallel()
					job := work.Start(t, c.program, c.ranks, append(live.OverUCX(protocols), "-x", "UCX_TLS="+c.transports), c.args...)
					for _, account := range job.Accounts {
						t.Run(account.Name, func(t *testing.T) { readUCX(t, job, account) })
					}
				})
			}
		})
	}
}

func readUCX(t *testing.T, job *live.Job, account *expect.Account) {
	core := filepath.Join(t.TempDir(), "core")
	for _, where := range job.Ways(account, core) {
		t.Run(where.Name, func(t *testing.T) {
			work.Record(t, result.Result{MPI: release(t) + ", pml ucx", Layout: "embedded tables", Check: where.Name, Outcome: "equal"})
			r := work.ReadOf(t, job, where, func(p expect.Object) []string { return expect.UCX().Compare(account, p) })
			if source := r.Process(t)["source"]; source != "native" {
				t.Errorf("source is %v", source)
			}
			r.Replays(t, work)
		})
	}
	_ = os.Remove(core)
}
