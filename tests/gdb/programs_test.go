//go:build live

package gdb

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// TestPrograms checks that what is shown of each process over shared memory is its program's account, field by field, however gdb
// looks at it, and that nothing is left unknown.
func TestPrograms(t *testing.T) {
	t.Parallel()
	row := live.Row{
		Workspace: work, Library: work.MPI.Library(t), ByServer: true,
		Result: result.Result{MPI: release(t), Layout: "embedded table", Outcome: "equal"},
		Shown:  map[string]any{"layout": "table", "layout_name": release(t)},
		Runs: func(p live.Program) bool {
			isLike := p.Is("blocked send", "blocked ssend", "many 100 wild", "many 100 specific") // another one of the list
			return p.Name != "sessions" && (!isLike || sample.ChosenIfShort(p.String(), 0, 4))
		},
		Check: func(t *testing.T, r *live.RowReading) {
			if r.Program.Name == "blocked" || r.Program.Name == "lifecycle" {
				sameKinds(t, r.Account, r.Process)
			}
			if notes, _ := r.Process["notes"].([]any); len(notes) > 0 {
				t.Errorf("notes: %v", notes)
			}
		},
	}
	live.EachProgram(t, row)
}

// await waits until a process that says ready just before it blocks has blocked, and
// the messages to it have come.
func await(t *testing.T, account *expect.Account) {
	t.Helper()
	var differences []string
	if !live.Soon(func() bool {
		process := document(t, live.Process(account.PID), "")
		live.InOrderOfTags(process)
		differences = expect.Compare(account, process)
		return len(differences) == 0
	}) {
		live.Report(t, differences)
	}
}

// sameKinds compares the calls that ranks are blocked in: their stacks tell a
// blocking call from the immediate one, which their requests do not.
func sameKinds(t *testing.T, account *expect.Account, process expect.Object) {
	t.Helper()
	for i, c := range account.Communicators {
		for _, queue := range expect.Queues[:2] {
			want, _ := expect.Operations(c, queue)
			got, _ := expect.Operations(expect.Communicators(process)[i], queue)
			for k := range min(len(want), len(got)) {
				if want[k]["kind"] != got[k]["kind"] {
					t.Errorf("%s: %s[%d]: kind is %v, want %v", account.Name, queue, k, got[k]["kind"], want[k]["kind"])
				}
			}
		}
	}
}
