//go:build live || matrix || full

package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// build is one build of an MPI, and how its jobs are started.
type build struct {
	name  string
	mpi   live.MPI
	flags []string
	dll   bool // it has a DLL of its vendor's
	// single is true if it allows one thread only.
	single bool
}

// key is its name in the table, with its version.
func (b *build) key(t *testing.T) string {
	t.Helper()
	release := b.mpi.Release(t)
	return b.name + " " + release[strings.LastIndex(release, " ")+1:]
}

// builds are those of the distribution, and with flags those of tests/mpich/build and of
// tests/ucx/build.
func builds(t *testing.T) []build {
	t.Helper()
	all := []build{
		{"openmpi", live.OpenMPI, nil, true, false},
		{"openmpi-ucx", live.OpenMPI, live.OverUCX("n"), false, false},
		{"openmpi-ucx-new", live.OpenMPI, live.OverUCX("y"), false, false},
		{"mpich", live.StockMPICH, nil, false, false},
	}
	if *mpich {
		folder := built(t, "../mpich/build")
		for _, b := range live.MPICHBuilds {
			all = append(all, build{"mpich-" + b.Name, b.MPI(folder), nil, b.DebuggerSupport, false})
		}
	}
	if *ucx {
		folder := built(t, "../ucx/build")
		libraries := "LD_LIBRARY_PATH=" + filepath.Join(folder, "lib")
		all = append(all, build{"openmpi-ucx-noassert", live.OpenMPI, append(live.OverUCX("n"), "-x", libraries), false, true})
		for name, libraries := range map[string]string{"noassert": "lib", "typed": "typed"} {
			flags := []string{"-genv", "LD_LIBRARY_PATH", filepath.Join(folder, libraries)}
			all = append(all, build{"mpich-" + name, live.StockMPICH, flags, false, false})
		}
	}
	return all
}

// built is the folder of what a script builds.
func built(t *testing.T, script string) string {
	t.Helper()
	folder, err := live.Built(script)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// spawns says whether processes of a build, by its key, can spawn others. Over UCX, no MPI can. Open MPI from
// 5.0 on can only over a network. MPICH's ch4 leaves messages between the two jobs to a network library,
// which is not read.
func spawns(key string) bool {
	return strings.HasPrefix(key, "openmpi 4.") || strings.HasPrefix(key, "mpich-ch3")
}

// blockSeeds is the number of seeds in a row with the same number of processes. The last one never ends.
const blockSeeds = 6

// children is the number of processes that a seed's job spawns: 1 or 2 in one block of five.
func (r *run) children(seed int) int {
	block := (seed - 1) / blockSeeds
	if !spawns(r.key) || block%5 != 1 {
		return 0
	}
	return 1 + block/5%2
}
