package mpir

import (
	"sync"

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

// NewSource returns the queues of a process whose library has proved its layouts, and has a device.
func NewSource(lib *Library, device Device) *Source {
	s := &Source{lib: lib, device: device}
	s.communicators = sync.OnceValue(s.readCommunicators)
	s.requests = sync.OnceValue(s.readRequests)
	s.calls = sync.OnceValues(func() ([]callstack.Call, error) { return callstack.Calls(lib.Reader) })
	s.inCalls = sync.OnceValue(s.readInCalls)
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
	p.MPI = Name
	p.MPIVersion = Version(l.Reader, l.Symbols)
	p.Library = l.Symbols[SymRequestPools].Object
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
