//go:build live

package gdb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// Where there are no queues to show, the user reads why, in every way of
// looking, and a recording of it says the same.
func TestNoQueues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program string
		ranks   int
		args    []string
		mpi     string
		reason  string
	}{
		{"lifecycle", 2, []string{"before"}, "Open MPI", "has not called MPI_Init yet"},
		{"lifecycle", 2, []string{"after"}, "Open MPI", "has called MPI_Finalize"},
		{"notmpi", 0, nil, "not recognised", "does not use an MPI library that mpi-queues can read"},
	} {
		t.Run(strings.Join(append([]string{c.program}, c.args...), " "), func(t *testing.T) {
			t.Parallel()
			job := work.Start(t, c.program, c.ranks, nil, c.args...)
			core := filepath.Join(t.TempDir(), "core")
			pid := job.Accounts[0].PID
			for _, where := range []live.Where{live.Process(pid), live.Remote(pid), live.Core(job.Program, core)} {
				t.Run(where.Name, func(t *testing.T) {
					recording := filepath.Join(t.TempDir(), "recording")
					commands := []string{"mpi-queues -record " + recording, "info mpi"}
					if where.Name == "live" {
						commands = append(commands, "generate-core-file "+core)
					}
					out := work.GDB(t, where, commands...)
					out.Lacks(t, "Traceback", "MPI_COMM_WORLD")
					if !strings.Contains(out.Stderr, c.reason) {
						t.Errorf("mpi-queues does not say %q:\n%s", c.reason, out.All())
					}
					for _, text := range []string{"MPI:      " + c.mpi + "\n", "not available: ", c.reason} {
						if !strings.Contains(out.Stdout, text) {
							t.Errorf("info mpi does not say %q:\n%s", text, out.Stdout)
						}
					}
					// It is of most use where the queues can't be read.
					replay := exec.Command(work.Helper, "replay", recording)
					text, err := replay.CombinedOutput()
					if err == nil || replay.ProcessState.ExitCode() != 1 || !strings.Contains(string(text), c.reason) {
						t.Errorf("replay ended with %v; it says:\n%s", err, text)
					}
				})
			}
		})
	}
}

// A command that can't be done now says what to do first.
func TestNoProcess(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "notmpi", 0, nil)
	pid := job.Accounts[0].PID
	const none, running = "The program is not being run", "is running, and queues can only be read of a process that is stopped"
	for _, c := range []struct {
		name     string
		commands []string
		sentence string
	}{
		{"no program", nil, none},
		{"not started", []string{"file " + job.Program}, none},
		{"killed", []string{"file " + job.Program, "break main", "run x", "kill"}, none},
		{"ended", []string{"file " + job.Program, "run"}, none},
		{"detached", []string{fmt.Sprintf("attach %d", pid), "detach"}, none},
		{"going on in non-stop mode", []string{"set non-stop on", fmt.Sprintf("attach %d", pid), "continue -a &"}, running},
		{"attached in the background", []string{fmt.Sprintf("attach %d &", pid)}, running},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, command := range []string{"mpi-queues", "mpi-queues -json", "info mpi"} {
				out := work.GDB(t, live.Nothing(), append(c.commands, command)...)
				if !strings.Contains(out.Stderr, c.sentence) || strings.Contains(out.All(), "Traceback") {
					t.Errorf("%s does not say %q:\n%s", command, c.sentence, out.All())
				}
			}
		})
	}
}

// A launcher has no queues: the sentence says how to come to its ranks.
func TestLauncherIsNoRank(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "3")
	pid := job.Launcher()
	says := fmt.Sprintf("in gdb `mpi-attach %d' attaches to them, and in a shell `mpi-queues dump %d' shows them", pid, pid)
	for _, command := range []string{"mpi-queues", "info mpi", "mpi-deadlock"} {
		out := work.GDB(t, live.Process(pid), command)
		if !strings.Contains(out.All(), says) || !strings.Contains(out.All(), ") is the launcher of an MPI job and none of its ranks") {
			t.Errorf("%s on a launcher says:\n%s", command, out.All())
		}
	}
}

// The helper's absence is a sentence, and its coming back is noticed.
func TestNoHelper(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "3")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("\x7fELF, and then nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	silent := filepath.Join(t.TempDir(), "silent")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\necho no such luck >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := work.GDB(t, live.Process(job.Accounts[0].PID),
		"set mpi-queues helper /nowhere/mpi-queues", "mpi-queues",
		"set mpi-queues helper "+broken, "mpi-queues",
		"set mpi-queues helper "+silent, "mpi-queues",
		"set mpi-queues helper "+work.Helper, "mpi-queues")
	out.Contains(t, `The helper program "/nowhere/mpi-queues"`, "is not an executable file",
		"The helper program "+broken+" could not be started", "no such luck", "exit status 3", "Pending receives")
	out.Lacks(t, "Traceback")
}
