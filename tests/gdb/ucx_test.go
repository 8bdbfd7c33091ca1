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

// ucxFlags are mpirun's for pml ucx on a machine without a network for it, with UCX's
// old protocols or its new ones.
func ucxFlags(protocols string) []string {
	return []string{"--mca", "pml", "ucx", "--mca", "osc", "^ucx",
		"--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any", "-x", "UCX_RNDV_THRESH=8192", "-x", "UCX_PROTO_ENABLE=" + protocols}
}

// With pml ucx each program's account must be what is shown of it, field by field, as
// far as UCX keeps it: with old and new protocols, live and in a core.
func TestUCX(t *testing.T) {
	for _, protocols := range []string{"n", "y"} {
		t.Run("protocols "+protocols, func(t *testing.T) {
			for _, c := range []struct {
				program string
				ranks   int
				args    []string
			}{
				{"queues", 3, nil},
				{"requests", 2, nil},
				{"groups", 4, nil},
				{"blocked", 3, []string{"recv"}},
				{"blocked", 3, []string{"send"}},
				{"blocked", 3, []string{"ssend"}},
				{"blocked", 3, []string{"barrier"}},
				{"blocked", 3, []string{"waitall"}},
				{"many", 2, []string{"100"}},
				{"many", 2, []string{"100", "wild"}},
				{"many", 2, []string{"100", "specific"}},
			} {
				t.Run(strings.Join(append([]string{c.program}, c.args...), " "), func(t *testing.T) {
					t.Parallel()
					job := work.Start(t, c.program, c.ranks, ucxFlags(protocols), c.args...)
					if c.program == "blocked" {
						for _, account := range job.Accounts {
							await(t, expect.UCX(), account)
						}
						job.Pause(t)
					}
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
	for _, where := range []live.Where{live.Process(account.PID), live.Core(job.Program, core)} {
		t.Run(where.Name, func(t *testing.T) {
			var after []string
			if where.Name == "live" {
				after = append(after, "generate-core-file "+core)
			}
			work.Record(t, result.Result{MPI: release(t) + ", pml ucx", Layout: "embedded tables", Check: where.Name, Outcome: "equal"})
			r := work.Read(t, where, after...)
			process := r.Process(t)
			live.Report(t, expect.UCX().Compare(account, process))
			if process["source"] != "native" {
				t.Errorf("source is %v", process["source"])
			}
			r.Replays(t, work)
		})
	}
	_ = os.Remove(core)
}
