//go:build live || matrix || full

package live

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// Reading is what one gdb was made to write about a process.
type Reading struct {
	Output
	// JSON and Text are what mpi-queues wrote with -json and without.
	JSON, Text []byte

	recording string // the path of a recording made with the text, empty if none was made
}

// Read reads a process as JSON and as text.
func (w *Workspace) Read(t testing.TB, where Where) *Reading {
	t.Helper()
	return w.read(t, where, "")
}

// ReadRecorded does the same and records it, for [Reading.Replays].
func (w *Workspace) ReadRecorded(t testing.TB, where Where) *Reading {
	t.Helper()
	return w.read(t, where, filepath.Join(t.TempDir(), "recording"))
}

func (w *Workspace) read(t testing.TB, where Where, recording string) *Reading {
	t.Helper()
	folder := t.TempDir()
	asJSON, asText := filepath.Join(folder, "json"), filepath.Join(folder, "text")
	text := "mpi-queues -limit unlimited -output " + asText
	if recording != "" {
		text += " -record " + recording
	}
	r := &Reading{Output: w.GDB(t, where, "mpi-queues -json -output "+asJSON, text), recording: recording}
	for path, to := range map[string]*[]byte{asJSON: &r.JSON, asText: &r.Text} {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		*to = data
	}
	return r
}

// Ways are those in which a process of a job is read: as it runs, and the first of each
// world from the core file that gdb makes of it first, too, and in the other ways.
func (j *Job) Ways(account *expect.Account, core string, others ...Where) []Where {
	ways := []Where{Process(account.PID)}
	if account.Name == "rank-0" || account.Name == "child-0" {
		ways[0].After = []string{"generate-core-file " + core}
		ways = append(append(ways, others...), Core(j.Program, core))
	}
	return ways
}

// recorded is the program of each row whose reads are recorded, and replayed: that a replay is equal to what was recorded, the
// recordings of tests/recordings show.
const recorded = "queues"

// ReadOf reads a process of a job, and fails the test with its differences from what it must show. A program that says ready
// just before it blocks may not have blocked yet when it is looked at first, and messages to it may be on their way. One
// program of each row is recorded, too, and the replay compared.
func (w *Workspace) ReadOf(t testing.TB, job *Job, where Where, differences func(expect.Object) []string) *Reading {
	t.Helper()
	program, read := filepath.Base(job.Program), w.Read
	if program == recorded {
		read = w.ReadRecorded
	}
	for patience := newPatience(Patience); ; {
		r := read(t, where)
		differ := differences(r.Process(t))
		if len(differ) == 0 || where.Name != "live" || !settles(program) || patience.isOver() {
			Report(t, differ)
			if r.recording != "" {
				r.Replays(t, w)
			}
			return r
		}
	}
}

// settles reports whether a program's ranks say that they are ready before they block.
func settles(program string) bool { return program == "blocked" || program == "lifecycle" }

// Process returns the one process of the reading's document.
func (r *Reading) Process(t testing.TB) expect.Object {
	t.Helper()
	if r.JSON == nil {
		t.Fatalf("mpi-queues wrote nothing; gdb says:\n%s", r.All())
	}
	d, err := expect.ParseDocument(r.JSON)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Processes) != 1 {
		t.Fatalf("the document has %d processes, want 1", len(d.Processes))
	}
	return d.Processes[0]
}

// Agrees fails the test where the reading differs from the account.
func (r *Reading) Agrees(t testing.TB, account *expect.Account) {
	t.Helper()
	Report(t, expect.Compare(account, r.Process(t)))
}

// Report fails the test with differences, the first of them in full.
func Report(t testing.TB, differences []string) {
	t.Helper()
	const most = 12
	if len(differences) > most {
		t.Errorf("%d differences; the first %d:", len(differences), most)
		differences = differences[:most]
	}
	if len(differences) > 0 {
		t.Error("\n  " + strings.Join(differences, "\n  "))
	}
}

// Replays fails the test where a shell shows other than gdb did from what gdb recorded.
func (r *Reading) Replays(t testing.TB, w *Workspace) {
	t.Helper()
	for _, way := range []struct {
		name string
		args []string
		want []byte
	}{
		{"JSON", []string{"replay", "--json", r.recording}, r.JSON},
		{"text", []string{"replay", r.recording}, r.Text},
	} {
		if got := w.Shell(t, way.args...); !bytes.Equal(got, way.want) {
			t.Errorf("%s of the replay differs from gdb's in %s", way.name, FirstDifference(got, way.want))
		}
	}
}

// FirstDifference tells of the first line in which a replay is not what gdb has shown.
func FirstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "\n  replay: " + g[i] + "\n  gdb:    " + w[i]
		}
	}
	return "length"
}
