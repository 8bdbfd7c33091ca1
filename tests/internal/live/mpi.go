//go:build live || matrix || full

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// MPI is an installed MPI library.
type MPI struct {
	// Compiler is its compiler's name or path.
	Compiler string
	// Fortran is its Fortran compiler's name, empty if it has none.
	Fortran string
	// Launcher starts ranks, with as many as follow -n.
	Launcher []string
	// TakesOptions is true if the options in the programs' comments are the launcher's.
	TakesOptions bool
	// Exports is true if the launcher takes a rank's environment as -x NAME=VALUE, and not
	// as -env NAME VALUE.
	Exports bool
	// Recovers are the launcher's flags with which it leaves ranks alone when one is gone.
	Recovers []string
	// Teller prints what it is.
	Teller []string
	// Kind is what it is, but for its release, which [MPI.Library] adds.
	Kind expect.Library
}

// The ones of this machine.
var (
	OpenMPI = MPI{
		Compiler:     "mpicc.openmpi",
		Fortran:      "mpifort.openmpi",
		Launcher:     []string{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"},
		TakesOptions: true,
		Exports:      true,
		Recovers:     []string{"--enable-recovery"},
		Teller:       []string{"ompi_info", "--version"},
		Kind:         expect.Library{MPI: "Open MPI", Device: "ob1", Stripped: true},
	}
	StockMPICH = MPI{
		Compiler: "mpicc.mpich",
		Fortran:  "mpifort.mpich",
		Launcher: []string{"mpirun.mpich"},
		Recovers: recovers,
		Teller:   []string{"mpichversion"},
		Kind:     expect.Library{MPI: "MPICH", Device: "ch4:ucx", Transport: "UCX", Stripped: true},
	}
)

// In returns an MPI of the same kind that is installed in a folder of its own, without Fortran.
func (m MPI) In(prefix string) MPI {
	bin := filepath.Join(prefix, "bin")
	m.Compiler, m.Fortran = filepath.Join(bin, "mpicc"), ""
	m.Teller = append([]string{filepath.Join(bin, m.Teller[0])}, m.Teller[1:]...)
	m.Launcher = append([]string{filepath.Join(bin, "mpirun")}, m.Launcher[1:]...)
	return m
}

// recovers are those of MPICH's launcher.
var recovers = []string{"-disable-auto-cleanup"}

// MPICHBuild is a build of MPICH with types.
type MPICHBuild struct {
	// Name is tests/mpich/build's for it.
	Name string
	// Device is that which it was configured with, with its netmod.
	Device string
	// DebuggerSupport is true if it was configured with --enable-debuginfo.
	DebuggerSupport bool
	// Fortran is true if it has Fortran's bindings.
	Fortran bool
}

// MPICHBuilds are the builds of tests/mpich/build; if MPI_QUEUES_TEST_MPICH is set, those that it names, with spaces between them.
var MPICHBuilds = chosenBuilds([]MPICHBuild{
	{"ch3-debug", "ch3:nemesis", true, false},
	{"ch3", "ch3:nemesis", false, false},
	{"ch4-debug", "ch4:ofi", true, false},
	{"ch4", "ch4:ofi", false, true},
	{"ch4-ucx", "ch4:ucx", false, false},
})

func chosenBuilds(all []MPICHBuild) []MPICHBuild {
	names := os.Getenv("MPI_QUEUES_TEST_MPICH")
	if names == "" {
		return all
	}
	return slices.DeleteFunc(all, func(b MPICHBuild) bool { return !slices.Contains(strings.Fields(names), b.Name) })
}

// Prefix is where it is installed, if tests/mpich/build has named this folder.
func (b MPICHBuild) Prefix(folder string) string { return filepath.Join(folder, b.Name) }

// MPI is the library, if tests/mpich/build has named this folder.
func (b MPICHBuild) MPI(folder string) MPI {
	bin := filepath.Join(b.Prefix(folder), "bin")
	fortran := ""
	if b.Fortran {
		fortran = filepath.Join(bin, "mpifort")
	}
	kind := expect.Library{MPI: "MPICH", Device: b.Device, DebuggerSupport: b.DebuggerSupport}
	if b.IsOverUCX() {
		kind.Transport = "UCX"
	}
	return MPI{
		Fortran:  fortran,
		Compiler: filepath.Join(bin, "mpicc"),
		Launcher: []string{filepath.Join(bin, "mpiexec.hydra")},
		Recovers: recovers,
		Teller:   []string{filepath.Join(bin, "mpichversion")},
		Kind:     kind,
	}
}

// IsCH4 is true of both netmods of device ch4.
func (b MPICHBuild) IsCH4() bool { return strings.HasPrefix(b.Device, "ch4:") }

// IsOverUCX is true if all messages are left to UCX.
func (b MPICHBuild) IsOverUCX() bool { return b.Device == "ch4:ucx" }

// Setting are the launcher's flags that set a variable of the ranks' environment, and of that
// of what they spawn.
func (m MPI) Setting(name, value string) []string {
	if m.Exports {
		return []string{"-x", name + "=" + value}
	}
	return []string{"-genv", name, value}
}

// Library is what the library is.
func (m MPI) Library(t testing.TB) expect.Library {
	t.Helper()
	l := m.Kind
	l.Release = strings.TrimPrefix(m.Release(t), l.MPI+" ")
	// There are whole tables of the releases that are tested.
	l.Found = l.Stripped
	return l
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
