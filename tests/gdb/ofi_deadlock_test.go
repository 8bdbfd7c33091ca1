//go:build live

package gdb

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// overOFI is the report that there must be of a mode over libfabric, which counts nothing: every deadlock is
// one unless a message was in transit. Of probes it keeps nothing.
func overOFI(m *expect.Mode) *expect.Mode {
	if strings.HasPrefix(m.Name, "probe") || m.Name == "mprobe" {
		return m.Unknowable()
	}
	out := m.OverLibfabric()
	if m.Name == "inactive" { // what a request would do stands with the program alone
		out.Misses = nil
	}
	return out
}

// Over libfabric each mode of the programs that hang, or only look so, is reported as what it is, as far as that is
// kept.
func TestOFIDeadlocks(t *testing.T) {
	t.Parallel()
	row := row(t)
	hidesCollectives := hidesCollectives(row)
	for i := range expect.Modes {
		m := &expect.Modes[i]
		if m.Verdict == expect.Moves || !sample.Chosen(row, i, sample.Modes) {
			continue
		}
		t.Run(m.Program+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			job := work.StartMode(t, overOFI(m), append(overRXM.Flags(), flags(m)...)...)
			if hidesCollectives && isOfCollectives(m) || m.Name == "gone" && !hasTable(t, job.Launcher()) {
				job.Mode = orUnknown(overOFI(m))
			}
			job.Settle(t)
		})
	}
}

// A job that runs is never called deadlocked without a doubt, though libfabric does not count messages.
func TestOFIRunningJobs(t *testing.T) {
	t.Parallel()
	keepMoving(t, work, 8, overRXM.Flags())
}

// keepMoving reports again and again on every n-th mode that gets on.
func keepMoving(t *testing.T, w *live.Workspace, n int, flags []string) {
	row := row(t)
	for i := range expect.Modes {
		m := &expect.Modes[i]
		if m.Verdict != expect.Moves || !sample.Chosen(row, i, sample.Moving) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			job := w.StartMode(t, m, flags...)
			job.Deadlock(t, job.Launcher(), 5)
			for range 3 {
				job.Reports(t, strconv.Itoa(job.Launcher()))
			}
		})
	}
}
