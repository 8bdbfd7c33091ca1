// Package openmpi decodes the message queues of Open MPI with pml ob1, from
// 4.1 to 6.0: with the library's DWARF where there is any, else with embedded
// layouts of stock builds that prove themselves on the process.
package openmpi

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Decoder recognises Open MPI.
type Decoder struct{}

// Name is the implementation's name.
func (Decoder) Name() string { return "Open MPI" }

// Global symbols, all of them in .dynsym of stripped libraries too.
const (
	symCommunicators = "ompi_mpi_communicators"          // opal_pointer_array_t
	symSendRequests  = "mca_pml_base_send_requests"      // opal_free_list_t
	symRecvRequests  = "mca_pml_base_recv_requests"      // opal_free_list_t
	symState         = "ompi_mpi_state"                  // enum ompi_mpi_state_t, 4 bytes
	symInstances     = "ompi_instance_count"             // int, from 5.0: sessions that are open
	symPML           = "mca_pml_base_selected_component" // mca_pml_base_component_t
	symInt           = "ompi_mpi_int"                    // ompi_predefined_datatype_t
	symNullRequest   = "ompi_request_null"               // ompi_predefined_request_t
	symMultiple      = "ompi_mpi_thread_multiple"        // bool
	symVersion       = "ompi_version_string"             // char[]
)

// Symbols are the decoder's roots.
func (Decoder) Symbols() []string {
	return []string{symCommunicators, symSendRequests, symRecvRequests, symState, symInstances, symPML, symInt, symNullRequest, symMultiple, symVersion}
}

// source is one process that uses Open MPI.
type source struct {
	types
	r       *inferior.Reader
	symbols map[string]inferior.Symbol
	layouts *layout.Layouts
	classes map[inferior.Addr]class
	pml     string // the selected pml's name, "ob1"
	world   *worldGroup
	groups  map[inferior.Addr]groupRead
	comms   map[inferior.Addr]*commState // by unique id

	requests  *requests
	ucx       *ucxQueues // of pml ucx, nil before it was read
	ucxErr    error
	ends      *peerEnds
	blocking  map[inferior.Addr]string // kinds by request
	datatypes map[inferior.Addr]datatypeInfo
	notes     []string
}

// Open recognises the process, finds the layouts that fit it and checks that
// MPI is in use.
func (d Decoder) Open(r *inferior.Reader, symbols map[string]inferior.Symbol) (read.Source, error) {
	root, ok := symbols[symCommunicators]
	if !ok {
		return nil, read.ErrNotThis
	}
	for _, name := range []string{symSendRequests, symRecvRequests} {
		if _, ok := symbols[name]; !ok {
			return nil, read.Unreadable(d.Name(), "%s has no symbol %s, which the message queues of Open MPI start from: "+
				"the library has been stripped of its dynamic symbols or is not a release that mpi-queues knows", library(root), name)
		}
	}
	if err := checkState(r, symbols); err != nil {
		return nil, err
	}
	return open(r, symbols)
}

// The values of ompi_mpi_state (ompi/runtime/mpiruntime.h, 4.1 to 6.0).
const (
	stateNotInitialized    = 0
	stateInitStarted       = 1
	stateInitCompleted     = 2
	stateFinalizeCompleted = 5
)

// checkState tells the programs that can't have queues now from those that can.
func checkState(r *inferior.Reader, symbols map[string]inferior.Symbol) error {
	const name = "Open MPI"
	s, ok := symbols[symState]
	if !ok {
		return nil
	}
	if err := r.Prefetch(roots(symbols)); err != nil {
		return err
	}
	state, err := r.Int(s.Addr, 4)
	if err != nil {
		return read.Unreadable(name, "the state of Open MPI (%s) can't be read: %v", symState, err)
	}
	if s, ok := symbols[symInstances]; ok && state != stateInitStarted {
		// A program may use sessions without MPI_Init, or after MPI_Finalize.
		if n, err := r.Int(s.Addr, 4); err == nil && n > 0 {
			return nil
		}
	}
	switch {
	case state == stateNotInitialized:
		return read.Nothing(name, mqs.Starting, "the program has not called MPI_Init yet, so it has no message queues")
	case state == stateInitStarted:
		return read.Nothing(name, mqs.Starting, "the program is inside MPI_Init, so it has no message queues yet")
	case state >= stateFinalizeCompleted:
		return read.Nothing(name, mqs.Finished, "the program has called MPI_Finalize, so it has no message queues any more")
	}
	return nil
}

// isFinalizing tells a program in the midst of MPI_Finalize.
func isFinalizing(r *inferior.Reader, symbols map[string]inferior.Symbol) bool {
	s, ok := symbols[symState]
	if !ok {
		return false
	}
	state, err := r.Int(s.Addr, 4)
	return err == nil && state > stateInitCompleted && state < stateFinalizeCompleted
}

// roots are the objects that the symbols name, with room for their sizes.
func roots(symbols map[string]inferior.Symbol) []inferior.Range {
	var out []inferior.Range
	for _, s := range symbols {
		out = append(out, inferior.Range{Addr: s.Addr, Len: 512})
	}
	return out
}

func open(r *inferior.Reader, symbols map[string]inferior.Symbol) (read.Source, error) {
	s, err := inferior.Fit(r, inferior.Queries(&types{}), tables(), func(l *layout.Layouts) (*source, error) {
		s := &source{r: r, symbols: symbols, layouts: l, classes: map[inferior.Addr]class{},
			comms: map[inferior.Addr]*commState{}, groups: map[inferior.Addr]groupRead{}, datatypes: map[inferior.Addr]datatypeInfo{}}
		if err := inferior.Bind(&s.types, l); err != nil {
			return nil, err
		}
		return s, s.prove()
	})
	var noFit *inferior.NoFitError
	switch {
	case err == nil:
		return s, nil
	case !errors.As(err, &noFit):
		return nil, err
	case isFinalizing(r, symbols):
		return nil, read.Nothing("Open MPI", mqs.Finished, "the program is inside MPI_Finalize, which has taken its message queues apart already")
	}
	return nil, read.Unreadable("Open MPI", "%s has no type information that fits, and none of the layouts that mpi-queues knows (%s) does: "+
		"install the library's debug symbols, or `set debuginfod enabled on`, or use an Open MPI built with -g.\n%v",
		library(symbols[symCommunicators]), noFit.Known, noFit.Why)
}

func library(s inferior.Symbol) string {
	if s.Object == "" {
		return "the MPI library"
	}
	return printable.Line(filepath.Base(s.Object))
}

// FindTypes tells Open MPI's own DLL what the layouts are that the process was
// read by (read.Typist).
func (s *source) FindTypes(queries []layout.TypeQuery) ([]*layout.Layout, error) {
	return inferior.FindTypes(s.r, s.layouts, queries)
}

// threadMultiple says whether several threads may call MPI at once.
func (s *source) threadMultiple() mqs.Maybe[bool] {
	m, ok := s.symbols[symMultiple]
	if !ok {
		return mqs.Maybe[bool]{}
	}
	v, err := s.r.Uint(m.Addr, 1)
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	return mqs.Known(v != 0)
}

const maxVersion = 256 // bytes

// Info fills in what is known of the process as a whole.
func (s *source) Info(p *mqs.Process) {
	p.MPI = Decoder{}.Name()
	if v, ok := s.symbols[symVersion]; ok {
		p.MPIVersion, _ = s.r.CString(v.Addr, maxVersion)
	}
	p.Library = s.symbols[symCommunicators].Object
	p.Source = "native"
	p.Layout = s.layouts.Source
	p.LayoutName = s.layouts.Name
	p.ThreadMultiple = s.threadMultiple()
	if w, err := s.worldGroup(); err == nil && len(w.entries) > 0 {
		p.GlobalRank = mqs.Known(w.rank)
		p.WorldSize = mqs.Known(int32(len(w.entries)))
	}
	if s.ucx != nil {
		p.Progress = mqs.Known(s.ucx.worker.Queues().Waited)
	}
}

// Notes says what reading the process has brought up.
func (s *source) Notes() []string {
	var out []string
	if s.pml != ob1 && s.pml != ucxPML {
		out = append(out, fmt.Sprintf("pml %s carries this program's messages, and mpi-queues reads the queues of pml ob1 and ucx only: "+
			"run the program with `--mca pml ob1` to see them", s.pml))
	}
	out = append(out, s.ucxNotes()...)
	return append(out, s.notes...)
}
