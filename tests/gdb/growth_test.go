//go:build live

package gdb

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// footprint is what a process takes of its machine.
type footprint struct {
	memory                        int // resident, in KiB
	descriptors, threads, zombies int
}

func (f footprint) String() string {
	return fmt.Sprintf("%d KiB, %d descriptors, %d threads, %d zombies", f.memory, f.descriptors, f.threads, f.zombies)
}

func footprintOf(t *testing.T, pid int) (f footprint) {
	t.Helper()
	text, err := os.ReadFile(procfs.Host.Path(pid, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			if f.memory, err = strconv.Atoi(strings.Fields(value)[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	descriptors, err := os.ReadDir(procfs.Host.Path(pid, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	f.descriptors, f.threads = len(descriptors), len(procfs.Host.Threads(pid))
	for _, child := range procfs.Host.Children(pid) {
		if stat, err := procfs.Host.Stat(child); err == nil && stat.HasEnded() {
			f.zombies++
		}
	}
	return f
}

// grows does something over and over in a session: first as often as it takes until all is loaded, then many times, by which
// neither gdb nor the helper may grow. slack is how much memory each of the times may take, in KiB: gdb's own
// symbols, and what allocators keep. A heap grows in steps, at a time of its own; what leaks grows each time,
// so a process that has grown gets further rounds, and one in which it does not grow is enough.
func grows(t *testing.T, s *live.Session, tmp string, first, times, slack int, something func()) {
	t.Helper()
	for range first {
		something()
	}
	for round := 1; ; round++ {
		found := growsBy(t, s, tmp, times, kept+times*slack, something)
		if found == nil {
			return
		}
		for _, what := range found {
			t.Logf("round %d: %s", round, what)
		}
		if round == rounds {
			t.Fatalf("gdb or its helper has grown in each of %d rounds", rounds)
		}
	}
}

// growsBy is one round: it returns what has grown, by more than most KiB where it is memory.
func growsBy(t *testing.T, s *live.Session, tmp string, times, most int, something func()) (found []string) {
	t.Helper()
	files := func() int {
		left, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		return len(left)
	}
	helper := s.Helper()
	if helper == 0 {
		t.Fatal("gdb has no helper")
	}
	pids := map[string]int{"gdb": s.PID(), "the helper": helper}
	before, filesBefore := map[string]footprint{}, files()
	for name, pid := range pids {
		before[name] = footprintOf(t, pid)
	}
	for range times {
		something()
	}
	if now := s.Helper(); now != helper {
		t.Fatalf("the helper is %d, not %d any more", now, helper)
	}
	for name, pid := range pids {
		was, now := before[name], footprintOf(t, pid)
		t.Logf("%s: %s, and %d times later %s", name, was, times, now)
		if now.memory > was.memory+most {
			found = append(found, fmt.Sprintf("%s has grown by %d KiB, where %d are the most", name, now.memory-was.memory, most))
		}
		// Go's runtime starts threads as it likes, some beyond its processors; it does not go on with that.
		if now.descriptors > was.descriptors || now.zombies > was.zombies || now.threads > was.threads+moreThreads {
			found = append(found, fmt.Sprintf("%s has had %s, and %d times later %s", name, was, times, now))
		}
	}
	if now := files(); now > filesBefore {
		found = append(found, fmt.Sprintf("%d temporary files have become %d", filesBefore, now))
	}
	return found
}

const (
	kept        = 4 << 10 // KiB that allocators and garbage collection may keep, however often
	moreThreads = 8       // of Go's
	rounds      = 3
)

// TestManyDisplays shows the queues of a process over and over.
func TestManyDisplays(t *testing.T) {
	t.Parallel()
	times := 60
	if sample.Whole() {
		times = 1000
	}
	job := work.Start(t, "queues", 3, nil)
	tmp := t.TempDir()
	s := work.StartSession(t, live.Process(job.Accounts[0].PID), "TMPDIR="+tmp)
	honest := ""
	grows(t, s, tmp, 30, times, 4, func() {
		out := s.Do("mpi-queues -limit 2")
		if honest == "" {
			honest = out
		}
		if out != honest || !strings.Contains(out, "Pending receives") {
			t.Fatalf("it is shown otherwise:\n%s", out)
		}
	})
}

// aJob is how often a job is attached to: programs of tests end by themselves after half an hour.
const aJob = 20

// TestManyAttaches attaches to a job and lets go of it over and over.
func TestManyAttaches(t *testing.T) {
	t.Parallel()
	ranks, first, times := 4, 8, 6
	if sample.Whole() {
		ranks, first, times = 16, 10, 100
	}
	job := work.Start(t, "ring", ranks, nil, "quiet")
	tmp := t.TempDir()
	s := work.StartSession(t, live.Nothing(), "TMPDIR="+tmp)
	cycles := 0
	// gdb itself keeps some of what it has known of each inferior.
	grows(t, s, tmp, first, times, 64*ranks, func() {
		if cycles++; cycles%aJob == 0 {
			ends(t, job)
			job = work.Start(t, "ring", ranks, nil, "quiet")
		}
		s.Says(fmt.Sprintf("mpi-attach %d", job.Launcher()), fmt.Sprintf("Attached %d ranks of ", ranks))
		s.Says("mpi-queues -all -limit 1", fmt.Sprintf("Rank %d of %d", ranks-1, ranks))
		s.Says("mpi-detach", fmt.Sprintf("Detached %d processes", ranks))
	})
	ends(t, job)
}
