//go:build matrix || full

package suite

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// unlimited lets MPICH's ranks spawn.
var unlimited = []string{"-usize", "INFINITE"}

// mpis are those whose programs are looked at. More slots than processors would make Open
// MPI's ranks keep the processors, but for the last flag. The distribution's MPICH, which can't
// spawn, is stripped: the types of the other one say what its ranks wait for.
func mpis(t *testing.T) []mpi {
	t.Helper()
	ch3 := live.MPICHBuilds[slices.IndexFunc(live.MPICHBuilds, func(b live.MPICHBuild) bool { return b.Name == "ch3" })]
	builds, err := live.Built("../mpich/build", ch3.Name)
	if err != nil {
		t.Fatal(err)
	}
	room := []string{"--host", "localhost:32", "--mca", "mpi_yield_when_idle", "1"}
	return []mpi{
		{"Open MPI", live.OpenMPI, room, true, soak.programs, 0.05},
		{"MPICH", live.StockMPICH, unlimited, false, soak.programs / 2, 0.20},
		{"MPICH ch3", ch3.MPI(builds), unlimited, false, soak.programs / 2, 1},
	}
}

// mpi is an MPI, with the launcher's flags that let programs spawn processes.
type mpi struct {
	name string
	live.MPI
	room []string
	// launcherHangs is true if the launcher now and then hangs by itself when processes that start others
	// are late, as Open MPI 4.1's does in PMIx.
	launcherHangs bool
	// programs is how many are looked at.
	programs int
	// unknown is the share of the reports on what runs that may end in "unknown".
	unknown float64
}

// isFragile says whether a program now and then hangs by itself once its processes have been stopped.
func (m mpi) isFragile(p program) bool { return p.spawns && m.launcherHangs }

// No program of the suite is called deadlocked, whenever it is looked at; it runs as before
// after each look, and ends with 0.
func TestSuite(t *testing.T) {
	seed := soak.seed
	if text := os.Getenv("MPI_QUEUES_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if seed == 0 {
		seed = rand.Uint64N(1e9)
	}
	t.Logf("the same again: MPI_QUEUES_TEST_SEED=%d", seed)
	for _, m := range mpis(t) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := &looker{
				mpi: m, tools: toolchain{t.TempDir(), m.Compiler}, random: rand.New(rand.NewPCG(seed, 0)),
				verdicts: map[string]map[string]int{}, reasons: map[string]int{}, aside: map[string]int{}, spent: map[string]time.Duration{}, schemas: schemas(t),
			}
			if err := s.tools.prepare(); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			defer func() { t.Logf("\n%s, in %.0f s: %s", m.name, time.Since(began).Seconds(), s.table()) }()
			s.all(t, programs(t))
		})
	}
}

// looker looks at programs with one MPI.
type looker struct {
	mpi    mpi
	tools  toolchain
	random *rand.Rand
	// verdicts are counted by the way of the look, and the programs that are of no use by the reason.
	verdicts map[string]map[string]int
	// reasons are counted that a verdict of "unknown" gives, without ranks and places.
	reasons map[string]int
	spent   map[string]time.Duration // by the way of the look
	// aside are the verdicts of reports on programs that come to stand, or fail, without a look too: what is said of these
	// is no part of the share.
	aside                 map[string]int
	looked                []string
	unbuilt, unfit, leaky []string
	// schemas are those of snapshots and of reports.
	schemas [2]*jsonschema.Schema
}

// all looks at as many programs as are planned.
func (s *looker) all(t *testing.T, list []program) {
	for _, p := range s.inOrder(list) {
		if len(s.looked) == s.mpi.programs {
			s.fewUnknown(t)
			return
		}
		if s.mpi.isFragile(p) && !soak.fragile {
			continue
		}
		// The dice are thrown before the program shows what it is good for.
		dice := rand.New(rand.NewPCG(s.random.Uint64(), 0))
		path, err := s.tools.build(p)
		if err != nil {
			s.unbuilt = append(s.unbuilt, p.String())
			continue
		}
		t.Run(p.String(), func(t *testing.T) { s.program(t, p, path, dice) })
		_ = os.Remove(path)
	}
	t.Errorf("of all programs, only %d can be looked at", len(s.looked))
}

// inOrder shuffles programs: two of each folder come first. Of a program's lines, one remains.
func (s *looker) inOrder(list []program) []program {
	s.random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	turns, next := map[string]int{}, map[string]int{}
	list = slices.DeleteFunc(list, func(p program) bool {
		if _, twice := turns[p.String()]; twice {
			return true
		}
		turns[p.String()] = min(next[p.folder], 2)
		next[p.folder]++
		return false
	})
	slices.SortStableFunc(list, func(a, b program) int { return turns[a.String()] - turns[b.String()] })
	return list
}

// program looks at one program in all ways, if it ends well when it is left alone, and when it is long.
func (s *looker) program(t *testing.T, p program, path string, dice *rand.Rand) {
	order := dice.Perm(len(ways) + 1)
	long := manner{preload: s.tools.path("again.so"), slow: dice.IntN(2) == 0}
	try := long
	try.most = 3
	for _, m := range []manner{{}, try} {
		if err := start(t, s.mpi, p, path, m).end(short); err != nil {
			t.Logf("left alone, %v", err)
			s.unfit = append(s.unfit, p.String())
			return
		}
	}
	j := start(t, s.mpi, p, path, long)
	if !j.await(t, p.ranks) {
		s.unfit = append(s.unfit, p.String())
		return
	}
	s.looked = append(s.looked, p.String())
	before := maps.Clone(s.verdicts[running])
	for _, way := range order {
		if way == len(ways) {
			s.startSession(t, j, dice)
			continue
		}
		times := 1
		if ways[way] == running {
			times = soak.reports
		}
		for range times {
			pause(dice)
			s.look(t, j, ways[way], dice)
		}
	}
	if err := os.WriteFile(filepath.Join(j.folder, "stop"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := j.end(patience)
	if err == nil {
		return
	}
	// What it leaks may be too much in the end, without anyone's looking too, or its library
	// does not survive each start of further processes.
	alone := long
	alone.most = j.calls() + 2
	const tries = 3
	for range tries {
		if start(t, s.mpi, p, path, alone).end(patience) != nil {
			s.leaky = append(s.leaky, p.String())
			for verdict, n := range s.verdicts[running] {
				s.aside[verdict] += n - before[verdict]
			}
			return
		}
	}
	t.Errorf("after the looks, %v", err)
}

// pause lets the ranks run for a time that nobody knows beforehand.
func pause(dice *rand.Rand) {
	time.Sleep(time.Duration(dice.Int64N(int64(100 * time.Millisecond))))
}
