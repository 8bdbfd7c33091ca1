package mpich

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Values of MPIR_Comm (src/include/mpir_comm.h).
const (
	commInter     = 1 // comm_kind
	hierarchyNode = 2 // hierarchy_kind from which on it is a part that the library made, up to 4.3
	attrSubcomm   = 1 // the same, from 5.0
)

const (
	maxComms        = 1 << 16
	maxBuiltinComms = 8       // there are 2 or 3
	maxMembers      = 1 << 22 // of a group
)

// commState is a communicator that has been yielded.
type commState struct {
	addr inferior.Addr
	comm
	model *mqs.Communicator
}

// isSelf tells the communicators of one process, whose messages ch4 does not
// hand to a transport.
func (c *commState) isSelf() bool { return c.Kind != commInter && c.LocalSize == 1 }

// Communicators yields the communicators in the order of their handles:
// predefined ones first, then mostly in the order in which they were made.
func (s *source) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		states, err := s.readCommunicators()
		for _, c := range states {
			if !yield(*c.model, nil) {
				return
			}
		}
		if d, ok := s.device.(*ch4ucx); ok {
			s.allRequests()
			for _, id := range slices.Sorted(maps.Keys(d.freed)) {
				c := d.freed[id]
				if s.comms[c.addr] = c; !yield(*c.model, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(mqs.Communicator{}, fmt.Errorf("there may be more communicators: %w", err))
		}
	}
}

// readCommunicators reads those that exist, and which of them the library made
// for itself: those of a node, and the local one inside an intercommunicator.
func (s *source) readCommunicators() ([]*commState, error) {
	list := s.communicatorPool
	if head, ok := s.symbols[symCommunicators]; ok && s.CommList.Bound() {
		list = func(add func(inferior.Addr) error) error { return s.communicatorList(head.Addr, add) }
	}
	var states []*commState
	failed := list(func(a inferior.Addr) error {
		c, err := s.Comm.ReadAt(s.r, a)
		if err != nil {
			return err
		}
		if c.RefCount <= 0 {
			return nil
		}
		if c.LocalSize <= 0 || c.LocalSize > maxMembers || c.Rank < 0 || c.Rank >= c.LocalSize {
			s.notef("the communicator at %s is left out: it has rank %d of %d, so it is being made or taken apart", a, c.Rank, c.LocalSize)
			return nil
		}
		states = append(states, &commState{addr: a, comm: c})
		return nil
	})
	slices.SortStableFunc(states, func(a, b *commState) int { return cmp.Compare(a.Handle, b.Handle) })
	local := map[inferior.Addr]bool{s.process.IWorld: true}
	for _, c := range states {
		if c.Kind == commInter {
			local[c.LocalComm] = true
		}
	}
	clear(s.comms)
	for _, c := range states {
		c.model = &mqs.Communicator{
			UniqueID:  c.addr,
			LocalRank: mqs.Known(c.Rank),
			Size:      mqs.Known(c.LocalSize),
			Inter:     mqs.Known(c.Kind == commInter),
			Context:   contextOf(&c.comm),
			Internal:  local[c.addr] || c.Hierarchy >= hierarchyNode || c.Attr&attrSubcomm != 0,
		}
		if name, err := c.Name.Read(s.r, maxName); err == nil {
			c.model.Name = mqs.Known(name)
		}
		s.readGroups(c)
		s.comms[c.addr] = c
	}
	return states, failed
}

// communicatorList walks MPIR_All_communicators.
func (s *source) communicatorList(at inferior.Addr, add func(inferior.Addr) error) error {
	list, err := s.CommList.ReadAt(s.r, at)
	if err != nil {
		return err
	}
	next := func(a inferior.Addr) (inferior.Addr, error) {
		c, err := s.Comm.ReadAt(s.r, a)
		return c.Next, err
	}
	for a, err := range inferior.Walk(list.Head, 0, maxComms, next) {
		if err != nil {
			return err
		}
		if err := add(a); err != nil {
			return err
		}
	}
	return nil
}

// communicatorPool goes through the pool of communicators and the predefined ones.
func (s *source) communicatorPool(add func(inferior.Addr) error) error {
	for i := range maxBuiltinComms {
		at := s.symbols[symBuiltinComms].Addr + inferior.Addr(i)*inferior.Addr(s.Comm.Size())
		c, err := s.Comm.ReadAt(s.r, at)
		if err != nil || storage(c.Handle) != handleBuiltin || int(c.Handle&handleIndex) != i {
			break // the array's end
		}
		if err := add(at); err != nil {
			return err
		}
	}
	p, err := s.openPool(s.symbols[symCommPool].Addr, symCommPool, s.Comm.Size())
	if err != nil {
		return err
	}
	return s.eachUsed(p, add)
}
