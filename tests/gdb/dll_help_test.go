//go:build live

package gdb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/dll/testdll"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// The DLLs are built below the workspace's folder, each when it is first asked for.
var dlls = sync.OnceValue(func() *testdll.Set { return testdll.In(work.Folder) })

// trusting are the commands that have gdb read queues through a DLL of the
// tests, wherever TMPDIR is; path may be empty, for gdb to find it.
func trusting(path string) []string {
	commands := []string{"set mpi-queues dll-safe-path " + work.Folder, "set mpi-queues source dll"}
	if path != "" {
		commands = append(commands, "set mpi-queues dll "+path)
	}
	return commands
}

// startToy starts a process of the toy MPI that names a DLL. kind is a variant
// of tests/dll/toy.c: "toy", "toy_pointer", …
func startToy(t testing.TB, kind, dll string, args ...string) *live.Job {
	t.Helper()
	return work.Start(t, filepath.Join("tests", "dll", kind+".c"), 0, nil, append([]string{dll}, args...)...)
}

// readJSON runs commands in one gdb and parses what the last of them, a
// `mpi-queues -json`, writes.
func readJSON(t testing.TB, where live.Where, commands ...string) expect.Object {
	t.Helper()
	file := filepath.Join(t.TempDir(), "json")
	out := work.GDB(t, where, append(commands, "mpi-queues -json -output "+file)...)
	out.Lacks(t, "Traceback")
	return parseJSON(t, file, out.All())
}

func parseJSON(t testing.TB, file, said string) expect.Object {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("mpi-queues wrote nothing; gdb says:\n%s", said)
	}
	d, err := expect.ParseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Processes) != 1 {
		t.Fatalf("the document has %d processes, want 1:\n%s", len(d.Processes), text)
	}
	return d.Processes[0]
}

// sitAtToy sits at a gdb that reads a toy process through DLLs.
func sitAtToy(t testing.TB, job *live.Job, path string) *live.Session {
	t.Helper()
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	for _, c := range trusting(path) {
		s.Do(c)
	}
	return s
}

// toyCommunicators is what must be shown of a toy process, as its authors wrote
// it down: tests/dll/toy.json.
func toyCommunicators(t testing.TB) []expect.Object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdll.Source(), "toy.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file expect.Object
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return expect.Communicators(file)
}

// takeCalls takes the communicator "calls" out of a process: the reference
// DLL's account of the entry points called and of the checks that failed.
func takeCalls(t testing.TB, process expect.Object) (others []expect.Object, calls, failures []string) {
	t.Helper()
	found := false
	for _, c := range expect.Communicators(process) {
		if c["name"] != "calls" {
			others = append(others, c)
			continue
		}
		found = true
		calls, failures = texts(c, "pending_sends"), texts(c, "pending_receives")
	}
	if !found {
		t.Fatalf("the reference DLL's communicator \"calls\" is not shown: %s", show(process))
	}
	return others, calls, failures
}

// texts are the extra texts of a queue's operations, an element for each.
func texts(c expect.Object, queue string) []string {
	var out []string
	ops, _ := expect.Operations(c, queue)
	for _, op := range ops {
		text := ""
		lines, _ := op["extra_text"].([]any)
		for _, line := range lines {
			text += fmt.Sprint(line)
		}
		out = append(out, text)
	}
	return out
}

// notesOf are the notes of a process, in one text.
func notesOf(process expect.Object) string {
	notes, _ := process["notes"].([]any)
	var text strings.Builder
	for _, n := range notes {
		fmt.Fprintln(&text, n)
	}
	return text.String()
}

// differences says how got lacks what want has: members that want leaves out may
// be anything, lists are as long as they are.
func differences(where string, want, got any) []string {
	switch want := plain(want).(type) {
	case map[string]any:
		got, ok := plain(got).(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %s, want %s", where, show(got), show(want))}
		}
		var out []string
		for key, w := range want {
			if g, ok := got[key]; ok {
				out = append(out, differences(where+"."+key, w, g)...)
			} else {
				out = append(out, where+" has no "+key)
			}
		}
		if len(want) == 0 && len(got) > 0 {
			out = append(out, fmt.Sprintf("%s is %s, want none", where, show(got)))
		}
		return out
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return []string{fmt.Sprintf("%s is %s, want %s", where, show(got), show(want))}
		}
		var out []string
		for i := range want {
			out = append(out, differences(fmt.Sprintf("%s[%d]", where, i), want[i], list[i])...)
		}
		return out
	default:
		if show(want) != show(got) {
			return []string{fmt.Sprintf("%s is %s, want %s", where, show(got), show(want))}
		}
		return nil
	}
}

func plain(v any) any {
	if o, ok := v.(expect.Object); ok {
		return map[string]any(o)
	}
	return v
}

// show writes a value as JSON has it, cut to what a message can hold.
func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 600
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// compareToy fails the test where communicators are not those of toy.json.
func compareToy(t testing.TB, want, got []expect.Object) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d communicators are shown, want %d: %s", len(got), len(want), show(got))
	}
	var all []string
	for i := range min(len(got), len(want)) {
		all = append(all, differences(fmt.Sprintf("communicator %s", show(want[i]["name"])), want[i], got[i])...)
	}
	live.Report(t, all)
}
