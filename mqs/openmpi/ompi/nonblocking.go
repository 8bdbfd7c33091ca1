package ompi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Non-blocking collectives of a communicator get tags that count down from one that is the same for all
// communicators (ompi_coll_base_nbc_reserve_tags in ompi/mca/coll/base/coll_base_util.h, 4.1 to 6.0), whatever
// component carries them out, and persistent ones when they are made. Below lastNonBlockingTag they begin again.
const lastNonBlockingTag = firstNeighbourTag + 1

const maxParts = 1 << 22 // messages of one round

// findFirstNonBlocking finds the tag from which they count: no collective begins on MPI_COMM_NULL.
func (p *Process) findFirstNonBlocking(comms []*Comm, array []inferior.Ptr[Communicator]) {
	p.firstNonBlocking = mqs.Maybe[int32]{}
	if _, isThere := inferior.OffsetOf(&p.Communicator, func(c *Communicator) *int32 { return &c.NonBlockingTag }); !isThere {
		return
	}
	for _, c := range comms {
		if c.At == array[nullIndex] && IsOfNonBlocking(c.NonBlockingTag) {
			p.firstNonBlocking = mqs.Known(c.NonBlockingTag)
		}
	}
}

// nonBlockingNumber is the number, from 1, of the collective that has a tag.
func (p *Process) nonBlockingNumber(tag int32) mqs.Maybe[int64] {
	first := p.firstNonBlocking
	if !first.Known || tag > first.Value || tag < lastNonBlockingTag {
		return mqs.Maybe[int64]{}
	}
	return mqs.Known(int64(first.Value) - int64(tag) + 1)
}

// CollectiveRequests are those of coll/libnbc that are in use, in the order in which its list has them; nil if they
// are not known. The communicators have been read.
func (p *Process) CollectiveRequests() []mqs.CollectiveRequest {
	if !p.collectivesRead {
		p.collectives, p.collectivesKnown = p.readCollectives()
		p.collectivesRead = true
	}
	if !p.collectivesKnown {
		return nil
	}
	return p.collectives
}

func (p *Process) readCollectives() ([]mqs.CollectiveRequest, bool) {
	out := []mqs.CollectiveRequest{}
	root, ok := p.Symbols[symLibNBC]
	if !ok || !p.LibNBC.Bound() || !p.Collective.Bound() || !p.RequestObject.Bound() {
		return nil, false
	}
	c, err := p.LibNBC.Read(p.R, inferior.Ptr[libNBC](root.Addr))
	if err != nil {
		return nil, false
	}
	list := c.Requests.Ptr()
	if err := ProveFreeList(p, list, &p.Collective); err != nil {
		p.Notef("requests of collectives are not known: %v", err)
		return nil, false
	}
	err = EachElement(p, list, symLibNBC, func(at inferior.Ptr[collective]) error {
		r, err := p.RequestObject.Read(p.R, inferior.Ptr[requestObject](at))
		if err != nil || r.State == RequestInvalid {
			return err
		}
		model, err := p.collectiveAt(at, &r)
		if err != nil {
			return err
		}
		out = append(out, model)
		if c, err := p.Collective.Read(p.R, at); err == nil && c.PartsCount > 0 && c.PartsCount <= maxParts && r.State == RequestActive {
			p.collectiveParts = append(p.collectiveParts, inferior.Range{Addr: c.Parts, Len: int(c.PartsCount) * p.R.Info().PointerSize})
		}
		return nil
	})
	if err != nil {
		p.Notef("requests of collectives are not known: %v", err)
		return nil, false
	}
	return out, true
}

// collectiveAt describes the request of a collective at an address.
func (p *Process) collectiveAt(at inferior.Ptr[collective], r *requestObject) (mqs.CollectiveRequest, error) {
	c, err := p.Collective.Read(p.R, at)
	if err != nil {
		return mqs.CollectiveRequest{}, err
	}
	out := mqs.CollectiveRequest{Request: at.Addr(), Comm: p.idOf(c.Comm), Persistent: r.Persistent, Status: statusOf(r.State, r.Complete, r.Persistent)}
	if _, isThere := inferior.OffsetOf(&p.Collective, func(c *collective) *int32 { return &c.Tag }); isThere {
		out.Tag, out.Sequence = mqs.Known(c.Tag), p.nonBlockingNumber(c.Tag)
	}
	return out, nil
}

// openCollectives are the requests of collectives that are not complete.
func (p *Process) openCollectives() []Waitable {
	var out []Waitable
	for _, c := range p.CollectiveRequests() {
		r, err := p.RequestObject.Read(p.R, inferior.Ptr[requestObject](c.Request))
		if err != nil || c.Status != mqs.Pending {
			continue
		}
		out = append(out, Waitable{Addr: c.Request, Comm: r.Comm, Tag: AnyTag, Complete: r.Complete})
	}
	return out
}

// isInParts says whether what stands at an address is a collective's handle of a message of its own.
func (p *Process) isInParts(a inferior.Addr) bool {
	return slices.ContainsFunc(p.collectiveParts, func(r inferior.Range) bool { return a >= r.Addr && a < r.Addr+inferior.Addr(r.Len) })
}
