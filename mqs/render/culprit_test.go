package render

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// The culprit's line is the sentence that blames somebody, if there is one.
func TestCulprit(t *testing.T) {
	wait := waitfor.Wait{Rank: 1, For: 2, Operation: "receive from rank 2", Call: "MPI_Recv", File: "/home/a.c", Line: 7}
	r := &waitfor.Report{Why: "Why."}
	for _, c := range []struct {
		add  func()
		want string
	}{
		{func() {}, "Why."},
		{func() { r.Deadlocks = []waitfor.Deadlock{{Cycle: []waitfor.Wait{wait}}} }, "Rank 1 waits for rank 2: receive from rank 2, in MPI_Recv at a.c:7."},
		{func() {
			r.Deadlocks[0].Cycle[0].Callers = []mqs.Caller{{Function: "close", Object: "/lib/libio.so.1"}, {Function: "main", File: "/src/a.c", Line: 7}}
		}, "Rank 1 waits for rank 2: receive from rank 2, in MPI_Recv called by close (libio) from main at a.c:7."},
		{func() { r.NearMisses = []waitfor.NearMiss{{Text: "A tag."}} }, "A tag."},
		{func() { r.NearMisses = append(r.NearMisses, waitfor.NearMiss{Text: "Rank 3.", Culprits: []int32{3}}) }, "Rank 3."},
		{func() { r.NotJoined = "Another launcher." }, "Another launcher."},
	} {
		if c.add(); Culprit(r) != c.want {
			t.Errorf("%q, not %q", Culprit(r), c.want)
		}
	}
}

// TestCulpritOfSingletons checks that the line on the culprit is the headline of a job whose ranks have not joined it, and not the first
// of the waits that follow from that.
func TestCulpritOfSingletons(t *testing.T) {
	for _, joined := range []bool{false, true} {
		s := &mqs.Snapshot{}
		for rank := range int32(2) {
			p := &mqs.Process{PID: int(rank) + 1, MPI: "MPICH", Phase: mqs.Active, Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv"}}}
			if p.WorldSize = mqs.Known[int32](1); joined {
				p.WorldSize = mqs.Known[int32](2)
			}
			p.Seat(mqs.Known(rank), mqs.Known[int32](2), mqs.OpenMPILauncher)
			s.Processes = append(s.Processes, p)
		}
		r := waitfor.Analyse(s)
		line := Culprit(r)
		if is := strings.HasPrefix(line, "2 processes started by one launcher each believe they are rank 0 of 1: "); is == joined || !strings.HasPrefix(r.Why, line) {
			t.Errorf("joined: %v: the line is %q, and the headline %q", joined, line, r.Why)
		}
	}
}
