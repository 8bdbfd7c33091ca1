package mpir

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Values of MPIR_Comm (src/include/mpir_comm.h).
const (
	CommInter     = 1 // comm_kind
	hierarchyNode = 2 // hierarchy_kind from which on it is a part that the library made, up to 4.3
	attrSubcomm   = 1 // the same, from 5.0
)

const (
	maxComms        = 1 << 16
	maxBuiltinComms = 8 // there are 2 or 3
	// MaxMembers bounds a group.
	MaxMembers = 1 << 22
)

// Communicator is a communicator and what is shown of it.
type Communicator struct {
	At inferior.Ptr[Comm]
	Comm
	Model *mqs.Communicator
}

// IsSelf tells the communicators of one process.
func (c *Communicator) IsSelf() bool { return c.Kind != CommInter && c.LocalSize == 1 }

// Freed returns a communicator that is no more, of which the context id is known that it has sent and
// received with.
func Freed(context uint32, isInternal bool) *Communicator {
	c := &Communicator{At: inferior.Ptr[Comm](context), Comm: Comm{Context: context, RecvContext: context}}
	c.Model = &mqs.Communicator{UniqueID: c.At.Addr(), Context: c.ContextName(), Internal: isInternal}
	return c
}

// ContextName is what all members of a communicator call it. An intercommunicator
// has one id for each direction.
func (c *Comm) ContextName() string {
	if c.Kind != CommInter {
		return fmt.Sprint(c.Context)
	}
	return fmt.Sprintf("%d/%d", min(c.Context, c.RecvContext), max(c.Context, c.RecvContext))
}

// communicators are those of the process.
type communicators struct {
	// all are those that exist, in the order of their handles: predefined ones first, then mostly in the
	// order in which they were made.
	all []*Communicator
	// err is why there may be more.
	err error
	// byID are all, and those that have been freed with something under way once requests are read.
	byID map[inferior.Addr]*Communicator
	// windows are the process's, nil if they are not known.
	windows []*Window
}

// Communicators yields those that exist, and then those that have been freed with something under way.
func (s *Source) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		there := s.communicators()
		for _, c := range there.all {
			if !yield(*c.Model, nil) {
				return
			}
		}
		for _, c := range s.requests().freed {
			if !yield(*c.Model, nil) {
				return
			}
		}
		if there.err != nil {
			yield(mqs.Communicator{}, fmt.Errorf("there may be more communicators: %w", there.err))
		}
	}
}

// communicator returns the one that has an id, nil if there is none.
func (s *Source) communicator(id inferior.Addr) *Communicator {
	s.requests() // which know those that have been freed
	return s.communicators().byID[id]
}

// readCommunicators reads those that exist, and finds out which of them the library made
// for itself: those of a node, and the local one inside an intercommunicator.
func (s *Source) readCommunicators() *communicators {
	l := s.lib
	out := &communicators{byID: map[inferior.Addr]*Communicator{}}
	list := l.communicatorPool
	if head, ok := l.Symbols[SymCommunicators]; ok && l.c.CommList.Bound() {
		list = func(add func(inferior.Ptr[Comm]) error) error {
			return l.communicatorList(inferior.Ptr[commList](head.Addr), add)
		}
	}
	out.err = list(func(a inferior.Ptr[Comm]) error {
		c, err := l.c.Comm.Read(l.Reader, a)
		if err != nil {
			return err
		}
		if c.RefCount <= 0 {
			return nil
		}
		if c.LocalSize <= 0 || c.LocalSize > MaxMembers || c.Rank < 0 || c.Rank >= c.LocalSize {
			l.Remarks.Notef("the communicator at %s is left out: it has rank %d of %d, so it is being made or taken apart", a, c.Rank, c.LocalSize)
			return nil
		}
		out.all = append(out.all, &Communicator{At: a, Comm: c})
		return nil
	})
	slices.SortStableFunc(out.all, func(a, b *Communicator) int { return cmp.Compare(a.Handle, b.Handle) })
	local := map[inferior.Ptr[Comm]]bool{l.Process.IWorld: true}
	for _, c := range out.all {
		if c.Kind == CommInter {
			local[c.LocalComm] = true
		}
	}
	for _, c := range out.all {
		c.Model = &mqs.Communicator{
			UniqueID:  c.At.Addr(),
			LocalRank: mqs.Known(c.Rank),
			Size:      mqs.Known(c.LocalSize),
			Inter:     mqs.Known(c.Kind == CommInter),
			Context:   c.ContextName(),
			Internal:  local[c.At] || c.Hierarchy >= hierarchyNode || c.Attr&attrSubcomm != 0,

			Handle:        mqs.Known(inferior.Addr(c.Handle)),
			FortranHandle: mqs.Known(int32(c.Handle)),
		}
		if n := nonBlockingNumber(c.NextTag); n.Known {
			c.Model.NonBlockingCollectives = mqs.Known(n.Value - 1)
		}
		if inferior.SizeOf(&l.c.Comm, func(c *Comm) *int32 { return &c.Revoked }) > 0 {
			c.Model.Revoked = mqs.Known(c.Revoked != 0)
		}
		if name, err := c.Name.Read(l.Reader, MaxName); err == nil {
			c.Model.Name = mqs.Known(name)
		}
		s.readGroups(c)
		l.setTopology(c)
		c.Model.Flags = s.device.OwnFlags(c)
		out.byID[c.Model.UniqueID] = c
	}
	l.setFailed(out.all)
	s.serveWindows(out)
	s.serveFiles(out)
	return out
}

// communicatorList walks MPIR_All_communicators.
func (l *Library) communicatorList(at inferior.Ptr[commList], add func(inferior.Ptr[Comm]) error) error {
	list, err := l.c.CommList.Read(l.Reader, at)
	if err != nil {
		return err
	}
	next := func(a inferior.Ptr[Comm]) (inferior.Ptr[Comm], error) {
		c, err := l.c.Comm.Read(l.Reader, a)
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
func (l *Library) communicatorPool(add func(inferior.Ptr[Comm]) error) error {
	builtin := inferior.Ptr[Comm](l.Symbols[symBuiltinComms].Addr)
	for i := range maxBuiltinComms {
		at := inferior.At(&l.c.Comm, builtin, i)
		c, err := l.c.Comm.Read(l.Reader, at)
		if err != nil || storage(c.Handle) != handleBuiltin || int(c.Handle&handleIndex) != i {
			break // the array's end
		}
		if err := add(at); err != nil {
			return err
		}
	}
	p, err := readPool(l, inferior.Ptr[pool](l.Symbols[symCommPool].Addr), symCommPool, &l.c.Comm)
	if err != nil {
		return err
	}
	return p.eachUsed(add)
}
