package mpir

import (
	"cmp"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Source is the queues of one process that uses MPICH. It is a [read.Source].
type Source struct {
	lib    *Library
	device Device

	// Each is read once.
	communicators func() *communicators
	requests      func() *requests
	calls         func() ([]callstack.Call, error) // that threads are in
	inCalls       func() *inCalls
}

// calls are those that threads are in, or why that can't be known.
type calls struct {
	list []callstack.Call
	err  error
}

// NewSource returns the queues of a process whose library has proved its layouts, and has a device.
func NewSource(lib *Library, device Device) *Source {
	s := &Source{lib: lib, device: device}
	s.communicators = inferior.Remember(s.readCommunicators)
	s.requests = inferior.Remember(s.readRequests)
	calls := inferior.Remember(func() (c calls) {
		c.list, c.err = callstack.Calls(lib.Reader)
		return c
	})
	s.calls = func() ([]callstack.Call, error) { return calls().list, calls().err }
	s.inCalls = inferior.Remember(s.readInCalls)
	return s
}

// FindTypes tells MPICH's own DLL what the layouts are that the process was read
// by (read.Typist).
func (s *Source) FindTypes(queries []layout.TypeQuery) ([]*layout.Layout, error) {
	return inferior.FindTypes(s.lib.Reader, s.lib.Layouts, queries)
}

// threadMultiple is MPI_THREAD_MULTIPLE (src/include/mpi.h.in).
const threadMultiple = 3

// Info fills in what is known of the process as a whole.
func (s *Source) Info(p *mqs.Process) {
	l := s.lib
	p.MPI = l.MPI
	p.MPIVersion = cmp.Or(l.Release, Version(l.Reader, l.Symbols))
	p.Library = l.Symbols[SymRequestPools].Object
	p.Transport = s.device.Transport()
	p.Source = "native"
	p.Layout = l.Layouts.Source
	p.LayoutName = l.Layouts.Name
	if l.Process.Size > 0 && l.Process.Rank >= 0 && l.Process.Rank < l.Process.Size {
		p.GlobalRank, p.WorldSize = mqs.Known(l.Process.Rank), mqs.Known(l.Process.Size)
	}
	p.Arriving, p.Progress = s.device.Arriving(), s.device.Progress()
	if at, ok := l.Symbols[symThreads]; ok && l.c.Threads.Bound() {
		if t, err := l.c.Threads.Read(l.Reader, inferior.Ptr[threadInfo](at.Addr)); err == nil {
			p.ThreadMultiple = mqs.Known(t.Provided == threadMultiple)
		}
	}
}

// Notes says what reading the process has brought up.
func (s *Source) Notes() []string { return s.lib.Remarks.Sentences() }
