//go:build matrix

package mpich

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// endsItself says whether a mode can't be had: ch3 notices that a rank is gone,
// and ends the job with an error; ch4 takes a post of any rank for one of a start's group. Not every device can spawn
// or connect, none waits in MPI_Comm_disconnect, and what a rank owes to a barrier the others need not wait for. libfabric
// keeps as many messages as a program floods it with.
func (v *variant) endsItself(m *expect.Mode) bool {
	return !v.IsCH4() && m.Name == "gone" || v.IsCH4() && m.Name == "other-group" || m.Dynamic || m.Name == "weak" || v.provider != "" && m.Name == "flood"
}

// expected is the report on a mode that there must be with a build. What ch4
// keeps without debugger support and at -O2 does not suffice for everything.
func (v *variant) expected(m *expect.Mode) *expect.Mode {
	m = m.Uncounted()
	if v.provider != "" {
		// Nobody sees what is in transit between nodes, and a rank that computes answers no connection: a first message to
		// it holds its sender up inside of the call.
		either := *m
		either.OrInTransit, either.OrUnknown = true, m.OrUnknown || m.Name == "slow"
		m = &either
	}
	if v.isStripped && m.Program == "deadlock" && m.Name == "two" { // of the ranks in MPI_Send it is not known what they wait for
		half := *m
		half.Deadlocks, half.Places = m.Deadlocks[1:], slices.Clone(m.Places)
		half.Places[0].State, half.Places[0].Comm = "waiting", ""
		m = &half
	}
	if v.isStripped && !slices.Contains(toldStripped, m.Program+" "+m.Name) {
		either := *m
		either.OrUnknown = true
		m = &either
	}
	if m.Program == "ends" { // which message a call waits for shows at a second look only, if at all
		out := *m
		out.OrUnknown = true
		out.Misses, out.Maybe = nil, []string{"tag"} // the leaders' messages may be in no queue
		return &out
	}
	if m.Program == "onesided" || m.Program == "files" {
		// Messages carry out what happens to windows, and nobody counts them. Device ch3 does not keep whom an
		// exposure is for, and what -O2 leaves of arguments differs from call to call.
		either := *m
		either.OrInTransit, either.OrUnknown = true, true
		return &either
	}
	if v.DebuggerSupport {
		return m
	}
	m = m.ProbedInVain() // the arguments of calls may be optimised away
	if !v.IsCH4() || v.IsOverUCX() {
		return m
	}
	out := *m
	switch m.Program + " " + m.Name {
	case "deadlock probe-ring", "moving probe":
		return m.Unknowable() // a probe is in no queue, and its arguments are optimised away
	case "mistake truncation":
		return m.Unknowable() // a non-blocking send has no peer
	case "deadlock waitall-ring":
		if v.provider == "" { // over libfabric a synchronous send waits for an answer of its peer's
			out.Deadlocks = []expect.Ring{{Ranks: m.Deadlocks[0].Ranks, Length: 3}} // only receives have peers
		}
	}
	return &out
}

// lacks says whether a build has not what a mode's program needs: one alone has MPI's calls for files.
func (v *variant) lacks(m *expect.Mode) bool { return m.Program == "files" && v.Name != "ch4" }

// modes is the variant's row. What there is over UCX besides, the tests with Open MPI show.
func (v *variant) modes(t *testing.T) live.ModeRow {
	t.Helper()
	return live.ModeRow{
		Workspace: v.work, Name: t.Name(), InTurn: v.inTurn,
		Expected: func(m *expect.Mode) *expect.Mode {
			switch {
			case m.Verdict == expect.Moves && !m.Dynamic && !v.lacks(m):
				return m
			case m.Verdict == expect.Moves || v.endsItself(m) || v.lacks(m) || v.IsOverUCX() && m.Program != "deadlock":
				return nil
			}
			return v.expected(m)
		},
	}
}

// TestDeadlocks checks that each mode of the programs that hang, or only look so, is reported as what it is.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			live.EachHang(t, v.modes(t))
		})
	}
}

// A stripped MPICH does not say what calls were given: their messages tell on which communicator a collective is, and
// for what it waits.
func TestDeadlockWithStripped(t *testing.T) {
	t.Parallel()
	w, err := work.With("stripped-deadlock", stock)
	if err != nil {
		t.Fatal(err)
	}
	for i, mode := range []struct{ program, name string }{
		{"deadlock", "recv-ring"}, {"deadlock", "send-ring"},
		{"deadlock", "sendrecv"}, {"deadlock", "split"}, {"deadlock", "inter"}, {"deadlock", "persistent"}, {"deadlock", "waitall-ring"},
		{"collective", "barrier-allreduce"}, {"collective", "barrier-bcast"}, {"collective", "barrier-recv"}, {"collective", "gather"},
		{"collective", "crossed"}, {"collective", "copy"}, {"collective", "part"}, {"collective", "ibarrier"},
		{"nonblocking", "iallreduce"}, {"nonblocking", "ibcast"}, {"nonblocking", "igather"}, {"nonblocking", "ialltoall"},
		{"nonblocking", "icross"}, {"nonblocking", "icrossed"}, {"nonblocking", "second"}, {"nonblocking", "neighbours"},
		{"nonblocking", "late"}, {"nonblocking", "elsewhere"},
	} {
		if !sample.Chosen(t.Name(), i, sample.Moving) {
			continue
		}
		m := expect.Find(mode.program, mode.name).Uncounted()
		t.Run(mode.program+" "+mode.name, func(t *testing.T) {
			t.Parallel()
			w.StartMode(t, m).Settle(t)
		})
	}
}

// Of ranks that get on with a stripped MPICH, none is called deadlocked, whenever they are stopped.
func TestRunningWithStripped(t *testing.T) {
	t.Parallel()
	w, err := work.With("stripped-running", stock)
	if err != nil {
		t.Fatal(err)
	}
	for i, mode := range []struct{ program, name string }{
		{"nonblocking", "many-collectives"}, {"nonblocking", "barriers"}, {"nonblocking", "ahead"},
		{"moving", "flood"}, {"moving", "left-behind"}, {"moving", "exchange"},
	} {
		if !sample.Chosen(t.Name(), i, sample.Moving) {
			continue
		}
		t.Run(mode.program+" "+mode.name, func(t *testing.T) {
			t.Parallel()
			w.StartMode(t, expect.Find(mode.program, mode.name)).KeepsMoving(t, 10, 3)
		})
	}
}

// Of real hangs as many are told with a stripped MPICH as have to be.
func TestRealHangsWithStripped(t *testing.T) {
	t.Parallel()
	w, err := work.With("stripped-hangs", stock)
	if err != nil {
		t.Fatal(err)
	}
	w.RealHangs(t)
}

// A partition that is never ready is told by what ch4 counts of it. One build has all that the program needs, files included.
func TestPartitionNeverReady(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if v.Name == "ch4" {
			v.work.Tells(t, "hangs", "partition", 3, []string{"Ranks 0-2 wait for each other",
				"rank 1 waits for rank 0: receive from rank 0, tag 7, on MPI_COMM_WORLD, of which rank 0 has yet to mark all partitions as ready, in MPI_Wait"})
		}
	}
}

// However a job is looked at, the report is the same.
func TestDeadlockEveryWay(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if !v.DebuggerSupport {
			continue // the ways do not depend on what a build keeps
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
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

// TestRunningJobs checks that a job that runs is never called deadlocked, whenever it is stopped.
func TestRunningJobs(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			live.EachMoving(t, v.modes(t), 4, 1)
		})
	}
}
