package waitfor

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// many is the number of ranks of the largest jobs, crowd the number of ranks that are analysed here. tests/growth sets it, to
// check how the work grows with it.
const many = 100_000

var crowd = sizeOr(4000)

// sizeOr is the size that the environment gives.
func sizeOr(size int) int {
	if given, err := strconv.Atoi(os.Getenv("MPI_QUEUES_TEST_SIZE")); err == nil {
		return given
	}
	return size
}

// fixedCost is the memory that the analysis of a large job may allocate whatever its size is, searchCost what the search for a
// smallest cycle may allocate, which has a budget of its own. Both are in bytes.
const (
	fixedCost  = 8 << 20
	searchCost = 384 << 20
)

// large are made-up jobs of many ranks.
var large = []struct {
	name    string
	make    func(m *made)
	verdict Verdict
	cycle   int    // length of the first deadlock's cycle, 0 without a deadlock
	fixed   uint64 // bytes that it may allocate whatever its size is
	each    uint64 // KiB that it may allocate for each rank
}{
	{"a barrier that one has not entered", func(m *made) {
		m.rank(0).recv(worldID, 1, 7)
		for i := 1; i < crowd; i++ {
			m.rank(i).enters(worldID, "MPI_Barrier")
		}
	}, Deadlocked, 2, fixedCost, 2},
	{"a ring of sends", func(m *made) {
		for i := range crowd {
			m.rank(i).send(worldID, int32((i+1)%crowd), 7)
		}
	}, Deadlocked, crowd, searchCost, 4},
	{"any receives", func(m *made) {
		for i := range crowd {
			m.rank(i).recv(worldID, wild, 7)
			m.rank(i).message(worldID, int32((i+1)%crowd), 8)
		}
	}, Deadlocked, 2, fixedCost, 3},
	{"half in a barrier, half in a broadcast", func(m *made) {
		for i := range crowd {
			if i%2 == 0 {
				m.rank(i).enters(worldID, "MPI_Barrier")
			} else {
				m.rank(i).enters(worldID, "MPI_Bcast").Root = mqs.Known[int32](0)
			}
		}
	}, Deadlocked, 2, fixedCost, 2},
	{"pairs", func(m *made) {
		for i := range crowd {
			m.rank(i).recv(worldID, int32(i^1), 7)
			m.rank(i).message(worldID, int32(i^1), 8)
		}
	}, Deadlocked, 2, fixedCost, 3},
	{"a chain behind one that computes, with counts", func(m *made) {
		m.rank(0).computes()
		for i := 1; i < crowd; i++ {
			m.rank(i).recv(worldID, int32(i-1), 7)
		}
		for i := range crowd {
			for _, d := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
				m.rank(i).counts(worldID, int32((i+d)%crowd), 3, 3)
				m.rank(i).counts(worldID, int32((i+crowd-d)%crowd), 3, 3)
			}
		}
	}, HeldUp, 0, fixedCost, 2},
	{"a chain behind one that has exited", func(m *made) {
		m.rank(0).Phase = mqs.Exited
		for i := 1; i < crowd; i++ {
			m.rank(i).recv(worldID, int32(i-1), 7)
		}
	}, Deadlocked, 1, fixedCost, 2},
	{"all at places of their own, without groups", func(m *made) {
		for i := range crowd {
			m.rank(i).enters(worldID, "MPI_Alltoallv").Line = i + 1
			m.Processes[i].Communicators[0].Group = nil
		}
		m.rank(7).Threads = nil
		m.rank(7).recv(worldID, 8, 7)
	}, Deadlocked, 2, fixedCost, 4},
	{"half in a barrier, half in a wait for a non-blocking collective", func(m *made) {
		m.countsCollectives()
		for i := range crowd {
			if i < crowd/2 {
				m.rank(i).enters(worldID, "MPI_Barrier")
			} else {
				m.rank(i).waits(worldID, 0)
			}
		}
	}, Deadlocked, 2, fixedCost, 8},
	{"two barriers that cross, each rank at a place of its own, with messages for nobody", func(m *made) {
		ranks := make([]int32, crowd)
		for i := range ranks {
			ranks[i] = int32(i)
		}
		m.comm(dupID, "dup", ranks...)
		for i := range crowd {
			m.rank(i).enters([]inferior.Addr{worldID, dupID}[i%2], "MPI_Barrier").Line = i + 1
			m.rank(i).message(dupID, int32((i+1)%crowd), int32(i))
			m.rank(i).isend(worldID, int32((i+2)%crowd), int32(i), false)
		}
	}, Deadlocked, 2, fixedCost, 8},
}

func TestLargeJobs(t *testing.T) {
	for _, c := range large {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(crowd)
			c.make(m)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := Analyse(m.Snapshot)
			runtime.ReadMemStats(&after)
			made := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d MiB made, %d groups, %d edges, %d deadlocks, %d near misses",
				made>>20, len(r.Groups), len(r.Edges), len(r.Deadlocks), len(r.NearMisses))
			if most := c.fixed + uint64(crowd)*c.each<<10; made > most {
				t.Errorf("%d KiB are allocated, the bound is %d", made>>10, most>>10)
			}
			if r.Verdict != c.verdict || c.cycle > 0 && len(r.Deadlocks[0].Cycle) != c.cycle {
				t.Errorf("verdict %s: %s", r.Verdict, r.Why)
			}
			if len(r.Why) > 10_000 || strings.Contains(r.Why, "\n") {
				t.Errorf("why is %d bytes", len(r.Why))
			}
		})
	}
}

func BenchmarkAnalyse(b *testing.B) {
	for _, c := range large {
		b.Run(c.name, func(b *testing.B) {
			m := newMade(crowd)
			c.make(m)
			b.ReportAllocs()
			for b.Loop() {
				Analyse(m.Snapshot)
			}
		})
	}
}
