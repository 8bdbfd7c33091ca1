//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// lineOf is where a mark stands in a source of the programs.
func lineOf(t *testing.T, source, mark string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(work.Root, "tests", "programs", source))
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), mark)
	if !found {
		t.Fatalf("%s has no %q", source, mark)
	}
	return fmt.Sprintf("%s:%d", source, strings.Count(before, "\n")+1)
}

// Where a library has called MPI for the program, both places are told; a tool's functions that stand for MPI's are
// none of them, and a function that only has a name like MPI's is no call. So it is live and of core files.
func TestWrappers(t *testing.T) {
	t.Parallel()
	program := work.Program(t, "tests/programs/wrapped.c")
	place := func(mark string) string { return lineOf(t, "wrapped.c", mark) }
	for mode, want := range map[string]string{
		"library":   "MPI_Recv on MPI_COMM_WORLD, called by receive (libwrapping) at " + lineOf(t, "wrapping.c", "/* receives") + " from main at " + place("/* by a library"),
		"lookalike": "MPI_Recv on MPI_COMM_WORLD, called by MPI_Wrapping_receive (libwrapping) at " + lineOf(t, "wrapping.c", "/* looks alike") + " from main at " + place("/* by a lookalike"),
		"tool":      "MPI_Ssend on MPI_COMM_WORLD at " + place("/* by a tool"),
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			job := work.Hang(t, slices.Concat(work.MPI.Launcher, []string{"-n", "2", program, mode}), "Deadlock of ranks 0-1", "  ranks 0-1: "+want+" (deadlocked)")
			// Which communicator a send is on may be unknown at one moment.
			_, where, _ := strings.Cut(want, "MPI_COMM_WORLD")
			page, _, _ := work.Try(t, "report", "--html", strconv.Itoa(job.Process.Pid))
			if !strings.Contains(string(page), where) {
				t.Errorf("the page says no %q", where)
			}
			found, err := launch.Find(job.Process.Pid)
			if err != nil || len(found.Ranks) != 2 {
				t.Fatal(found, err)
			}
			// In tables the program's function is named too.
			_, callers, isWrapped := strings.Cut(want, ", called by ")
			if !isWrapped {
				callers = "main at " + filepath.Join(work.Root, "tests", "programs", place("/* by a tool"))
			}
			want := ", called by " + callers + "\n"
			cores := []string{"dump", "--core", program}
			for _, r := range found.Ranks {
				core := filepath.Join(job.Dir, "core."+strconv.Itoa(r.PID))
				out := work.GDB(t, live.Process(r.PID), "mpi-queues", "mpi-deadlock -all", "generate-core-file "+core)
				out.Contains(t, want)
				cores = append(cores, core)
			}
			if shown := string(work.Shell(t, cores...)); strings.Count(shown, want) != 2 {
				t.Errorf("of the core files it says\n%s", shown)
			}
		})
	}
}
