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
)

// A recording of what only a DLL can read shows the same without the DLL.
func TestReplayOfDLL(t *testing.T) {
	t.Parallel()
	dll := dlls().Reference(t)
	job := startToy(t, "toy", dll)
	for _, source := range []string{"dll", "auto", "both", "native"} {
		t.Run(source, func(t *testing.T) {
			replays(t, live.Process(job.Accounts[0].PID), "", append(trusting(""), "set mpi-queues source "+source)...)
		})
	}
	// What the DLL does wrong is shown again too.
	for _, fault := range []string{"crash mqs_setup_image", "answer mqs_setup_process", "crash mqs_next_operation"} {
		t.Run(fault, func(t *testing.T) {
			name, entry, _ := strings.Cut(fault, " ")
			replays(t, live.Process(job.Accounts[0].PID), "", trusting(dlls().Rogue(t, name, entry, "-DANSWER=-7"))...)
		})
	}
}

// So does one of a process that both can read.
func TestReplayOfBoth(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "queues", 3, nil)
	for _, source := range []string{"both", "dll"} {
		t.Run(source, func(t *testing.T) {
			replays(t, live.Process(job.Accounts[0].PID), "", "set mpi-queues source "+source)
		})
	}
	// And one of several processes, of which gdb can't read one.
	t.Run("several", func(t *testing.T) {
		replays(t, live.Process(job.Accounts[0].PID), "-all", "set non-stop off", "add-inferior -exec "+job.Program, "inferior 2",
			fmt.Sprintf("attach %d", job.Accounts[1].PID))
	})
}

// A recording says the same of the handles in variables as gdb does.
func TestReplayOfHandles(t *testing.T) {
	t.Parallel()
	p := live.HandlePrograms[0]
	job := work.Start(t, p.Source, p.Ranks, nil)
	entries, err := expect.LoadHandles(job.Folder, job.Accounts[0])
	if err != nil {
		t.Fatal(err)
	}
	entries = slices.DeleteFunc(entries, func(e expect.HandleEntry) bool { return e.Type != "" || e.IsGone() })
	folder := t.TempDir()
	file := func(i int) string { return filepath.Join(folder, fmt.Sprint(i)) }
	commands := []string{"frame function " + p.Function, "mpi-queues -output /dev/null -record " + file(-1)}
	for i, e := range entries {
		commands = append(commands, fmt.Sprintf("mpi-handle -json -output %s -- %s", file(i), e.Expression))
	}
	out := work.GDB(t, live.Process(job.Accounts[0].PID), commands...)
	for i, e := range entries {
		want, err := os.ReadFile(file(i))
		if err != nil {
			t.Fatalf("%v\n%s", err, out.All())
		}
		shown, err := expect.ParseHandle(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := work.Shell(t, "replay", file(-1), "--handle", fmt.Sprint(shown["value"]), "--type", e.Kind(), "--json"); string(got) != string(want) {
			t.Errorf("of %s the replay differs from gdb in %s", e.Expression, live.FirstDifference(got, want))
		}
	}
}

// replays fails the test where a shell shows other than gdb from what gdb has recorded.
func replays(t *testing.T, where live.Where, options string, commands ...string) {
	t.Helper()
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	commands = append(commands, "set mpi-queues limit unlimited",
		fmt.Sprintf("mpi-queues %s -record %s -output %s", options, file("recording"), file("text")))
	out := work.GDB(t, where, commands...)
	out.Lacks(t, "Traceback")
	want, err := os.ReadFile(file("text"))
	if err == nil {
		if got := work.Shell(t, "replay", file("recording")); string(got) != string(want) {
			t.Errorf("the replay differs from gdb in %s", live.FirstDifference(got, want))
		}
		return
	}
	// gdb had an error, which the replay has too.
	got := work.ShellError(t, "replay", file("recording"))
	if first, _, _ := strings.Cut(got, "\n"); first == "" || !strings.Contains(out.Stderr, strings.TrimPrefix(first, "mpi-queues: ")) {
		t.Errorf("the replay says\n%s\nand gdb\n%s", got, out.Stderr)
	}
}
