// Package derived knows the libraries that were derived from MPICH and have other names: Intel MPI, MVAPICH, ParaStation
// MPI, Cray MPICH. Of one without types it shows what frames and the launcher alone tell.
package derived

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Library is one such library of a process.
type Library struct {
	// Name is what people call it: "Intel MPI".
	Name string
	// Version is its own release, empty if it does not say it.
	Version string
	// Base is the release of MPICH that it names as its own base, empty if it names none.
	Base string
	// Root is one of its symbols.
	Root inferior.Symbol
}

// Words are its name and, if that is known, its release.
func (l *Library) Words() string { return strings.TrimSpace(l.Name + " " + printable.Line(l.Version)) }

// family is what the libraries of one name have that MPICH has not.
type family struct {
	name string
	// marks are symbols, of which each tells the library.
	marks []string
	// device begins what it says of its device, empty if that tells nothing.
	device string
	// version is a char[] with its release, empty if the library keeps none in a variable of its own.
	version string
	// isBase is true if MPICH's variable has the release of the MPICH that it was made of.
	isBase bool
}

// Symbols of the version and the device before MPICH 3.3, of which MVAPICH2 2.3 was made.
const (
	symOldVersion = "MPIR_Version_string" // char[]
	symOldDevice  = "MPIR_Version_device" // char[]
)

// families are the libraries. What tells Intel's was seen in 2021.18: its version is in .symtab, and its function in .dynsym.
// MVAPICH's are in its sources, of 2.3.7 (affinity/hwloc_bind.c, ch3:mrail), of 3.0 (the same file) and of 4.0
// (mpi/init/globals.c, ch4/shm/posix/eager/mvp_shm), and ParaStation's in those of 5.14 (mpid/psp/src/mpid_debug.c, device
// psp). Cray's are functions in stacks that its users have published.
var families = []family{
	{name: "Intel MPI", marks: []string{"I_MPI_Library_version", "I_MPI_Check_image_status"}, version: "I_MPI_Library_version", isBase: true},
	{name: "MVAPICH2", marks: []string{"mv2_enable_affinity"}, device: "ch3:mrail", version: symOldVersion},
	{name: "MVAPICH", marks: []string{"mvp_enable_affinity", "mvp_lmem_pool", "MPIDI_POSIX_eager_mvp_shm_funcs"}, version: mpir.SymVersion},
	{name: "ParaStation MPI", marks: []string{"MPIDI_PSP_get_psmpi_version_string"}, device: "psp", isBase: true},
	{name: "Cray MPICH", marks: []string{"MPIDI_CRAY_init", "MPIDI_CRAY_finalize", "MPIDI_CRAY_Common_lmt_progress"}, isBase: true},
}

// Identify finds the library that a symbol of MPICH's is in, if it is another one than MPICH; else it is nil. What tells it
// has to be in the same file.
func Identify(r *inferior.Reader, root inferior.Symbol) (*Library, error) {
	names := []string{mpir.SymVersion, mpir.SymDevice, symOldVersion, symOldDevice}
	for _, f := range families {
		names = append(names, f.marks...)
	}
	// Of a recording that was made before these were known, the library is taken for MPICH.
	found, err := r.Symbols(r.Told(names)...)
	if err != nil {
		return nil, err
	}
	text := func(names ...string) string {
		for _, name := range names {
			if s, ok := found[name]; ok && s.Object == root.Object {
				if words := mpir.Text(r, s.Addr); words != "" {
					return words
				}
			}
		}
		return ""
	}
	device := text(mpir.SymDevice, symOldDevice)
	for _, f := range families {
		if !f.has(found, root.Object) && (f.device == "" || !strings.HasPrefix(device, f.device)) {
			continue
		}
		l := &Library{Name: f.name, Root: root}
		if f.version != "" {
			l.Version = text(f.version)
		}
		if f.isBase {
			l.Base = text(mpir.SymVersion)
		}
		return l, nil
	}
	return nil, nil
}

// has says whether one of the marks is in a file.
func (f *family) has(found map[string]inferior.Symbol, object string) bool {
	for _, name := range f.marks {
		if s, ok := found[name]; ok && s.Object == object {
			return true
		}
	}
	return false
}
