// Package recordings replays what `mpi-queues -record` has read of real jobs of
// tests/programs. Each folder has recordings of one library, which its case.json
// describes. Beside each NAME.mpiq stands NAME.txt, what is shown of it; "old" and
// "new" in a name are UCX's protocols. accounts.json.gz has what each program says it
// has done, and counts.json how much is known of the folder's processes.
package recordings

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

var update = flag.Bool("update", false, "write what is shown now beside the recordings")

// folders are those that have recordings.
func folders(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, file := range matches(t, "*/*.mpiq") {
		out = append(out, filepath.Dir(file))
	}
	return slices.Compact(out)
}

// files are the recordings of a folder.
func files(t *testing.T, folder string) []string { return matches(t, filepath.Join(folder, "*.mpiq")) }

func matches(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	return found
}

// TestMain lets the heap grow before it is collected: the tests make much that is soon unused, and hold little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

func TestReplays(t *testing.T) {
	for _, folder := range folders(t) {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			of, known, all, accounts := load(t, folder), counts{}, files(t, folder), accountsOf(t, folder)
			replayed := 0
			for _, file := range all {
				t.Run(filepath.Base(file), func(t *testing.T) {
					replayed++
					r := open(t, file)
					for _, p := range r.Processes {
						of.checkMachine(t, p.Info())
					}
					s := replay(t, r)
					var text bytes.Buffer
					if err := render.Text(&text, s, render.Style{}); err != nil {
						t.Fatal(err)
					}
					base := strings.TrimSuffix(file, ".mpiq")
					compare(t, base+".txt", text.Bytes())
					process := written(t, s)
					of.check(t, process)
					known.add(process)
					checkAccount(t, base, accounts[filepath.Base(base)], of.Library, s)
				})
			}
			if replayed == len(all) {
				known.check(t, filepath.Join(folder, "counts.json"))
			}
		})
	}
}

func replay(t *testing.T, r *recording.Recording) *mqs.Snapshot {
	t.Helper()
	s, err := r.Read(t.Context(), decoders.All, read.Filter{})
	if err != nil { // the only process can't be read
		s = read.Join([]*mqs.Process{read.Failed(r.Processes[0].Info(), err)})
	}
	return s
}

// written is the one process of a snapshot, as -json has it.
func written(t *testing.T, s *mqs.Snapshot) expect.Object {
	t.Helper()
	var doc bytes.Buffer
	if err := document.Write(&doc, s); err != nil {
		t.Fatal(err)
	}
	d, err := expect.ParseDocument(doc.Bytes())
	if err != nil || len(d.Processes) != 1 {
		t.Fatalf("not one process (%v) in\n%s", err, doc.Bytes())
	}
	return d.Processes[0]
}

// checkAccount holds what is shown against what the program has done, field by field: of most programs what is
// pending, of those whose handles stand beside the recording what they have made.
func checkAccount(t *testing.T, base string, text []byte, library expect.Library, s *mqs.Snapshot) {
	t.Helper()
	account, err := expect.ParseAccount(filepath.Base(base), text)
	if err != nil {
		t.Fatalf("the account of %s: %v", base, err)
	}
	// What a library does not tell a debugger, a live job's launcher has.
	s.Processes[0].Seat(number(t, account.GlobalRank), number(t, account.WorldSize), "")
	process := written(t, s)
	if entries := handlesOf(t, base); entries != nil {
		for _, difference := range expect.CompareListed(entries, process, library.MayLack) {
			t.Error(difference)
		}
		process["communicators"] = nil // of what is pending, such a program says nothing
	}
	for _, difference := range library.Fidelity().Compare(account, process) {
		t.Error(difference)
	}
}

// number is an account's number, unknown if it has none.
func number(t *testing.T, value any) mqs.Maybe[int32] {
	t.Helper()
	if value == nil {
		return mqs.Maybe[int32]{}
	}
	n, err := strconv.ParseInt(fmt.Sprint(value), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return mqs.Known(int32(n))
}

// compare holds a text against the file that has it, which -update writes.
func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: got\n%s", file, got)
	}
}
