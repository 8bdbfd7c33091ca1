package waitfor

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Members of a communicator may be in different collectives by right, since some calls can be
// left early: only what can't be so is a near miss where it is not known that they hang.
func TestDifferentCollectivesThatMayBeRight(t *testing.T) {
	in := func(calls ...string) func(m *made) {
		return func(m *made) {
			for i, call := range calls {
				switch {
				case call == "":
					m.Processes[i].Threads, m.Processes[i].Unavailable = nil, "it can't be read"
				case strings.HasPrefix(call, "root "):
					m.rank(i).thread("MPI_Bcast", 20).Comm = mqs.Known(worldID)
					m.Processes[i].Threads[0].Root = mqs.Known(int32(call[5] - '0'))
				default:
					m.rank(i).thread(call, 20).Comm = mqs.Known(worldID)
				}
			}
		}
	}
	for _, c := range []struct {
		name      string
		make      func(m *made)
		confirmed []int
		misses    bool
	}{
		{"one left early", in("MPI_Reduce", "MPI_Scan", ""), nil, false},
		{"one left early, and nobody goes on", in("MPI_Reduce", "MPI_Scan", ""), []int{0, 1}, false},
		{"one may just have left", in("MPI_Barrier", "MPI_Allreduce", ""), nil, false},
		{"nobody can have left", in("MPI_Barrier", "MPI_Allreduce", ""), []int{0, 1}, true},
		{"only one is known not to have gone on", in("MPI_Barrier", "MPI_Allreduce", ""), []int{0}, false},
		{"all members are in collectives and none goes on", in("MPI_Reduce", "MPI_Scan", "MPI_Scan"), []int{0, 1, 2}, true},
		{"different roots", in("root 1", "root 0", "root 0"), []int{0, 1, 2}, true},
		{"different roots, while others are elsewhere", in("root 1", "root 0", ""), []int{0, 1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(3)
			c.make(m)
			j := newJob(m.Snapshot)
			for _, i := range c.confirmed {
				j.ranks[i].confirmed = true
			}
			r := j.decide().complete()
			got := texts(r)
			if isFound := slices.ContainsFunc(r.NearMisses, func(m NearMiss) bool { return m.Mismatch != "" }); isFound != c.misses || !c.misses && got != "" {
				t.Errorf("%s: near misses:\n%s", r.Verdict, got)
			}
			if r.Verdict == Deadlocked || r.Verdict == NoDeadlock {
				t.Errorf("the verdict is %q, so this shows nothing", r.Verdict)
			}
		})
	}
}
