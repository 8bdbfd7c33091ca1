//go:build matrix

package mpich

import (
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// endsItself says whether a mode can't be had: ch3 notices that a rank is gone,
// and ends the job with an error.
func (v *variant) endsItself(m *expect.Mode) bool { return !v.IsCH4() && m.Name == "gone" }

// expected is the report on a mode that there must be with a build. What ch4
// keeps without debugger support and at -O2 does not suffice for everything.
func (v *variant) expected(m *expect.Mode) *expect.Mode {
	if m.Program == "nonblocking" || m.Name == "ibarrier" {
		out := *m
		out.OrUnknown = true // the requests of collectives are not read
		return &out
	}
	if !v.IsCH4() || v.DebuggerSupport || v.IsOverUCX() {
		return m
	}
	out := *m
	switch m.Program + " " + m.Name {
	case "deadlock probe-ring", "moving probe":
		return m.Unknowable() // a probe is in no queue, and its arguments are optimised away
	case "mistake truncation":
		return m.Unknowable() // a non-blocking send has no peer
	case "deadlock waitall-ring":
		out.Deadlocks = []expect.Ring{{Ranks: m.Deadlocks[0].Ranks, Length: 3}} // only receives have peers
	}
	return &out
}

// flags are mpiexec's for a mode.
func flags(m *expect.Mode) []string {
	if m.Name == "gone" {
		return []string{"-disable-auto-cleanup"}
	}
	return nil
}

// Each mode of the programs that hang, or only look so, is reported as what it is.
func TestDeadlocks(t *testing.T) {
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			for i := range expect.Modes {
				m := &expect.Modes[i]
				if m.Verdict == expect.Moves || !v.inTurn(i) || v.endsItself(m) || v.IsOverUCX() && m.Program != "deadlock" {
					continue // what else there is over UCX, the tests with Open MPI show
				}
				t.Run(m.Program+" "+m.Name, func(t *testing.T) {
					t.Parallel()
					v.work.StartMode(t, v.expected(m), flags(m)...).Settle(t)
				})
			}
		})
	}
}

// Of a stripped MPICH there is what UCX has.
func TestDeadlockWithStripped(t *testing.T) {
	w, err := work.With("stripped-deadlock", stock)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"recv-ring", "send-ring"} {
		w.StartMode(t, expect.Find("deadlock", mode)).Settle(t)
	}
}

// However a job is looked at, the report is the same.
func TestDeadlockEveryWay(t *testing.T) {
	for _, v := range variants {
		if !v.DebuggerSupport {
			continue // the ways do not depend on what a build keeps
		}
		t.Run(v.Name, func(t *testing.T) {
			for i, m := range []*expect.Mode{expect.Find("deadlock", "split"), expect.Find("collective", "barrier-recv")} {
				if !v.inTurn(i) {
					continue
				}
				t.Run(m.Program+" "+m.Name, func(t *testing.T) {
					t.Parallel()
					job := v.work.StartMode(t, m)
					job.SettleBy(t, job.Launcher())
					job.SettleBy(t, job.Accounts[m.Ranks-1].PID)
					job.DeadlockAgain(t, job.Launcher())
					job.Cores(t, false)
				})
			}
		})
	}
}

// A job that runs is never called deadlocked, whenever it is stopped.
func TestRunningJobs(t *testing.T) {
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			for i := range expect.Modes {
				m := &expect.Modes[i]
				if m.Verdict != expect.Moves || !v.inTurn(i) {
					continue
				}
				t.Run(m.Name, func(t *testing.T) {
					t.Parallel()
					job := v.work.StartMode(t, m)
					job.Deadlock(t, job.Launcher(), 4)
					job.Reports(t, strconv.Itoa(job.Launcher()))
				})
			}
		})
	}
}
