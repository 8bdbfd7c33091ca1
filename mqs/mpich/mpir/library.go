// Package mpir reads what all of MPICH has alike whatever its device, which is what its source calls
// MPIR: communicators, requests, datatypes, groups, the debugger's queue of sends. What differs between
// devices is a [Device].
package mpir

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Name is what people call the implementation.
const Name = "MPICH"

// Symbols that a stripped library keeps in .dynsym up to 4.0.
const (
	SymVersion       = "MPII_Version_string"    // char[]
	SymDevice        = "MPII_Version_device"    // char[]: "ch4:ofi"
	SymCommunicators = "MPIR_All_communicators" // MPIR_Comm_list, with debugger support
	symSendq         = "MPIR_Sendq_head"        // MPIR_Sendq * or MPIR_Debugq *, with debugger support
)

// Symbols that MPICH hides: a library has them until it is stripped.
const (
	SymRequestPools = "MPIR_Request_mem"      // MPIR_Object_alloc_t[]
	symProcess      = "MPIR_Process"          // MPIR_Process_t
	symCommPool     = "MPIR_Comm_mem"         // MPIR_Object_alloc_t
	symBuiltinComms = "MPIR_Comm_builtin"     // MPIR_Comm[]
	symDatatypePool = "MPIR_Datatype_mem"     // MPIR_Object_alloc_t
	symDatatypes    = "MPIR_Datatype_builtin" // MPIR_Datatype[]
	symThreads      = "MPIR_ThreadInfo"       // MPIR_Thread_info_t
	symBsend        = "BsendBuffer"           // struct BsendBuffer, up to 4.1
	symSchedules    = "all_schedules"         // struct MPIDU_Sched *

	symGroupPool      = "MPIR_Group_mem"       // MPIR_Object_alloc_t, as are the others
	symOpPool         = "MPIR_Op_mem"          //
	symErrhandlerPool = "MPIR_Errhandler_mem"  //
	symInfoPool       = "MPIR_Info_mem"        //
	symWinPool        = "MPIR_Win_mem"         //
	symSessionPool    = "MPIR_Session_mem"     //
	symTopologyKeyval = "MPIR_Topology_keyval" // int

	symFortranFiles    = "ADIOI_Ftable"     // MPI_File *, by their Fortran handles
	symLastFortranFile = "ADIOI_Ftable_ptr" // int
)

// Required are the symbols without which nothing can be read.
var Required = []string{symProcess, SymRequestPools, symCommPool, symBuiltinComms, symDatatypePool, symDatatypes}

// Symbols are the roots of what all devices have.
func Symbols() []string {
	return append([]string{SymVersion, SymDevice, SymCommunicators, symSendq, symBsend, symThreads, symSchedules, symGroupPool, symOpPool,
		symErrhandlerPool, symInfoPool, symWinPool, symSessionPool, symTopologyKeyval, symFortranFiles, symLastFortranFile}, Required...)
}

// Library is the MPICH of one process during one stop: what its objects are read with.
type Library struct {
	// MPI is what people call it, and Release what it says of its release, if that is not what MPICH's own variables
	// have: it may have been derived from MPICH.
	MPI, Release string
	Reader       *inferior.Reader
	Symbols      map[string]inferior.Symbol
	Layouts      *layout.Layouts
	// Process is what the library knows of itself, once [Library.Prove] has read it.
	Process Process
	// Remarks are what reading has brought up so far.
	Remarks Remarks
	// Sendq is the debugger's queue of sends, once requests are read.
	Sendq Sendq
	// IsStripped is true if the library has no types: the arguments of its functions are unknown, and few of its functions
	// may have symbols.
	IsStripped bool
	// image is the data of a library whose variables [Library.Hidden] has found, else nil.
	image *Image

	c         types
	groups    groupTypes // where c has a Pmap
	o         objectTypes
	pools     objectPools
	buffers   map[inferior.Ptr[attached]]*attachedBuffer
	members   map[Membership][]mqs.Maybe[int32]
	datatypes datatypes
}

// Bind returns the library of a process, to be read by layouts. It fails if they lack something.
func Bind(r *inferior.Reader, symbols map[string]inferior.Symbol, l *layout.Layouts) (*Library, error) {
	lib := &Library{MPI: Name, Reader: r, Symbols: symbols, Layouts: l, IsStripped: l.Source == "table", members: map[Membership][]mqs.Maybe[int32]{}}
	if err := inferior.Bind(&lib.c, l); err != nil {
		return nil, err
	}
	lib.o.bind(l)
	lib.pools = newObjectPools(lib)
	if lib.HasGroups() {
		return lib, inferior.Bind(&lib.groups, l)
	}
	return lib, nil
}

// IsHidden reports whether the library's variables have no symbols, and were found by looking through its data.
func (l *Library) IsHidden() bool { return l.image != nil }

// HasGroups says whether communicators have groups that say who their members are, as from 5.0 on. Else
// the device knows.
func (l *Library) HasGroups() bool { return l.c.Pmap.Bound() }

const maxVersion = 64 // bytes

// Version is the library's version and device in its own words, as far as it says them.
func Version(r *inferior.Reader, symbols map[string]inferior.Symbol) string {
	var words []string
	for _, name := range []string{SymVersion, SymDevice} {
		if s, ok := symbols[name]; ok {
			if text := Text(r, s.Addr); text != "" {
				words = append(words, text)
			}
		}
	}
	return strings.Join(words, " ")
}

// Text is a short string of the library's data; empty if it can't be read.
func Text(r *inferior.Reader, at inferior.Addr) string {
	// What is read goes into recordings, and beside these short strings stand
	// the paths of the machine that built the library: not a byte too much.
	for limit := 4; limit <= maxVersion; limit += 4 {
		if text, err := r.CString(at, limit); err == nil {
			return text
		}
	}
	return ""
}

// AnySet says whether one of some pointers is not 0.
func (l *Library) AnySet(pointers ...inferior.Embedded[inferior.Addr]) mqs.Maybe[bool] {
	for _, at := range pointers {
		p, err := l.Reader.Pointers(at.Addr(), 1)
		if err != nil {
			return mqs.Maybe[bool]{}
		}
		if p[0] != 0 {
			return mqs.Known(true)
		}
	}
	return mqs.Known(false)
}
