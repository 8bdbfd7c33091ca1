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
	// isMeasured is true of an install for which known.json has no entries of its own: what it leaves unknown or out is counted, and
	// only what is wrong fails.
	isMeasured bool
}

// key is its name in the table, with its version.
func (b *build) key(t *testing.T) string {
	t.Helper()
	release := b.mpi.Release(t)
	return b.name + " " + release[strings.LastIndex(release, " ")+1:]
}

// write writes a result of the build for tests/oracle/scores, if there is a folder for it.
func (b *build) write(t *testing.T, r Result) {
	t.Helper()
	if *results == "" {
		return
	}
	r.MPI, r.Build = b.mpi.Release(t), b.name
	if err := r.Write(*results); err != nil {
		t.Error(err)
	}
}

// builds are those of the distribution, and with flags those of tests/mpich/build and of
// tests/ucx/build.
func builds(t *testing.T) []build {
	t.Helper()
	all := []build{
		{name: "openmpi", mpi: live.OpenMPI, dll: true},
		{name: "openmpi-ucx", mpi: live.OpenMPI, flags: live.OverUCX("n")},
		{name: "openmpi-ucx-new", mpi: live.OpenMPI, flags: live.OverUCX("y")},
		{name: "mpich", mpi: live.StockMPICH},
	}
	if *install != "" {
		return []build{measured(t, all)}
	}
	if *mpich {
		folder := built(t, "../mpich/build")
		for _, b := range live.MPICHBuilds {
			all = append(all, build{name: "mpich-" + b.Name, mpi: b.MPI(folder), dll: b.DebuggerSupport})
		}
	}
	if *ucx {
		folder := built(t, "../ucx/build")
		libraries := "LD_LIBRARY_PATH=" + filepath.Join(folder, "lib")
		all = append(all, build{name: "openmpi-ucx-noassert", mpi: live.OpenMPI, flags: append(live.OverUCX("n"), "-x", libraries), single: true})
		for name, libraries := range map[string]string{"noassert": "lib", "typed": "typed"} {
			flags := []string{"-genv", "LD_LIBRARY_PATH", filepath.Join(folder, libraries)}
			all = append(all, build{name: "mpich-" + name, mpi: live.StockMPICH, flags: flags})
		}
	}
	return all
}

// measured is the install of the flag, of the kind of one of the builds.
func measured(t *testing.T, builds []build) build {
	t.Helper()
	for _, b := range builds {
		if b.name != *like {
			continue
		}
		if b.isMeasured = true; *install != "/usr" {
			b.mpi, b.dll = b.mpi.In(*install), false
		}
		b.flags = append(b.flags, strings.Fields(*launch)...)
		return b
	}
	t.Fatalf("-like %s: there is no such build", *like)
	return build{}
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
