//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A job on two hosts is looked at for the stacks of all its ranks. When it hangs under a watch, that says so with the
// stacks, names the culprit in its last line, and ends the job on both hosts.
func TestWatchOfHosts(t *testing.T) {
	t.Parallel()
	const exitHang = 120
	s := work.Spread(t, live.OverAgent, "deadlock", "send-ring", 3)
	tree := func(report, title string) string {
		t.Helper()
		_, out, found := strings.Cut(report, "\n"+title+"\n")
		if !found || !strings.Contains(out, "ranks 0-2") || !strings.Contains(out, "MPI_Send") || strings.Contains(out, "rank 1\n") {
			t.Errorf("there is no tree of all ranks behind %q:\n%s", title, report)
		}
		out, _, _ = strings.Cut(out, "\n\n")
		return strings.TrimSpace(out)
	}
	// The looks of which the tree is are looks of their own.
	const looks = 5
	s.Via = ""
	s.Deadlocked(t, fmt.Sprint("report ", s.Launcher))
	asked := filepath.Join(s.Folder, "asked")
	s.Engine(t, "echo >>"+asked)
	tree(s.Says(t, fmt.Sprintf("report --stacks --looks %d --every 10ms %d", looks, s.Launcher)), fmt.Sprintf("Stacks in %d looks", looks))
	if times, err := os.ReadFile(asked); err != nil || len(times) <= looks {
		t.Errorf("the other host was asked %d times, %v", len(times), err)
	}
	s.Via = ""

	folder := filepath.Join(s.Folder, "hang")
	watch := s.Tool(fmt.Sprintf("watch --every 100ms --hang-after 1s --report %s --kill %d", folder, s.Launcher))
	out, err := watch.Output()
	if code := watch.ProcessState.ExitCode(); code != exitHang {
		t.Fatalf("the watch: %v\n%s", err, out)
	}
	said := string(out)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "Culprit: Rank 0 waits for rank 1: send to rank 1, tag 7, on MPI_COMM_WORLD, in MPI_Send at deadlock.c:") {
		t.Errorf("the last line is %q", last)
	}
	if !strings.HasPrefix(said, "Deadlock. Ranks 0-2 wait for each other") {
		t.Errorf("it says\n%s", said)
	}
	want := tree(said, "Stacks")
	if got := tree(s.Says(t, "report --stacks "+filepath.Join(folder, "queues.json")), "Stacks"); got != want {
		t.Errorf("of the snapshot:\n%s\nof the job:\n%s", got, want)
	}
	for _, host := range s.Names {
		live.Until(t, "for the ends of the ranks on "+host, func() bool {
			return !slices.ContainsFunc(s.Processes(t, host), func(line string) bool { return strings.Contains(line, "deadlock") })
		})
	}
	s.NothingIsLeft(t)
}
