//go:build live || matrix || full

package live

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// MPI is an installed MPI library.
type MPI struct {
	// Compiler is its compiler's name or path.
	Compiler string
	// Launcher starts ranks, with as many as follow -n.
	Launcher []string
	// TakesOptions is true if the options in the programs' comments are the launcher's.
	TakesOptions bool
	// Exports is true if the launcher takes a rank's environment as -x NAME=VALUE, and not
	// as -env NAME VALUE.
	Exports bool
	// Teller prints what it is.
	Teller []string
}

// The ones of this machine.
var (
	OpenMPI = MPI{
		Compiler:     "mpicc.openmpi",
		Launcher:     []string{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"},
		TakesOptions: true,
		Exports:      true,
		Teller:       []string{"ompi_info", "--version"},
	}
	StockMPICH = MPI{
		Compiler: "mpicc.mpich",
		Launcher: []string{"mpirun.mpich"},
		Teller:   []string{"mpichversion"},
	}
)

// OverUCX are the flags of Open MPI's launcher for pml ucx on a machine without a
// network for it, with UCX's old protocols ("n") or its new ones ("y").
func OverUCX(protocols string) []string {
	return []string{"--mca", "pml", "ucx", "--mca", "osc", "^ucx",
		"--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any",
		"-x", "UCX_RNDV_THRESH=8192", "-x", "UCX_PROTO_ENABLE=" + protocols}
}

// MPICH is one that is installed below a folder.
func MPICH(prefix string) MPI {
	return MPI{
		Compiler: filepath.Join(prefix, "bin", "mpicc"),
		Launcher: []string{filepath.Join(prefix, "bin", "mpiexec.hydra")},
		Teller:   []string{filepath.Join(prefix, "bin", "mpichversion")},
	}
}

// Setting are the launcher's flags that set a variable of the ranks' environment, and of that
// of what they spawn.
func (m MPI) Setting(name, value string) []string {
	if m.Exports {
		return []string{"-x", name + "=" + value}
	}
	return []string{"-genv", name, value}
}

// Release is what the library says that it is: "Open MPI 4.1.4".
func (m MPI) Release(t testing.TB) string {
	t.Helper()
	text, err := exec.Command(m.Teller[0], m.Teller[1:]...).Output()
	if err != nil {
		t.Fatalf("%s: %v", m.Teller[0], err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	name, version, ok := strings.Cut(line, " v") // Open MPI v4.1.4
	if !ok {
		name, version, ok = strings.Cut(line, " Version:") // MPICH Version:    4.0.2
	}
	if !ok {
		t.Fatalf("%s says %q, which names no version", m.Teller[0], line)
	}
	return name + " " + strings.TrimSpace(version)
}
