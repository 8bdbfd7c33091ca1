package openmpi

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Flags of a communicator (ompi/communicator/communicator.h, 4.1 to 6.0).
const (
	commInter = 0x1
)

const (
	maxCommName = 1 << 10 // bytes; MPI_MAX_OBJECT_NAME is 64
	maxComms    = 1 << 20
	nullIndex   = 2 // MPI_COMM_NULL's place in the array
	// commSentinel stands in the array while an index is being agreed on (5.0 and later).
	commSentinel = 1
)

// commState is a communicator that has been yielded.
type commState struct {
	addr inferior.Addr
	communicator
	model *mqs.Communicator
}

// communicatorArray reads the array of all communicators; places without one are NULL.
func (s *source) communicatorArray() (inferior.Addr, []inferior.Addr, error) {
	at := s.symbols[symCommunicators].Addr
	a, err := s.PointerArray.ReadAt(s.r, at)
	if err != nil {
		return at, nil, err
	}
	if a.Size < 0 || a.Size > maxComms || a.Addr == 0 {
		return at, nil, fmt.Errorf("%s holds %d communicators at %s", symCommunicators, a.Size, a.Addr)
	}
	comms, err := s.r.Pointers(a.Addr, int(a.Size))
	for i, c := range comms {
		if c == commSentinel {
			comms[i] = 0
		}
	}
	return at, comms, err
}

// Communicators yields the communicators in the order of their indices.
func (s *source) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		_, addrs, err := s.communicatorArray()
		if err != nil {
			yield(mqs.Communicator{}, err)
			return
		}
		states, errs := s.readCommunicators(addrs)
		for _, err := range errs {
			if !yield(mqs.Communicator{}, err) {
				return
			}
		}
		s.readGroups(states)
		for _, c := range states {
			if !yield(*c.model, nil) {
				return
			}
		}
		for _, id := range s.freedInUCX() {
			if !yield(mqs.Communicator{UniqueID: id}, nil) {
				return
			}
		}
	}
}

// readCommunicators reads those that exist, and which of them the library made
// for itself: MPI_COMM_NULL, and the local communicator inside an intercommunicator.
func (s *source) readCommunicators(addrs []inferior.Addr) ([]*commState, []error) {
	var states []*commState
	var errs []error
	var ranges []inferior.Range
	for _, a := range addrs {
		if a != 0 {
			ranges = append(ranges, inferior.Range{Addr: a, Len: s.Communicator.Size()})
		}
	}
	if err := s.r.Prefetch(ranges); err != nil {
		return nil, []error{err}
	}
	internal := map[inferior.Addr]bool{}
	seen := map[inferior.Addr]bool{}
	for i, a := range addrs {
		// While one is being made from another, 4.1 puts the other into its place.
		if a == 0 || seen[a] && i > nullIndex {
			continue
		}
		seen[a] = true
		c, err := s.Communicator.ReadAt(s.r, a)
		if err != nil {
			errs = append(errs, fmt.Errorf("communicator %d: %w", i, err))
			continue
		}
		if a == addrs[nullIndex] {
			if i != nullIndex {
				continue // in the place of MPI_COMM_WORLD or MPI_COMM_SELF without MPI_Init
			}
			internal[a] = true
		}
		if c.Flags&commInter != 0 && c.LocalComm != 0 {
			internal[c.LocalComm] = true
		}
		states = append(states, &commState{addr: a, communicator: c})
	}
	var out []*commState
	clear(s.comms)
	for _, c := range states {
		m := &mqs.Communicator{
			UniqueID: inferior.Addr(c.Index),
			Inter:    mqs.Known(c.Flags&commInter != 0),
			Internal: internal[c.addr],
			Context:  contextOf(&c.communicator),
		}
		if name, err := c.Name.Read(s.r, maxCommName); err == nil {
			m.Name = mqs.Known(name)
		}
		c.model = m
		if _, again := s.comms[m.UniqueID]; again {
			errs = append(errs, fmt.Errorf("there are two communicators %s: the one at %s is left out", m.UniqueID, c.addr))
			continue
		}
		s.comms[m.UniqueID] = c
		out = append(out, c)
	}
	return out, errs
}

// contextOf is what all members of a communicator call it. From 5.0 each process
// has an index of its own, beside an extended context id.
func contextOf(c *communicator) string {
	if c.ContextBase == 0 && c.ContextSub == 0 {
		return strconv.FormatUint(c.Index, 16)
	}
	return fmt.Sprintf("%x:%x", c.ContextBase, c.ContextSub)
}

// readGroups fills in ranks and groups. A group that can't be read is unknown, with a note.
func (s *source) readGroups(states []*commState) {
	s.prefetchGroups(states)
	for _, c := range states {
		g, err := s.groupOf(c.LocalGroup)
		if err != nil {
			s.notef("the group of %s can't be read: %v", c.model.Label(), err)
		} else {
			if c.MyRank >= 0 {
				c.model.LocalRank = mqs.Known(c.MyRank)
			}
			c.model.Size = mqs.Known(int32(len(g)))
			c.model.Group = g
		}
		if c.model.Inter != mqs.Known(true) {
			continue
		}
		if c.model.RemoteGroup, err = s.groupOf(c.RemoteGroup); err != nil {
			s.notef("the remote group of %s can't be read: %v", c.model.Label(), err)
		}
	}
}

func (s *source) notef(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}
