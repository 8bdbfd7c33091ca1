//go:build live

package gdb

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// counts are what a gdb has that could grow: open files, child processes, inferiors, and objects of Python's.
const counts = `python import gc, os; gc.collect(); print("counts:", len(os.listdir("/proc/self/fd")), ` +
	`len(open("/proc/self/task/%d/children" % os.getpid()).read().split()), len(gdb.inferiors()), len(gc.get_objects()) // 1000)`

// Jobs that are started and end, or are killed, in one gdb leave nothing: no process, no file, no growth.
func TestManyStarts(t *testing.T) {
	t.Parallel()
	starts := 100
	if testing.Short() {
		starts = 6
	}
	temporary := t.TempDir()
	s := started{work.StartSession(t, live.Nothing(), "TMPDIR="+temporary), work.Program(t, "tests/programs/started.c"), t.TempDir()}
	s.Do("file " + s.program)
	s.Do("break measure if $mpi_rank() == 1")
	before := ""
	for i := range starts {
		s.Says("mpi-run "+s.command("finish"), "Attached 3 ranks", "inferiors 1-3 are ranks 0-2", "measure (rank=1)")
		switch i % 3 {
		case 0:
			s.Do("kill inferiors 1 2 3")
		case 1:
			s.Says("mpi-continue", "[The launcher exited with code 07]")
		} // else the next one ends it
		if i == 3 {
			before = s.Do(counts)
		}
	}
	if i := (starts - 1) % 3; i != 0 {
		s.Do("kill inferiors 1 2 3")
	}
	if after := s.Do(counts); after != before {
		t.Errorf("after %d starts gdb has %s, after 4 it had %s", starts, after, before)
	}
	s.Send("quit")
	s.End()
	s.awaitNone(t)
	left, err := filepath.Glob(filepath.Join(temporary, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if strings.HasPrefix(filepath.Base(path), "mpi-queues") {
			t.Errorf("%s is left", path)
		}
	}
}
