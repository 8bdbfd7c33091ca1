// Package mpich decodes the message queues of MPICH with the devices ch3 and
// ch4, from 4.0 to 5.0, with and without support for debuggers: with the
// library's DWARF where there is any, else with embedded layouts of stock
// builds that prove themselves on the process. What is derived from MPICH and
// keeps its structures is read the same way.
package mpich

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// Decoder recognises MPICH.
type Decoder struct{}

// Name is the implementation's name.
func (Decoder) Name() string { return "MPICH" }

// Symbols that a stripped library keeps in .dynsym: the constants of MPI that
// are objects in MPICH alone in every release, the others up to 4.1.
const (
	symAllHandles    = "MPI_T_PVAR_ALL_HANDLES" // MPI_T_pvar_handle
	symUnweighted    = "MPI_UNWEIGHTED"         // int *
	symVersion       = "MPII_Version_string"    // char[]
	symDevice        = "MPII_Version_device"    // char[]: "ch4:ofi"
	symCommunicators = "MPIR_All_communicators" // MPIR_Comm_list, with debugger support
	symSendq         = "MPIR_Sendq_head"        // MPIR_Sendq * or MPIR_Debugq *, with debugger support
)

// Symbols that MPICH hides: a library has them until it is stripped.
const (
	symProcess      = "MPIR_Process"          // MPIR_Process_t
	symRequestPools = "MPIR_Request_mem"      // MPIR_Object_alloc_t[]
	symCommPool     = "MPIR_Comm_mem"         // MPIR_Object_alloc_t
	symBuiltinComms = "MPIR_Comm_builtin"     // MPIR_Comm[]
	symDatatypePool = "MPIR_Datatype_mem"     // MPIR_Object_alloc_t
	symDatatypes    = "MPIR_Datatype_builtin" // MPIR_Datatype[]
	symThreads      = "MPIR_ThreadInfo"       // MPIR_Thread_info_t
	symBsend        = "BsendBuffer"           // struct BsendBuffer, up to 4.1
	// Of ch3.
	symCH3        = "MPIDI_Process"                        // MPIDI_Process_t
	symRegion     = "MPID_nem_mem_region"                  // MPID_nem_mem_region_t
	symCompleted  = "MPIDI_CH3I_progress_completion_count" // MPL_atomic_int_t
	symPosted     = "recvq_posted_head"                    // MPIR_Request *
	symUnexpected = "recvq_unexpected_head"                // MPIR_Request *
	// Of ch4.
	symCH4        = "MPIDI_global"                             // MPIDI_CH4_Global_t
	symSelfRecvs  = "self_recv_queue"                          // MPIR_Request *
	symSelfSends  = "self_send_queue"                          // the same
	symTransports = "MPIDI_POSIX_eager_iqueue_global"          // MPIDI_POSIX_eager_iqueue_global_t
	symCellSize   = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE" // int
)

// needed are the symbols without which nothing can be read.
var needed = []string{symProcess, symRequestPools, symCommPool, symBuiltinComms, symDatatypePool, symDatatypes}

// recognising are the symbols that MPICH is recognised by.
var recognising = []string{symRequestPools, symVersion, symCommunicators, symAllHandles, symUnweighted}

// Symbols are those that MPICH is recognised by. A debugger takes milliseconds
// to find that there is none of a name, so the others are looked for in MPICH only.
func (Decoder) Symbols() []string { return recognising }

// others are the decoder's other roots.
func others() []string {
	return append([]string{symDevice, symSendq, symBsend, symCH3, symPosted, symUnexpected, symCH4, symSelfRecvs, symSelfSends, symCellSize, symThreads, symRegion, symTransports, symCompleted}, needed...)
}

// source is one process that uses MPICH.
type source struct {
	types
	groups     groupTypes
	arrivals   arrivalTypes
	partitions partitionedTypes
	r          *inferior.Reader
	symbols    map[string]inferior.Symbol
	layouts    *layout.Layouts
	device     device
	process    process
	comms      map[inferior.Addr]*commState // by address
	members    map[membership][]mqs.Maybe[int32]

	requests        *requests
	byAddr          map[inferior.Addr]*requestAt
	noted           map[inferior.Addr]*envelope       // sends that are noted for debuggers
	notesSends      bool                              // the library notes sends
	pointsAtNotes   bool                              // a request points at its own note
	notesUserSends  bool                              // and those of the program alone
	blocking        map[inferior.Addr]string          // kinds by request
	mayBeBlocking   map[inferior.Addr]bool            // requests of which it is not known
	callOf          map[inferior.Addr]*callstack.Call // blocking calls by their own request
	blockingUnknown bool                              // it is not known of any
	inCollective    map[inferior.Addr]string          // requests by what other call holds them
	datatypes       map[uint32]datatypeInfo           // by handle
	poolOfTypes     *openPool
	poolOfTypesRead bool

	notes []string
	// What was shown that needs a note.
	unknownSends, unknownReceives, unorderedSends, messagesOutside, allOutside, barePartitioned bool

	networkErr error // why UCX can't be read, if MPICH is over it

	strayed int // pending sends that no communicator is known of
}

// Open recognises the process, finds the layouts that fit it and checks that
// MPI is in use.
func (d Decoder) Open(r *inferior.Reader, symbols map[string]inferior.Symbol) (read.Source, error) {
	root, ok := recognise(symbols)
	if !ok {
		return nil, read.ErrNotThis
	}
	found, err := r.Symbols(others()...)
	if err != nil {
		return nil, err
	}
	symbols = maps.Clone(symbols)
	maps.Copy(symbols, found)
	missing := slices.IndexFunc(needed, func(name string) bool { _, ok := symbols[name]; return !ok })
	if missing < 0 {
		return open(r, symbols)
	}
	s, err := openStripped(r, symbols)
	var unreadable *read.UnreadableError
	switch {
	case err == nil:
		return s, nil
	case errors.As(err, &unreadable):
		return nil, err
	}
	beneath := ""
	if !errors.Is(err, ucx.ErrNone) {
		beneath = fmt.Sprintf("\nNor can UCX beneath it be read: %v", err)
	}
	return nil, read.Unreadable(d.Name(), "%s is stripped: MPICH hides the symbols and the types that its message queues are read with, "+
		"and this library has neither (no %s), so nothing can be shown. "+
		"Install the library's debug symbols if there are any, or `set debuginfod enabled on`, "+
		"or run the program with an MPICH that was configured with MPICHLIB_CFLAGS=-g or, best, --enable-debuginfo and --enable-g=dbg%s%s",
		library(root), needed[missing], describeVersion(r, symbols), beneath)
}

// recognise returns a symbol of the library.
func recognise(symbols map[string]inferior.Symbol) (inferior.Symbol, bool) {
	for _, name := range recognising {
		if s, ok := symbols[name]; ok {
			return s, true
		}
	}
	return inferior.Symbol{}, false
}

const maxVersion = 64 // bytes

// version is the library's version and device in its own words, as far as it says them.
func version(r *inferior.Reader, symbols map[string]inferior.Symbol) string {
	var words []string
	for _, name := range []string{symVersion, symDevice} {
		s, ok := symbols[name]
		// What is read goes into recordings, and beside these short strings stand
		// the paths of the machine that built the library: not a byte too much.
		for limit := 4; ok && limit <= maxVersion; limit += 4 {
			if text, err := r.CString(s.Addr, limit); err == nil {
				words = append(words, text)
				break
			}
		}
	}
	return strings.Join(words, " ")
}

func describeVersion(r *inferior.Reader, symbols map[string]inferior.Symbol) string {
	if v := version(r, symbols); v != "" {
		return " (it is MPICH " + printable.Line(v) + ")"
	}
	return ""
}

func open(r *inferior.Reader, symbols map[string]inferior.Symbol) (read.Source, error) {
	s, err := inferior.Fit(r, queries(), tables(), func(l *layout.Layouts) (*source, error) { return try(r, symbols, l) })
	var noFit *inferior.NoFitError
	switch {
	case err == nil:
		return s, s.checkState()
	case !errors.As(err, &noFit):
		return nil, err
	}
	root, _ := recognise(symbols)
	return nil, read.Unreadable("MPICH", "%s has symbols, but no type information that fits, and none of the layouts that mpi-queues knows (%s) does: "+
		"install the library's debug symbols, or `set debuginfod enabled on`, or use an MPICH configured with MPICHLIB_CFLAGS=-g%s.\n%v",
		library(root), noFit.Known, describeVersion(r, symbols), noFit.Why)
}

// FindTypes tells MPICH's own DLL what the layouts are that the process was read
// by (read.Typist).
func (s *source) FindTypes(queries []layout.TypeQuery) ([]*layout.Layout, error) {
	return inferior.FindTypes(s.r, s.layouts, queries)
}

// try binds the types that the process's MPICH has, and checks them.
func try(r *inferior.Reader, symbols map[string]inferior.Symbol, l *layout.Layouts) (*source, error) {
	s := &source{r: r, symbols: symbols, layouts: l, comms: map[inferior.Addr]*commState{},
		members: map[membership][]mqs.Maybe[int32]{}, datatypes: map[uint32]datatypeInfo{}}
	if err := inferior.Bind(&s.types, l); err != nil {
		return nil, err
	}
	if s.Pmap.Bound() {
		if err := inferior.Bind(&s.groups, l); err != nil {
			return nil, err
		}
	}
	if inferior.Bind(&s.arrivals, l) != nil {
		s.arrivals = arrivalTypes{} // of another release: what arrives is not known
	}
	if inferior.Bind(&s.partitions, l) != nil {
		s.partitions = partitionedTypes{}
	}
	var err error
	if _, ok := symbols[symCH4]; ok {
		d := &ch4{source: s}
		s.device = d
		if err = inferior.Bind(&d.ch4Types, l); err == nil && !s.Pmap.Bound() {
			err = inferior.Bind(&d.groups, l)
		}
	} else {
		d := &ch3{source: s, numbers: map[inferior.Addr]int32{}}
		s.device = d
		if err = inferior.Bind(&d.ch3Types, l); err == nil && !s.Pmap.Bound() {
			err = inferior.Bind(&d.groups, l)
		}
	}
	if err != nil {
		return nil, err
	}
	if s.process, err = s.Process.ReadAt(r, symbols[symProcess].Addr); err != nil {
		return nil, err
	}
	if err := s.prove(); err != nil {
		return nil, err
	}
	if d, ok := s.device.(*ch4); ok {
		s.device = d.overUCX()
	}
	return s, nil
}

// Values of mpich_state (src/include/mpichconfconst.h, 4.0 to 5.0).
const (
	stateUninitialized = 0
	stateInitialized   = 2
)

// checkState tells the programs that can't have queues now from those that can.
func (s *source) checkState() error {
	switch {
	case s.process.State == stateUninitialized:
		phase := mqs.Starting
		if s.process.Size > 0 { // MPI_Finalize leaves it
			phase = mqs.Finished
		}
		return read.Nothing("MPICH", phase, "the program has no message queues: it has not called MPI_Init yet, or has called MPI_Finalize")
	case s.process.State != stateInitialized && s.process.World == 0:
		return read.Nothing("MPICH", mqs.Starting, "the program is inside MPI_Init, so it has no message queues yet")
	}
	return nil
}

func library(s inferior.Symbol) string {
	if s.Object == "" {
		return "the MPI library"
	}
	return printable.Line(filepath.Base(s.Object))
}

// Info fills in what is known of the process as a whole.
func (s *source) Info(p *mqs.Process) {
	p.MPI = Decoder{}.Name()
	p.MPIVersion = version(s.r, s.symbols)
	p.Library = s.symbols[symRequestPools].Object
	p.Source = "native"
	p.Layout = s.layouts.Source
	p.LayoutName = s.layouts.Name
	if s.process.Size > 0 && s.process.Rank >= 0 && s.process.Rank < s.process.Size {
		p.GlobalRank, p.WorldSize = mqs.Known(s.process.Rank), mqs.Known(s.process.Size)
	}
	p.Arriving, p.Progress = s.arriving(), s.device.progress()
	if at, ok := s.symbols[symThreads]; ok && s.Threads.Bound() {
		if t, err := s.Threads.ReadAt(s.r, at.Addr); err == nil {
			p.ThreadMultiple = mqs.Known(t.Provided == threadMultiple)
		}
	}
}

// Notes says what reading the process has brought up.
func (s *source) Notes() []string {
	out := slices.Clone(s.notes)
	notef := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.unknownSends {
		notef("MPICH's device ch4 keeps neither the tag of a send nor, of an eager one, anything else: what is not known of a send is left open%s",
			map[bool]string{false: ". With debugger support (--enable-debuginfo) the library keeps it", true: ""}[s.notesSends])
	}
	if s.unknownReceives {
		notef("receives from other nodes or programs are matched inside a network library: what is not known of them is left open")
	}
	if d, ok := s.device.(*ch4ucx); ok && d.queues.offload {
		notef("%s", ucxOffloadNote)
	}
	if s.barePartitioned {
		notef("this library's types tell no more of partitioned operations than that they are there")
	}
	if s.networkErr != nil {
		notef("this MPICH leaves its messages to UCX, which can't be read: %v", s.networkErr)
	}
	if s.allOutside && s.networkErr == nil {
		notef("this MPICH has no shared-memory module and leaves all its messages to a network library: " +
			"to see them, run the program with one that is configured with --with-ch4-shmmods=posix, or with device ch3")
	}
	if s.messagesOutside {
		notef("messages from other nodes or programs that no receive has matched are inside a network library, and not shown")
	}
	if s.unorderedSends {
		what := "sends: they stand"
		if s.notesSends {
			what = "buffered, blocking and persistent sends: they stand before the others,"
		}
		notef("this MPICH keeps no order of %s in that of their requests in memory", what)
	}
	return out
}

// threadMultiple is MPI_THREAD_MULTIPLE (src/include/mpi.h.in).
const threadMultiple = 3

func (s *source) notef(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}
