//go:build live || matrix || full

package oracle

import (
	"path/filepath"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// build is an MPI, and how its jobs are started.
type build struct {
	name  string // in known.json
	mpi   live.MPI
	flags []string
	dll   bool // it has a DLL of its vendor's
}

// builds are those of this machine's distribution, and those of tests/mpich/build whose
// folder a flag names.
func builds() []build {
	all := []build{
		{"openmpi", live.OpenMPI, nil, true},
		{"openmpi-ucx", live.OpenMPI, live.OverUCX("n"), false},
		{"openmpi-ucx-new", live.OpenMPI, live.OverUCX("y"), false},
		{"mpich", live.StockMPICH, nil, false},
	}
	if *mpich == "" {
		return all
	}
	for _, name := range []string{"ch3-debug", "ch3", "ch4-debug", "ch4", "ch4-ucx"} {
		all = append(all, build{"mpich-" + name, live.MPICH(filepath.Join(*mpich, name)), nil, name == "ch3-debug" || name == "ch4-debug"})
	}
	return all
}
