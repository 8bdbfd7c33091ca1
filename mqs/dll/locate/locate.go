// Package locate reads from a process where the queue DLL of its MPI is. Ranks, and the program that
// started them, say it in the same way.
package locate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// The symbols by which a process can say it.
const (
	// DLLName is a char array (the 1.03 note) or a char * (the draft) with the path of a library.
	DLLName = "MPIR_dll_name"
	// DLLLocations is a char ** of Open MPI's: paths of libraries, up to a null pointer.
	DLLLocations = "mpimsgq_dll_locations"
	// IgnoreQueues says by its presence that the queues are not to be shown. The DLLs of MPICH and
	// Open MPI spell it so; the MPIR process acquisition interface (1.0, 2010) has the other spelling.
	IgnoreQueues     = "MPIR_Ignore_queues"
	IgnoreQueuesMPIR = "MPIR_ignore_queues"
	// ProcessTable is the table in which a starter lists its processes.
	ProcessTable = "MPIR_proctable"
)

// Symbols are the names of all these symbols.
var Symbols = []string{DLLName, DLLLocations, IgnoreQueues, IgnoreQueuesMPIR, ProcessTable}

const (
	maxPath      = 4096 // a path's length with its end, as for the kernel
	maxLocations = 64
)

// Candidate is a library that a process names. It may not exist, and may not be trustworthy.
type Candidate struct {
	Path string
	// Symbol is the variable that has its path.
	Symbol string
}

// Found is what a process says.
type Found struct {
	// Candidates are the libraries, in the order in which to try them.
	Candidates []Candidate
	// Ignore is true if its queues are not to be shown.
	Ignore bool
	// Starter is true if the process seems to have started others.
	Starter bool
	// Problems say, for the debug log, what is there and can't be read.
	Problems []string
}

// Read reads what a process says. nameSize is the size of [DLLName] in bytes, 0 if it is not known, as
// in a debugger. It is no error if the process says nothing, or if what it says can't be read.
func Read(r *inferior.Reader, nameSize uint64) (Found, error) {
	f := Found{}
	symbols, err := r.Symbols(Symbols...)
	if err != nil {
		return f, err
	}
	for _, name := range []string{IgnoreQueues, IgnoreQueuesMPIR} {
		if _, ok := symbols[name]; ok {
			f.Ignore = true
		}
	}
	_, f.Starter = symbols[ProcessTable]
	if s, ok := symbols[DLLLocations]; ok {
		f.locations(r, DLLLocations, s.Addr)
	}
	if s, ok := symbols[DLLName]; ok {
		f.name(r, s.Addr, nameSize)
	}
	return f, r.Err()
}

// HandleLocations are the variables, each a char **, by which a process names DLLs for handles: Open
// MPI's, and that of the MPI Forum's draft of such DLLs.
var HandleLocations = []string{"mpidbg_dll_locations", "MPI_D_dll_locations"}

// ReadHandles reads which DLLs for handles a process names. It is no error if it names none, or if what
// it says can't be read.
func ReadHandles(r *inferior.Reader) (Found, error) {
	f := Found{}
	symbols, err := r.Symbols(HandleLocations...)
	if err != nil {
		return f, err
	}
	for _, name := range HandleLocations {
		if s, ok := symbols[name]; ok {
			f.locations(r, name, s.Addr)
		}
	}
	return f, r.Err()
}

func (f *Found) add(symbol, path string) {
	if path != "" && !slices.ContainsFunc(f.Candidates, func(c Candidate) bool { return c.Path == path }) {
		f.Candidates = append(f.Candidates, Candidate{path, symbol})
	}
}

func (f *Found) problem(symbol, format string, args ...any) {
	f.Problems = append(f.Problems, symbol+": "+fmt.Sprintf(format, args...))
}

// locations follows the char ** of a name.
func (f *Found) locations(r *inferior.Reader, symbol string, at inferior.Addr) {
	list, err := pointer(r, at)
	if err != nil {
		f.problem(symbol, "%v", err)
		return
	}
	if list == 0 {
		return // set only once a debugger is seen
	}
	for i := range maxLocations {
		entry, err := pointer(r, list+inferior.Addr(i*r.Info().PointerSize))
		if err != nil {
			f.problem(symbol, "entry %d: %v", i, err)
			return
		}
		if entry == 0 {
			return
		}
		path, err := text(r, entry, maxPath)
		if err != nil {
			f.problem(symbol, "entry %d: %v", i, err)
			continue
		}
		f.add(symbol, path)
	}
	f.problem(symbol, "it does not end after %d entries", maxLocations)
}

// name reads a variable that is a char array in some programs and a char * in others.
//
// A size that is not a pointer's decides which. Else the contents decide, and a pointer to an absolute
// path is the surest sign: the letters of a path are no valid address in 64 bits, and lead to no path
// in 32 bits; but the bytes of an address may all be letters.
func (f *Found) name(r *inferior.Reader, at inferior.Addr, size uint64) {
	limit := maxPath
	if size > 0 {
		limit = int(min(size, maxPath))
	}
	array, arrayErr := text(r, at, limit)
	if size != 0 && size != uint64(r.Info().PointerSize) {
		if arrayErr != nil {
			f.problem(DLLName, "%v", arrayErr)
		}
		f.add(DLLName, array)
		return
	}
	target, err := pointer(r, at)
	if err == nil && target == 0 {
		return // not set, whichever it is
	}
	var pointed string
	if err == nil {
		pointed, err = text(r, target, maxPath)
	}
	switch {
	case err == nil && strings.HasPrefix(pointed, "/"):
		f.add(DLLName, pointed)
	case arrayErr == nil && array != "":
		f.add(DLLName, array)
	case err == nil:
		f.add(DLLName, pointed)
	case arrayErr == nil: // an empty array, with something behind its end
	default:
		f.problem(DLLName, "neither a path (%v) nor a pointer to one (%v)", arrayErr, err)
	}
}

// pointer reads a pointer.
func pointer(r *inferior.Reader, at inferior.Addr) (inferior.Addr, error) {
	p, err := r.Pointers(at, 1)
	if err != nil {
		return 0, err
	}
	return p[0], nil
}

// text reads a printable string, as a path is, that ends within a limit.
func text(r *inferior.Reader, at inferior.Addr, limit int) (string, error) {
	s, err := r.CString(at, limit)
	if err == nil && s != printable.Line(s) {
		return "", fmt.Errorf("no text at %s", at)
	}
	return s, err
}

// Default returns the libraries to try if no process names one, in the folders of its MPI libraries.
// The 1.03 note has their names, one for each way of attaching. There is only one way here, so all are
// tried.
func Default(libraryDirs []string) []string {
	var out []string
	for _, dir := range libraryDirs {
		for _, name := range []string{"libtvmpich.so", "libtvibmmpi.so", "libxmpi.so"} {
			if path := filepath.Join(dir, name); !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}
