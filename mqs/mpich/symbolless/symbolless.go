// Package symbolless reads a process whose MPICH has neither symbols nor types, as the libraries of
// distributions do, but leaves its messages to a network library that can be read: what is in that, and what
// its requests lead to of MPICH's own objects.
package symbolless

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch4"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Library is what is known of a library without reading its objects.
type Library struct {
	// Root is one of its symbols.
	Root inferior.Symbol
	// Version is what it says of itself, empty if it says nothing.
	Version string
	// ReceivesInPlace is true of a release that receives data which is not contiguous where the program wants it.
	ReceivesInPlace bool
}

// Source is the queues of one such process. It is a [read.Source].
type Source struct {
	r       *inferior.Reader
	lib     Library
	network *ch4.Network
	objects *objects // nil if nothing of MPICH's own can be read
	comms   map[inferior.Addr]*communicator
	lost    int // sends of which it is not known what communicator they are on

	inCalls func() *inCalls // reads once
}

// Open opens a process, whose MPICH's own objects are as one of the tables has it. It fails with a
// [*ch4.NetworkError] if it has no network library that can be read.
func Open(r *inferior.Reader, lib Library, tables []*layout.Table) (*Source, error) {
	n, err := ch4.OpenNetwork(r)
	if err != nil {
		return nil, err
	}
	s := &Source{r: r, lib: lib, network: n, lost: n.Dropped, objects: findObjects(r, n, tables)}
	s.inCalls = inferior.Remember(s.readInCalls)
	s.attribute()
	return s, nil
}

// Info fills in what is known of the process as a whole.
func (s *Source) Info(p *mqs.Process) {
	p.MPI = mpir.Name
	p.MPIVersion = s.lib.Version
	p.Library = s.lib.Root.Object
	p.Transport = "ch4 over " + s.network.Transport.Name()
	p.Source = "native"
	p.Layout, p.LayoutName = "table", s.network.Transport.LayoutName()
	if p.LayoutName == "" {
		p.Layout = "dwarf"
	}
	p.Progress = s.network.Progress
	if c := s.model(worldContext); !p.GlobalRank.Known {
		p.GlobalRank, p.WorldSize = c.LocalRank, c.Size
	} else if !p.WorldSize.Known {
		p.WorldSize = c.Size
	}
}

// Notes says what the network library does not keep.
func (s *Source) Notes() []string {
	what := "not where sends go, nor partitioned operations, nor what a process sends to itself on a communicator of its own"
	if s.objects == nil {
		what = "communicators by their context ids (the sends of an intercommunicator by that of its other side), " + what
	}
	out := []string{fmt.Sprintf("%s is stripped, so this is what %s beneath it has: %s", read.FileName(s.lib.Root), s.network.Transport.Name(), what)}
	if s.elsewhere() != nil {
		out = append(out, fmt.Sprintf(noteElsewhere, s.network.Transport.Name()))
	}
	if s.lost > 0 {
		out = append(out, transport.LostNote(s.network.Transport, s.lost))
	}
	if s.network.Offload != "" {
		out = append(out, s.network.Offload)
	}
	return out
}
