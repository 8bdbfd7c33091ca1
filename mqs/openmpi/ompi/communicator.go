package ompi

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Flags of a communicator (ompi/communicator/communicator.h).
const (
	commInter = 0x1 // 4.0 to 6.0
	// commGlobalIndex marks one that all members call by the same index (6.0).
	commGlobalIndex = 0x10000
)

const (
	maxCommName = 1 << 10 // bytes; MPI_MAX_OBJECT_NAME is 64
	maxComms    = 1 << 20
	nullIndex   = 2 // MPI_COMM_NULL's place in the array
	// commSentinel stands in the array while an index is being agreed on (5.0 and later).
	commSentinel = 1
)

// Comm is a communicator that has been yielded.
type Comm struct {
	At inferior.Ptr[Communicator]
	Communicator
	Model *mqs.Communicator
}

// Peers is the group that ranks of a communicator's operations count in.
func (c *Comm) Peers() inferior.Ptr[Group] {
	if c.Model.Inter == mqs.Known(true) {
		return c.RemoteGroup
	}
	return c.LocalGroup
}

// communicators is the array of all communicators.
func (p *Process) communicators() inferior.Ptr[pointerArray] {
	return inferior.Ptr[pointerArray](p.Symbols[SymCommunicators].Addr)
}

// CommunicatorArray reads the array of all communicators; places without one are 0.
func (p *Process) CommunicatorArray() ([]inferior.Ptr[Communicator], error) {
	a, err := p.PointerArray.Read(p.R, p.communicators())
	if err != nil {
		return nil, err
	}
	if a.Size < 0 || a.Size > maxComms || a.Addr == 0 {
		return nil, fmt.Errorf("%s holds %d communicators at %s", SymCommunicators, a.Size, a.Addr)
	}
	comms, err := inferior.ReadPointers(p.R, inferior.Ptr[inferior.Ptr[Communicator]](a.Addr), int(a.Size))
	for i, c := range comms {
		if c == commSentinel {
			comms[i] = 0
		}
	}
	return comms, err
}

// IsNull says whether a place in the array of communicators holds MPI_COMM_NULL, or none at all.
func IsNull(comms []inferior.Ptr[Communicator], i int) bool {
	return comms[i] == 0 || comms[i] == comms[nullIndex]
}

// CommAt is the communicator at an address, nil if none of [Process.Comms] is.
func (p *Process) CommAt(at inferior.Ptr[Communicator]) *Comm { return p.byAddr[at] }

// Communicators yields the communicators in the order of their indices.
func (p *Process) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		comms, err := p.CommunicatorArray()
		if err != nil {
			yield(mqs.Communicator{}, err)
			return
		}
		read, errs := p.readCommunicators(comms)
		for _, err := range errs {
			if !yield(mqs.Communicator{}, err) {
				return
			}
		}
		p.readGroups(read)
		p.readTopologies(read)
		for _, c := range read {
			if !yield(*c.Model, nil) {
				return
			}
		}
	}
}

// readCommunicators reads those that exist, and which of them the library made
// for itself: MPI_COMM_NULL, and the local communicator inside an intercommunicator.
func (p *Process) readCommunicators(array []inferior.Ptr[Communicator]) ([]*Comm, []error) {
	var comms []*Comm
	var errs []error
	var ranges []inferior.Range
	for _, at := range array {
		if at != 0 {
			ranges = append(ranges, inferior.Range{Addr: at.Addr(), Len: p.Communicator.Size()})
		}
	}
	if err := p.R.Prefetch(ranges); err != nil {
		return nil, []error{err}
	}
	internal := map[inferior.Ptr[Communicator]]bool{}
	seen := map[inferior.Ptr[Communicator]]bool{}
	for i, at := range array {
		// While one is being made from another, 4.1 puts the other into its place.
		if at == 0 || seen[at] && i > nullIndex {
			continue
		}
		seen[at] = true
		c, err := p.Communicator.Read(p.R, at)
		if err != nil {
			errs = append(errs, fmt.Errorf("communicator %d: %w", i, err))
			continue
		}
		if IsNull(array, i) {
			if i != nullIndex {
				continue // in the place of MPI_COMM_WORLD or MPI_COMM_SELF without MPI_Init
			}
			internal[at] = true
		}
		if c.Flags&commInter != 0 && c.LocalComm != 0 {
			internal[c.LocalComm] = true
		}
		comms = append(comms, &Comm{At: at, Communicator: c})
	}
	p.findFirstNonBlocking(comms, array)
	of := p.servants()
	var out []*Comm
	clear(p.Comms)
	clear(p.byAddr)
	clear(p.interBy)
	for _, c := range comms {
		m := &mqs.Communicator{
			UniqueID: inferior.Addr(c.Index),
			Inter:    mqs.Known(c.Flags&commInter != 0),
			Internal: internal[c.At],
			Context:  contextOf(&c.Communicator),
			Handle:   mqs.Known(c.At.Addr()),
			Window:   of.windows[c.At],
			File:     of.files[c.At],
		}
		if n := p.nonBlockingNumber(c.NonBlockingTag); n.Known {
			m.NonBlockingCollectives = mqs.Known(n.Value - 1)
		}
		if c.FortranIndex >= 0 && p.hasFortranIndex() {
			m.FortranHandle = mqs.Known(p.integer(mqs.CommHandle, c.FortranIndex))
		}
		if c.Revoked != 0 {
			if v, err := p.R.Uint(c.Revoked.Addr(), 1); err == nil {
				m.Revoked = mqs.Known(v != 0)
			}
		}
		if name, err := c.Name.Read(p.R, maxCommName); err == nil {
			m.Name = mqs.Known(name)
		}
		c.Model = m
		if _, again := p.Comms[m.UniqueID]; again {
			errs = append(errs, fmt.Errorf("there are two communicators %s: the one at %s is left out", m.UniqueID, c.At))
			continue
		}
		p.Comms[m.UniqueID], p.byAddr[c.At] = c, c
		if c.Flags&commInter != 0 && c.LocalComm != 0 {
			p.interBy[c.LocalComm] = c
		}
		out = append(out, c)
	}
	return out, errs
}

// hasFortranIndex says whether the index of a communicator's Fortran handle can be read.
func (p *Process) hasFortranIndex() bool {
	_, ok := inferior.OffsetOf(&p.Communicator, func(c *Communicator) *int32 { return &c.FortranIndex })
	return ok
}

// servants are the names of the windows and files that communicators have been made for.
type servants struct {
	windows, files map[inferior.Ptr[Communicator]]mqs.Maybe[string]
}

func (p *Process) servants() servants {
	out := servants{map[inferior.Ptr[Communicator]]mqs.Maybe[string]{}, map[inferior.Ptr[Communicator]]mqs.Maybe[string]{}}
	windows, _ := p.allWindows()
	for _, w := range windows {
		out.windows[w.comm] = mqs.Known(w.model.Name.Value)
	}
	files, _ := p.allFiles()
	for _, f := range files {
		out.files[f.comm] = mqs.Known(f.model.Name.Value)
	}
	return out
}

// contextOf is what all members of a communicator call it. From 5.0 each process
// has an index of its own, beside an extended context id.
func contextOf(c *Communicator) string {
	if c.ContextBase == 0 && c.ContextSub == 0 {
		return strconv.FormatUint(c.Index, 16)
	}
	return fmt.Sprintf("%x:%x", c.ContextBase, c.ContextSub)
}

// IndexAt is what a peer, by its rank among [Comm.Peers], calls a communicator.
func (p *Process) IndexAt(c *Comm, rank int32) uint64 {
	if c.HasPeerIndices() {
		at := c.PeerIndices.Addr() + 4*inferior.Addr(rank)
		if v, err := p.R.Uint(at, 4); err == nil && v != 0 {
			return v
		}
	}
	return c.Index
}

// HasPeerIndices says whether peers may call a communicator by other indices than this process does.
func (c *Comm) HasPeerIndices() bool {
	return c.Flags&commGlobalIndex == 0 && c.PeerIndices != 0
}

// readGroups fills in ranks and groups. A group that can't be read is unknown, with a note.
func (p *Process) readGroups(comms []*Comm) {
	failed, isKnown := p.failedProcs()
	p.prefetchGroups(comms, failed)
	for _, c := range comms {
		g, err := p.groupOf(c.LocalGroup)
		if err != nil {
			p.Notef("the group of %s can't be read: %v", c.Model.Label(), err)
		} else {
			if c.MyRank >= 0 {
				c.Model.LocalRank = mqs.Known(c.MyRank)
			}
			c.Model.Size = mqs.Known(int32(len(g)))
			c.Model.Group = g
		}
		if c.Model.Inter != mqs.Known(true) {
			continue
		}
		if c.Model.RemoteGroup, err = p.groupOf(c.RemoteGroup); err != nil {
			p.Notef("the remote group of %s can't be read: %v", c.Model.Label(), err)
		}
	}
	if isKnown {
		p.setFailed(comms, failed)
	}
}
