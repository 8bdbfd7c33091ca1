package waitfor

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

const many = 100_000

// large are made-up jobs as large as there are.
var large = []struct {
	name    string
	make    func(m *made)
	verdict Verdict
	cycle   int // length of the first one
}{
	{"a barrier that one has not entered", func(m *made) {
		m.rank(0).recv(worldID, 1, 7)
		for i := 1; i < many; i++ {
			m.rank(i).enters(worldID, "MPI_Barrier")
		}
	}, Deadlocked, 2},
	{"a ring of sends", func(m *made) {
		for i := range many {
			m.rank(i).send(worldID, int32(i+1)%many, 7)
		}
	}, Deadlocked, many},
	{"any receives", func(m *made) {
		for i := range many {
			m.rank(i).recv(worldID, wild, 7)
			m.rank(i).message(worldID, int32(i+1)%many, 8)
		}
	}, Deadlocked, 2},
	{"half in a barrier, half in a broadcast", func(m *made) {
		for i := range many {
			if i%2 == 0 {
				m.rank(i).enters(worldID, "MPI_Barrier")
			} else {
				m.rank(i).enters(worldID, "MPI_Bcast").Root = mqs.Known[int32](0)
			}
		}
	}, Deadlocked, 2},
	{"pairs", func(m *made) {
		for i := range many {
			m.rank(i).recv(worldID, int32(i^1), 7)
			m.rank(i).message(worldID, int32(i^1), 8)
		}
	}, Deadlocked, 2},
	{"a chain behind one that computes, with counts", func(m *made) {
		m.rank(0).computes()
		for i := 1; i < many; i++ {
			m.rank(i).recv(worldID, int32(i-1), 7)
		}
		for i := range many {
			for _, d := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
				m.rank(i).counts(worldID, int32((i+d)%many), 3, 3)
				m.rank(i).counts(worldID, int32((i+many-d)%many), 3, 3)
			}
		}
	}, Free, 0},
	{"a chain behind one that has exited", func(m *made) {
		m.rank(0).Phase = mqs.Exited
		for i := 1; i < many; i++ {
			m.rank(i).recv(worldID, int32(i-1), 7)
		}
	}, Deadlocked, 1},
	{"all at places of their own, without groups", func(m *made) {
		for i := range many {
			m.rank(i).enters(worldID, "MPI_Alltoallv").Line = i + 1
			m.Processes[i].Communicators[0].Group = nil
		}
		m.rank(7).Threads = nil
		m.rank(7).recv(worldID, 8, 7)
	}, Deadlocked, 2},
	{"two barriers that cross, each rank at a place of its own, with messages for nobody", func(m *made) {
		ranks := make([]int32, many)
		for i := range ranks {
			ranks[i] = int32(i)
		}
		m.comm(dupID, "dup", ranks...)
		for i := range many {
			m.rank(i).enters([]target.Addr{worldID, dupID}[i%2], "MPI_Barrier").Line = i + 1
			m.rank(i).message(dupID, int32(i+1)%many, int32(i))
			m.rank(i).isend(worldID, int32(i+2)%many, int32(i), false)
		}
	}, Deadlocked, 2},
}

func TestLargeJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, c := range large {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(many)
			c.make(m)
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cpu(t)
			r := Analyse(m.Snapshot)
			took := cpu(t) - start
			runtime.ReadMemStats(&after)
			t.Logf("%v, %d MiB made, %d groups, %d edges, %d deadlocks, %d near misses", took.Round(time.Millisecond),
				(after.TotalAlloc-before.TotalAlloc)>>20, len(r.Groups), len(r.Edges), len(r.Deadlocks), len(r.NearMisses))
			if r.Verdict != c.verdict || c.cycle > 0 && len(r.Deadlocks[0].Cycle) != c.cycle {
				t.Errorf("verdict %s: %s", r.Verdict, r.Why)
			}
			if took > 10*time.Second {
				t.Errorf("it took %v of the processor", took)
			}
			if len(r.Why) > 10_000 || strings.Contains(r.Why, "\n") {
				t.Errorf("why is %d bytes", len(r.Why))
			}
		})
	}
}

// cpu is what the process has used of the processors: wall time says nothing on
// a machine that has other things to do.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkAnalyse(b *testing.B) {
	for _, c := range large {
		b.Run(c.name, func(b *testing.B) {
			m := newMade(many)
			c.make(m)
			b.ReportAllocs()
			for b.Loop() {
				Analyse(m.Snapshot)
			}
		})
	}
}
