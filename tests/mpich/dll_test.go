//go:build matrix

package mpich

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// MPICH's own DLL breaks down on a communicator that was freed since it last
// looked: it is started anew, and shows what there is.
func TestFreedWithOwnDLL(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if !v.DebuggerSupport {
			continue // there is no DLL
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			commands := []string{"set mpi-queues source dll", "set mpi-queues dll-safe-path " + v.prefix, "break stop", "run"}
			want := [][]string{{"first", "second", "third"}, {"first", "third"}, {"first", "fourth", "third"}}
			for i := range want {
				commands = append(commands, fmt.Sprintf("mpi-queues -json -output %s/%d", folder, i), "continue")
			}
			program := v.work.Program(t, filepath.Join("tests", "mpich", "testdata", "freed.c"))
			out := v.work.GDB(t, live.Where{Name: "run", Args: []string{program}}, append(commands, "kill")...)
			for i, names := range want {
				process := parse(t, filepath.Join(folder, fmt.Sprint(i)), out.All())
				var got []string
				for _, c := range expect.Communicators(process) {
					if name, _ := c["name"].(string); !strings.HasPrefix(name, "MPI_") {
						got = append(got, name)
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, names) || process["source"] != "dll" {
					t.Errorf("display %d shows %q, want %q; source %v", i, got, names, process["source"])
				}
			}
		})
	}
}

// What MPICH's own DLL shows of ch3 differs from the native decoder in its known
// defects; of ch4 it says itself that it lacks what it needs.
func TestOwnDLL(t *testing.T) {
	t.Parallel()
	defects := map[string][]string{ // fields, by queue
		"<nil>":               {"group", "size", "communicator"},
		"pending_sends":       {"operation", "position", "status", "desired_global_rank", "actual_global_rank", "desired_length", "actual_length", "desired_local_rank", "actual_local_rank"},
		"pending_receives":    {"desired_global_rank", "desired_length"},
		"unexpected_messages": {"status", "desired_global_rank", "actual_global_rank", "desired_length", "actual_length", "system_buffer", "buffer"},
	}
	for _, v := range variants {
		if !v.DebuggerSupport {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			v.record(t, "own DLL", "known differences")
			job := v.work.Start(t, "queues", 3, nil)
			for _, account := range job.Accounts {
				file := filepath.Join(t.TempDir(), "json")
				out := v.work.GDB(t, live.Process(account.PID), "set mpi-queues source both", "set mpi-queues dll-safe-path "+v.prefix, "mpi-queues -json -output "+file)
				process := parse(t, file, out.All())
				live.Report(t, v.compare(account, process))
				notes := fmt.Sprint(process["notes"])
				if lacks := strings.Contains(notes, "of which nothing is known"); lacks != v.IsCH4() {
					t.Errorf("notes: %s", notes)
				}
				list, _ := process["differences"].([]any)
				if len(list) == 0 {
					t.Error("no differences")
				}
				for _, d := range list {
					d := d.(map[string]any)
					if !v.IsCH4() && !slices.Contains(defects[fmt.Sprint(d["queue"])], fmt.Sprint(d["field"])) {
						t.Errorf("a difference that is no known defect: %v", d)
					}
				}
			}
		})
	}
}
