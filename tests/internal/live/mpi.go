//go:build live || matrix

package live

import "path/filepath"

// MPI is an installed MPI library.
type MPI struct {
	// Compiler is its compiler's name or path.
	Compiler string
	// Launcher starts ranks, with as many as follow -n.
	Launcher []string
	// TakesOptions is true if the options in the programs' comments are the launcher's.
	TakesOptions bool
}

// openMPI is the one of this machine.
var openMPI = MPI{
	Compiler:     "mpicc.openmpi",
	Launcher:     []string{"mpirun", "--allow-run-as-root", "--oversubscribe"},
	TakesOptions: true,
}

// MPICH is one that is installed below a folder.
func MPICH(prefix string) MPI {
	return MPI{
		Compiler: filepath.Join(prefix, "bin", "mpicc"),
		Launcher: []string{filepath.Join(prefix, "bin", "mpiexec.hydra")},
	}
}
