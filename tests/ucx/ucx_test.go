//go:build matrix

package ucx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// With pml ucx each program's account must be what is shown of it, as far as UCX keeps it.
func TestOpenMPI(t *testing.T) {
	t.Parallel()
	for _, row := range work.RowsOverUCX(t, result.Result{Build: build(t, work)}) {
		row.Shown = map[string]any{"layout": "table", "layout_name": work.MPI.Release(t)}
		row.Check = func(t *testing.T, r *live.RowReading) {
			mapped(t, r.Account.PID, stripped)
			if got, want := fmt.Sprint(r.Process["notes"]), fmt.Sprint(notes(r.Process)); got != want {
				t.Errorf("notes are %s, want %s", got, want)
			}
		}
		live.EachProgram(t, row.Only(func(p live.Program) bool { // the others the distribution's UCX has
			return p.Is("queues", "requests", "blocked recv", "blocked send", "blocked ssend", "many 100")
		}))
	}
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
// with types by them; MPICH itself by its own table, where there is one.
func TestMPICH(t *testing.T) {
	t.Parallel()
	for folder, w := range mpich {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			layout, name, words := "table", "UCX "+release(t)[:strings.LastIndex(release(t), ".")]+" without assertions", "embedded tables"
			if folder == typed {
				layout, name, words = "dwarf", "", "UCX's DWARF"
			}
			if library := w.MPI.Library(t); library.Found {
				layout, name = "table", "MPICH "+library.Release
			}
			job := w.Start(t, "queues", 3, nil)
			mpi := w.MPI.Release(t)
			for _, account := range job.Accounts {
				t.Run(account.Name, func(t *testing.T) {
					mapped(t, account.PID, folder)
					w.Record(t, result.Result{MPI: mpi, Build: build(t, w), Layout: words, Check: "live", Outcome: "equal as far as kept"})
					document, err := expect.ParseDocument(w.Shell(t, "dump", "--json", fmt.Sprint(account.PID)))
					if err != nil || len(document.Processes) != 1 {
						t.Fatalf("%v: %v", err, document)
					}
					process := document.Processes[0]
					live.Report(t, w.MPI.Library(t).Fidelity().Compare(account, process))
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
