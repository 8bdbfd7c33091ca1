//go:build live || matrix || full

package oracle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// build is an MPI, and how its jobs are started.
type build struct {
	name  string
	mpi   live.MPI
	flags []string
	dll   bool // it has a DLL of its vendor's
}

// key is its name in the table, with its version.
func (b *build) key(t *testing.T) string {
	t.Helper()
	release := b.mpi.Release(t)
	return b.name + " " + release[strings.LastIndex(release, " ")+1:]
}

// builds are those of the distribution, and with a flag those of tests/mpich/build.
func builds(t *testing.T) []build {
	t.Helper()
	all := []build{
		{"openmpi", live.OpenMPI, nil, true},
		{"openmpi-ucx", live.OpenMPI, live.OverUCX("n"), false},
		{"openmpi-ucx-new", live.OpenMPI, live.OverUCX("y"), false},
		{"mpich", live.StockMPICH, nil, false},
	}
	if !*mpich {
		return all
	}
	command := exec.Command("../mpich/build")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("tests/mpich/build: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, name := range []string{"ch3-debug", "ch3", "ch4-debug", "ch4", "ch4-ucx"} {
		all = append(all, build{"mpich-" + name, live.MPICH(filepath.Join(lines[len(lines)-1], name)), nil, name == "ch3-debug" || name == "ch4-debug"})
	}
	return all
}
