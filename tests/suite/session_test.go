//go:build matrix || full

package suite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// gdbSession is a gdb that stays attached to a job's ranks: a look costs it neither a start nor
// the tables of symbols.
type gdbSession struct {
	*live.Session
	job    *job
	folder string
}

// startSession looks at a job's ranks from one gdb, as often as is planned.
func (s *looker) startSession(t *testing.T, j *job, dice *rand.Rand) {
	t.Helper()
	g := &gdbSession{work.StartSession(t, live.Nothing()), j, t.TempDir()}
	g.Do("set pagination off")
	g.Do("set print thread-events off")
	g.Do("set schedule-multiple on")
	g.Says(fmt.Sprintf("mpi-attach %d", j.launcher.Process.Pid), "Attached")
	for range soak.sitting {
		began := time.Now()
		g.run(t)
		pause(dice)
		if !g.stop(t) {
			s.count(inGDB, "ended")
			g.Do("mpi-detach")
			return
		}
		l := g.look(t, dice.IntN(3) == 0)
		s.spent[l.way] += time.Since(began)
		s.judge(t, j, l)
	}
	g.Says("mpi-detach", "Detached")
	s.unchanged(t, j, inGDB, nil)
}

// run lets the ranks run.
func (g *gdbSession) run(t *testing.T) {
	t.Helper()
	g.Send("continue &")
	g.isReady()
}

// stop stops them, and says whether they are there.
func (g *gdbSession) stop(t *testing.T) bool {
	t.Helper()
	g.Send("interrupt")
	if !live.Soon(func() bool {
		return g.Has("received signal") || g.Has("exited normally") || g.Has("exited with code") || g.job.ends()
	}) {
		t.Fatalf("gdb does not stop the ranks:\n%s", g.Await("\n"))
	}
	g.isReady()
	return !g.job.ends()
}

// isReady waits for the last prompt: in the background, gdb prints more than one.
func (g *gdbSession) isReady() {
	g.Send(`echo is ready\n`)
	g.Await("\nis ready\r\n" + live.Prompt)
}

// look makes a report, in one of two ways: in gdb, which remembers the looks before, or of a
// snapshot.
func (g *gdbSession) look(t *testing.T, alone bool) seen {
	t.Helper()
	out := seen{way: inGDB, snapshot: filepath.Join(g.folder, "snapshot.json")}
	path := filepath.Join(g.folder, "report.json")
	_, _ = os.Remove(out.snapshot), os.Remove(path)
	said := g.Do("mpi-queues -all -internal -json -output " + out.snapshot)
	if !live.Exists(out.snapshot) {
		t.Fatalf("gdb says:\n%s", said)
	}
	if alone {
		out.way = once
		out.report = work.Shell(t, "report", "--json", out.snapshot)
	} else {
		said += g.Do("mpi-deadlock -all -json -output " + path)
		out.report, _ = os.ReadFile(path)
	}
	if len(out.report) == 0 {
		t.Fatalf("gdb says:\n%s", said)
	}
	isQuiet(t, out.way, said)
	return out
}
