// Package openmpi decodes the message queues of Open MPI from 4.0 to 6.0: with
// the library's DWARF where there is any, else with embedded layouts of stock builds
// that prove themselves on the process. What the queues are depends on the component of
// Open MPI that carries the process's messages: each has a package below.
package openmpi

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/tagged"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// components are the components of Open MPI whose queues are read, in the order in which they are asked
// whether they carry a process's messages.
var components = append([]ompi.Component{ob1.Component}, tagged.Components...)

// Decoder recognises Open MPI.
type Decoder struct{}

// Name is the implementation's name.
func (Decoder) Name() string { return ompi.Name }

// Symbols are the decoder's roots.
func (Decoder) Symbols() []string { return slices.Concat(ompi.Symbols, ob1.Symbols, stateSymbols) }

// Open recognises the process, finds the layouts that fit it and checks that
// MPI is in use.
func (d Decoder) Open(r *inferior.Reader, symbols map[string]inferior.Symbol) (read.Source, error) {
	root, ok := symbols[ompi.SymCommunicators]
	if !ok {
		return nil, read.ErrNotThis
	}
	for _, name := range []string{ompi.SymSendRequests, ompi.SymRecvRequests} {
		if _, ok := symbols[name]; !ok {
			return nil, read.Unreadable(d.Name(), "%s has no symbol %s, which the message queues of Open MPI start from: "+
				"the library has been stripped of its dynamic symbols or is not a release that mpi-queues knows", read.FileName(root), name)
		}
	}
	if err := checkState(r, symbols); err != nil {
		return nil, err
	}
	return open(r, symbols)
}

func open(r *inferior.Reader, symbols map[string]inferior.Symbol) (read.Source, error) {
	p, q, err := ompi.Fit(r, symbols, tables(), components)
	var noFit *inferior.NoFitError
	switch {
	case err == nil:
		return &source{p, q}, nil
	case errors.Is(err, inferior.ErrGone):
		return nil, read.Unreadable(ompi.Name, "%w", err)
	case !errors.As(err, &noFit):
		return nil, err
	case isFinalizing(r, symbols):
		return nil, read.Nothing(ompi.Name, mqs.Finished, "the program is inside MPI_Finalize, which has taken its message queues apart already")
	}
	version := cmp.Or(printable.Line(ompi.Version(r, symbols)), "of an unknown release")
	return nil, read.Unreadable(ompi.Name, "%s is Open MPI %s, and no known layout of its types fits; the nearest is %w: "+
		"install the library's debug symbols, or `set debuginfod enabled on`, or use an Open MPI built with -g",
		read.FileName(symbols[ompi.SymCommunicators]), version, noFit)
}

// source is one process that uses Open MPI.
type source struct {
	process *ompi.Process
	queues  ompi.Queues // nil if none of the components carries its messages
}

// FindTypes tells Open MPI's own DLL what the layouts are that the process was
// read by (read.Typist).
func (s *source) FindTypes(queries []layout.TypeQuery) ([]*layout.Layout, error) {
	return inferior.FindTypes(s.process.R, s.process.Layouts, queries)
}

// Info fills in what is known of the process as a whole.
func (s *source) Info(p *mqs.Process) {
	s.process.Info(p)
	if s.process.PML != "" {
		p.Transport = s.pml()
	}
	if s.queues != nil {
		s.queues.Info(p)
	}
}

// pml is the selected component, in a sentence.
func (s *source) pml() string { return "pml " + cmp.Or(s.process.PML, "of an unknown name") }

// Notes says what reading the process has brought up.
func (s *source) Notes() []string {
	if s.queues != nil {
		return slices.Concat(s.queues.Notes(), s.process.Notes())
	}
	var names []string
	for _, c := range components {
		names = append(names, c.Name)
	}
	note := fmt.Sprintf("%s carries this program's messages, and mpi-queues reads the queues of pml %s only: "+
		"run the program with `--mca pml %s` to see them", s.pml(), strings.Join(names, " and "), names[0])
	return append([]string{note}, s.process.Notes()...)
}

// Communicators yields the communicators in the order of their indices, and then those that the program has
// freed.
func (s *source) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		for c, err := range s.process.Communicators() {
			if !yield(c, err) {
				return
			}
		}
		if s.queues == nil {
			return
		}
		for _, id := range s.queues.Freed() {
			if !yield(mqs.Communicator{UniqueID: id}, nil) {
				return
			}
		}
	}
}

// Operations yields one queue of a communicator.
func (s *source) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		if s.queues == nil {
			yield(mqs.PendingOperation{}, fmt.Errorf("its messages are in %s, which mpi-queues can't read", s.pml()))
			return
		}
		s.queues.Operations(c, class, yield)
	}
}

// Resolve says what a handle stands for (read.Resolver).
func (s *source) Resolve(v mqs.HandleValue) *mqs.Handle { return s.process.Resolve(s.queues, v) }

// Handles are those of the objects that the library keeps in arrays (read.Enumerator).
func (s *source) Handles(most int) []mqs.HandleValue { return s.process.Handles(most) }

// Windows are those of the process (read.Lister).
func (s *source) Windows() []mqs.Window { return s.process.Windows() }

// Files are those that the process has open (read.Lister).
func (s *source) Files() []mqs.File { return s.process.Files() }

// CollectiveRequests are those of non-blocking and persistent collectives (read.Collector).
func (s *source) CollectiveRequests() []mqs.CollectiveRequest { return s.process.CollectiveRequests() }

// Inactive are the persistent requests that are not started (read.Keeper).
func (s *source) Inactive() []mqs.InactiveRequest {
	if keeper, ok := s.queues.(read.Keeper); ok {
		return keeper.Inactive()
	}
	return nil
}

// Waits finds out what each call waits for.
func (s *source) Waits(threads []mqs.Thread) {
	if s.queues != nil {
		s.process.SetWaits(s.queues, threads)
	}
}

// Size is about how long a queue is, as far as the component knows.
func (s *source) Size(c *mqs.Communicator, class mqs.OpClass) int {
	if sizer, ok := s.queues.(read.Sizer); ok {
		return sizer.Size(c, class)
	}
	return 0
}

// Traffic counts messages by peer.
func (s *source) Traffic(c *mqs.Communicator) []mqs.Traffic {
	if s.queues == nil {
		return nil
	}
	return s.queues.Traffic(c)
}
