//go:build matrix

package ucx

import (
	"fmt"
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
func TestOpenMPI(t *testing.T) {
	for _, protocols := range []string{"n", "y"} {
		t.Run("protocols "+protocols, func(t *testing.T) {
			for _, c := range []struct {
				program    string
				ranks      int
				transports string // UCX's
				args       []string
			}{
				{"queues", 3, "all", nil},
				{"requests", 2, "all", nil},
				{"requests", 2, "^cma", nil}, // so that data can't be fetched from a rank that stays out of MPI
				{"blocked", 3, "all", []string{"recv"}},
				{"blocked", 3, "all", []string{"send"}},
				{"blocked", 3, "all", []string{"ssend"}},
				{"many", 2, "all", []string{"100"}},
			} {
				t.Run(strings.Join(append([]string{c.program, c.transports}, c.args...), " "), func(t *testing.T) {
					t.Parallel()
					flags := append(live.OverUCX(protocols), "-x", "UCX_TLS="+c.transports)
					job := work.Start(t, c.program, c.ranks, flags, c.args...)
					for _, account := range job.Accounts {
						t.Run(account.Name, func(t *testing.T) { read(t, job, account) })
					}
				})
			}
		})
	}
}

func read(t *testing.T, job *live.Job, account *expect.Account) {
	mapped(t, account.PID, stripped)
	core := filepath.Join(t.TempDir(), "core")
	mpi := work.MPI.Release(t)
	for _, where := range job.Ways(account, core) {
		t.Run(where.Name, func(t *testing.T) {
			record(t, work, result.Result{MPI: mpi + ", pml ucx", Layout: "embedded tables", Check: where.Name, Outcome: "equal"})
			r := work.ReadOf(t, job, where, func(p expect.Object) []string { return expect.UCX().Compare(account, p) })
			process := r.Process(t)
			for key, want := range map[string]any{"mpi": "Open MPI", "source": "native", "layout": "table", "layout_name": mpi, "image": job.Program} {
				if process[key] != want {
					t.Errorf("%s is %v, want %v", key, process[key], want)
				}
			}
			if got, want := fmt.Sprint(process["notes"]), fmt.Sprint(notes(process)); got != want {
				t.Errorf("notes are %s, want %s", got, want)
			}
			r.Replays(t, work)
		})
	}
	_ = os.Remove(core)
}

// notes are what must be said of a process: of several sends on a communicator, that
// they are in no order.
func notes(process expect.Object) []string {
	for _, c := range expect.Communicators(process) {
		if sends, _ := expect.Operations(c, "pending_sends"); len(sends) > 1 {
			return []string{"UCX keeps no order of sends: they stand in that of their requests in memory"}
		}
	}
	return nil
}

// Beneath the distribution's MPICH the same libraries are read by the embedded tables, those
// with types by them.
func TestMPICH(t *testing.T) {
	for folder, w := range mpich {
		t.Run(folder, func(t *testing.T) {
			layout, name, words := "table", "UCX "+release(t)[:strings.LastIndex(release(t), ".")]+" without assertions", "embedded tables"
			if folder == typed {
				layout, name, words = "dwarf", "", "UCX's DWARF"
			}
			job := w.Start(t, "queues", 3, nil)
			mpi := w.MPI.Release(t)
			for _, account := range job.Accounts {
				t.Run(account.Name, func(t *testing.T) {
					mapped(t, account.PID, folder)
					record(t, w, result.Result{MPI: mpi, Layout: words, Check: "live", Outcome: "equal as far as kept"})
					document, err := expect.ParseDocument(w.Shell(t, "dump", "--json", fmt.Sprint(account.PID)))
					if err != nil || len(document.Processes) != 1 {
						t.Fatalf("%v: %v", err, document)
					}
					process := document.Processes[0]
					live.Report(t, expect.StockMPICH(!strings.HasPrefix(mpi, "MPICH 4.0.")).Compare(account, process))
					for key, want := range map[string]any{"mpi": "MPICH", "source": "native", "layout": layout, "layout_name": orNull(name)} {
						if process[key] != want {
							t.Errorf("%s is %v, want %v", key, process[key], want)
						}
					}
				})
			}
		})
	}
}

// orNull is what JSON has for a name that may be missing.
func orNull(name string) any {
	if name == "" {
		return nil
	}
	return name
}
