//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// Each program's account must be what is shown of it, field by field, however
// gdb looks at it; and what was recorded must replay to the same bytes.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program string
		ranks   int
		args    []string
	}{
		{"queues", 3, nil},
		{"requests", 2, nil},
		{"spawn", 2, nil},
		{"groups", 4, nil},
		{"blocked", 3, []string{"recv"}},
		{"blocked", 3, []string{"send"}},
		{"blocked", 3, []string{"ssend"}},
		{"blocked", 3, []string{"barrier"}},
		{"blocked", 3, []string{"waitall"}},
		{"lifecycle", 2, []string{"threads"}},
		{"many", 2, []string{"100"}},
		{"many", 2, []string{"100", "wild"}},
		{"many", 2, []string{"100", "specific"}},
	} {
		if last := len(c.args) - 1; testing.Short() && last >= 0 && slices.Contains([]string{"send", "ssend", "wild", "specific"}, c.args[last]) {
			continue // the matrix has them all
		}
		t.Run(strings.Join(append([]string{c.program}, c.args...), " "), func(t *testing.T) {
			t.Parallel()
			job := work.Start(t, c.program, c.ranks, nil, c.args...)
			for _, account := range job.Accounts {
				t.Run(account.Name, func(t *testing.T) { readEveryWay(t, job, account) })
			}
		})
	}
}

// await waits until a process that says ready just before it blocks has blocked, and
// the messages to it have come.
func await(t *testing.T, account *expect.Account) {
	t.Helper()
	var differences []string
	if !live.Soon(func() bool {
		process := document(t, live.Process(account.PID), "")
		inOrderOfTags(process)
		differences = expect.Compare(account, process)
		return len(differences) == 0
	}) {
		live.Report(t, differences)
	}
}

func readEveryWay(t *testing.T, job *live.Job, account *expect.Account) {
	core := filepath.Join(t.TempDir(), "core")
	blocking := strings.HasSuffix(job.Program, "blocked") || strings.HasSuffix(job.Program, "lifecycle")
	var first string
	for _, where := range job.Ways(account, core, live.Remote(account.PID)) {
		t.Run(where.Name, func(t *testing.T) {
			work.Record(t, result.Result{MPI: release(t), Layout: "embedded table", Check: where.Name, Outcome: "equal"})
			r := work.ReadOf(t, job, where, func(process expect.Object) []string {
				if blocking {
					inOrderOfTags(process)
				}
				return expect.Compare(account, process)
			})
			process := r.Process(t)
			if blocking {
				inOrderOfTags(process)
				sameKinds(t, account, process)
			}
			for key, want := range map[string]any{"mpi": "Open MPI", "source": "native", "layout": "table", "layout_name": release(t), "image": job.Program} {
				if process[key] != want {
					t.Errorf("%s is %v, want %v", key, process[key], want)
				}
			}
			if notes, _ := process["notes"].([]any); len(notes) > 0 {
				t.Errorf("notes: %v", notes)
			}
			// However gdb looks at it, it is the same.
			if text := lasting(string(r.Text)); first == "" {
				first = text
			} else if text != first {
				t.Errorf("the text differs from that of the live process:\n%s\nlive:\n%s", text, first)
			}
		})
	}
	_ = os.Remove(core)
}

// lasting leaves out the numbers of threads, which gdbserver gives in an order of its own, and what
// one does outside MPI, which changes between two looks.
func lasting(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "Thread "); ok {
			_, rest, _ = strings.Cut(rest, " ")
			line = "Thread " + rest
		}
		if where, _, outside := strings.Cut(line, ", outside MPI"); outside {
			line = where + ", outside MPI\n"
		}
		b.WriteString(line)
	}
	return b.String()
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

// inOrderOfTags sorts the receives of two threads, which stand in no certain order.
func inOrderOfTags(process expect.Object) {
	for _, c := range expect.Communicators(process) {
		if ops, _ := c["pending_receives"].([]any); len(ops) == 2 {
			tag := func(i int) string { return fmt.Sprint(ops[i].(map[string]any)["desired_tag"]) }
			if tag(0) > tag(1) {
				ops[0], ops[1] = ops[1], ops[0]
			}
		}
	}
}
