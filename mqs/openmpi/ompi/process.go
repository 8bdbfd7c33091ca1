// Package ompi has what all processes of Open MPI share, from 4.0 to 6.0, whatever component carries
// their messages: communicators, groups, datatypes, classes, what proves the layouts of these, and what
// calls wait for. The components have packages of their own.
package ompi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Name is what people call the implementation.
const Name = "Open MPI"

// Global symbols, all of them in .dynsym of stripped libraries too.
const (
	SymCommunicators = "ompi_mpi_communicators"          // opal_pointer_array_t
	SymSendRequests  = "mca_pml_base_send_requests"      // opal_free_list_t
	SymRecvRequests  = "mca_pml_base_recv_requests"      // opal_free_list_t
	SymMultiple      = "ompi_mpi_thread_multiple"        // bool
	symPML           = "mca_pml_base_selected_component" // mca_pml_base_component_t
	symInt           = "ompi_mpi_int"                    // ompi_predefined_datatype_t
	symNullRequest   = "ompi_request_null"               // ompi_predefined_request_t
	symVersion       = "ompi_version_string"             // char[]
	symLibNBC        = "mca_coll_libnbc_component"       // ompi_coll_libnbc_component_t
	symOwnProc       = "ompi_proc_local_proc"            // ompi_proc_t *
	symFailedProcs   = "ompi_group_all_failed_procs"     // ompi_group_t *, of libraries built to go on after failures
	symFaultTolerant = "ompi_ftmpi_enabled"              // bool: whether they were started to do so
)

// Symbols are the roots of a process.
var Symbols = slices.Concat([]string{SymCommunicators, SymSendRequests, SymRecvRequests, symPML, symInt, symNullRequest, SymMultiple, symVersion,
	symLibNBC, symOwnProc, symFailedProcs, symFaultTolerant},
	slices.Sorted(maps.Values(fortranTables)))

// Process is one process that uses Open MPI, during one stop.
type Process struct {
	types
	objectTypes
	R       *inferior.Reader
	Symbols map[string]inferior.Symbol
	Layouts *layout.Layouts
	// PML is the name of the selected component of the framework pml, "ob1"; empty if it is not known.
	PML string
	// Comms are the communicators that [Process.Communicators] has read last, by their unique ids.
	Comms map[inferior.Addr]*Comm

	byAddr map[inferior.Ptr[Communicator]]*Comm
	// interBy are the intercommunicators, by the communicator of the local group inside each.
	interBy   map[inferior.Ptr[Communicator]]*Comm
	classes   map[inferior.Ptr[Class]]Class
	world     *worldGroup
	groups    map[inferior.Ptr[Group]]groupRead
	datatypes map[inferior.Ptr[Datatype]]DatatypeInfo

	constructions map[nested]string

	windows                   []*window
	windowsRead, windowsKnown bool
	files                     []*openFile
	filesRead, filesKnown     bool

	// firstNonBlocking is the tag of the first non-blocking collective on every communicator.
	firstNonBlocking                  mqs.Maybe[int32]
	collectives                       []mqs.CollectiveRequest
	collectiveParts                   []inferior.Range
	collectivesRead, collectivesKnown bool

	calls *calls
	notes []string
}

// calls are those that a process's threads are in, or why that can't be known.
type calls struct {
	list []callstack.Call
	err  error
}

// newProcess returns a process as given layouts have it, which nothing has proved yet.
func newProcess(r *inferior.Reader, symbols map[string]inferior.Symbol, l *layout.Layouts) (*Process, error) {
	p := &Process{R: r, Symbols: symbols, Layouts: l,
		Comms: map[inferior.Addr]*Comm{}, byAddr: map[inferior.Ptr[Communicator]]*Comm{}, interBy: map[inferior.Ptr[Communicator]]*Comm{},
		classes: map[inferior.Ptr[Class]]Class{}, groups: map[inferior.Ptr[Group]]groupRead{}, datatypes: map[inferior.Ptr[Datatype]]DatatypeInfo{},
		constructions: map[nested]string{}}
	_ = inferior.Bind(&p.objectTypes, l) // what is missing there is not read
	return p, inferior.Bind(&p.types, l)
}

const maxVersion = 256 // bytes

// Version returns the release that the library names, such as "4.1.4"; empty if that can't be read.
func Version(r *inferior.Reader, symbols map[string]inferior.Symbol) string {
	v, ok := symbols[symVersion]
	if !ok {
		return ""
	}
	version, _ := r.CString(v.Addr, maxVersion)
	return version
}

// Info fills in what is known of the process as a whole.
func (p *Process) Info(to *mqs.Process) {
	to.MPI = Name
	to.MPIVersion = Version(p.R, p.Symbols)
	to.Library = p.Symbols[SymCommunicators].Object
	to.Source = "native"
	to.Layout = p.Layouts.Source
	to.LayoutName = p.Layouts.Name
	to.ThreadMultiple = p.threadMultiple()
	w, err := p.worldGroup()
	switch {
	case err == nil && len(w.entries) > 0:
		to.GlobalRank = mqs.Known(w.rank)
		to.WorldSize = mqs.Known(int32(len(w.entries)))
	case err == nil && w.job.Known:
		to.GlobalRank = mqs.Known(w.rank)
	}
}

// Notef adds a sentence for the user on what reading has brought up.
func (p *Process) Notef(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// Notes are the sentences so far, in the order of reading.
func (p *Process) Notes() []string { return p.notes }

// threadMultiple says whether several threads may call MPI at once.
func (p *Process) threadMultiple() mqs.Maybe[bool] {
	m, ok := p.Symbols[SymMultiple]
	if !ok {
		return mqs.Maybe[bool]{}
	}
	v, err := p.R.Uint(m.Addr, 1)
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	return mqs.Known(v != 0)
}

// HasMarks says whether a call that waits puts its mark into its request, as it does where several threads
// may call MPI (ompi/request/request.h, 4.0 to 6.0). The mark is gone once the request is complete. Without
// it the call has nothing more to wait for, or has not begun: what it holds may be another one's.
func (p *Process) HasMarks() bool {
	if multiple := p.threadMultiple(); multiple.Known {
		return multiple.Value
	}
	calls, err := p.Calls()
	return err != nil || len(calls) > 1
}

// Calls are the calls that threads are in, which are read once: with many threads that is much.
func (p *Process) Calls() ([]callstack.Call, error) {
	if p.calls == nil {
		list, err := callstack.Calls(p.R)
		p.calls = &calls{list, err}
	}
	return p.calls.list, p.calls.err
}
