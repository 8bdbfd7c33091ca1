// Package locate reads out of a process where the library is that knows its
// message queues. Ranks and the program that started them say it alike.
package locate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// The symbols that a process can say it with.
const (
	// DLLName is a char array (the 1.03 note) or a char * (the draft): a library.
	DLLName = "MPIR_dll_name"
	// DLLLocations is a char ** of Open MPI's: libraries, up to a null pointer.
	DLLLocations = "mpimsgq_dll_locations"
	// IgnoreQueues says by being there that the queues are not to be shown: so the DLLs of MPICH
	// and Open MPI spell it, and the MPIR process acquisition interface (1.0, 2010) the other.
	IgnoreQueues     = "MPIR_Ignore_queues"
	IgnoreQueuesMPIR = "MPIR_ignore_queues"
	// ProcessTable is what a starter lists its processes in.
	ProcessTable = "MPIR_proctable"
)

// Symbols are the names of all of them.
var Symbols = []string{DLLName, DLLLocations, IgnoreQueues, IgnoreQueuesMPIR, ProcessTable}

const (
	maxPath      = 4096 // a path's length with its end, as for the kernel
	maxLocations = 64
)

// Candidate is a library that a process names. Nothing is known of it: whether it
// is there, and whether to trust who named it.
type Candidate struct {
	Path string
	// Symbol is the variable that names it.
	Symbol string
}

// Found is what a process says.
type Found struct {
	// Candidates are in the order in which they are to be tried.
	Candidates []Candidate
	// Ignore is true if its queues are not to be shown.
	Ignore bool
	// Starter is true if it started others, as far as can be told.
	Starter bool
	// Problems are for the debug log: what is there but can't be read.
	Problems []string
}

// Read asks a process. nameSize is the size of [DLLName] in bytes, 0 if that is not known, as to a
// debugger. That the process says nothing is no error, nor that what it says can't be read.
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
		f.locations(r, s.Addr)
	}
	if s, ok := symbols[DLLName]; ok {
		f.name(r, s.Addr, nameSize)
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

// locations follows a char **.
func (f *Found) locations(r *inferior.Reader, at inferior.Addr) {
	list, err := pointer(r, at)
	if err != nil {
		f.problem(DLLLocations, "%v", err)
		return
	}
	if list == 0 {
		return // set only once a debugger is seen
	}
	for i := range maxLocations {
		entry, err := pointer(r, list+inferior.Addr(i*r.Info().PointerSize))
		if err != nil {
			f.problem(DLLLocations, "entry %d: %v", i, err)
			return
		}
		if entry == 0 {
			return
		}
		path, err := text(r, entry, maxPath)
		if err != nil {
			f.problem(DLLLocations, "entry %d: %v", i, err)
			continue
		}
		f.add(DLLLocations, path)
	}
	f.problem(DLLLocations, "it does not end after %d entries", maxLocations)
}

// name reads a char array or a char *, whichever it is: both were compiled.
//
// A size that is not a pointer's decides it. Else the contents do, and a pointer
// to an absolute path is the surest sign: the letters of a path, taken as an
// address, are not one in 64 bits, and lead to no path in 32; but the bytes of
// an address can all be letters.
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

// text reads a string that can be printed, as a path can, and that ends within a limit.
func text(r *inferior.Reader, at inferior.Addr, limit int) (string, error) {
	s, err := r.CString(at, limit)
	if err == nil && s != printable.Line(s) {
		return "", fmt.Errorf("no text at %s", at)
	}
	return s, err
}

// Default are the libraries to try where nobody says one, in the folders of the
// process's MPI libraries. The note of 1.03 has their names, and which of them is
// for which way of attaching; there is only one here, so all are tried.
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
