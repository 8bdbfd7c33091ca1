package openmpi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Values of an ompi_request_t's req_state (ompi/request/request.h).
const (
	requestInvalid  = 0 // not in use
	requestInactive = 1 // persistent, not started
	requestActive   = 2
)

// requestCompleted is req_complete once the operation is complete; before, it
// is NULL or the address of what a waiting thread sleeps on.
const requestCompleted = 1

// Values of a mca_pml_base_request_t's req_type (ompi/mca/pml/base/pml_base_request.h).
const (
	typeSend = iota + 1
	typeRecv
	typeIprobe
	typeProbe
	typeImprobe
	typeMprobe
)

// requests are the requests of ob1 that are in use, by the address of their communicator.
type requests struct {
	sends map[inferior.Addr][]sendAt
	recvs map[inferior.Addr][]recvAt
	seen  map[inferior.Addr]inferior.Addr // the receive requests among them, and what follows each in its list
	// What was read of a list stands above even if the rest of it can't be.
	sendErr, recvErr error
}

type sendAt struct {
	addr inferior.Addr
	sendRequest
}

type recvAt struct {
	addr inferior.Addr
	recvRequest
}

// allRequests walks the two free lists, whose allocations hold every request,
// used or not, once.
func (s *source) allRequests() *requests {
	if s.requests != nil {
		return s.requests
	}
	q := &requests{sends: map[inferior.Addr][]sendAt{}, recvs: map[inferior.Addr][]recvAt{}, seen: map[inferior.Addr]inferior.Addr{}}
	s.requests = q
	q.sendErr = s.eachElement(s.symbols[symSendRequests].Addr, symSendRequests, func(a inferior.Addr) error {
		r, err := s.SendRequest.ReadAt(s.r, a)
		if err == nil && r.Base.Type == typeSend && (inUse(r.Base) || isBuffered(r)) {
			q.sends[r.Base.Comm] = append(q.sends[r.Base.Comm], sendAt{a, r})
		}
		return err
	})
	q.recvErr = s.eachElement(s.symbols[symRecvRequests].Addr, symRecvRequests, func(a inferior.Addr) error {
		r, err := s.RecvRequest.ReadAt(s.r, a)
		if err == nil && inUse(r.Base) && r.Base.Type >= typeRecv && r.Base.Type <= typeMprobe {
			q.recvs[r.Base.Comm] = append(q.recvs[r.Base.Comm], recvAt{a, r})
			q.seen[a] = r.Base.Next
		}
		return err
	})
	return q
}

// inUse tells requests that stand for an operation: a free one is invalid, a
// persistent one that has not been started inactive.
func inUse(r request) bool { return r.State != requestInvalid && r.State != requestInactive }

// isBuffered tells a persistent buffered send that has been collected, and is
// inactive, while its data still waits in the attached buffer.
func isBuffered(r sendRequest) bool {
	return r.Base.State == requestInactive && r.Mode == modeBuffered && !r.Base.PMLComplete && r.Addr != r.Base.Addr
}

// eachElement calls f with every element of a free list, in the order in which
// they were handed out for the first time. The list is a list of allocations;
// in each, elements stand at a fixed stride behind an item of their own.
func (s *source) eachElement(list inferior.Addr, name string, f func(inferior.Addr) error) error {
	head, err := s.FreeList.ReadAt(s.r, list)
	if err != nil {
		return err
	}
	align := max(head.Alignment, 1)
	if align&(align-1) != 0 || align > 1<<20 || head.FragSize == 0 || head.FragSize > 1<<20 || head.NumAllocated > 1<<26 || head.NumPerAlloc > 1<<26 {
		return fmt.Errorf("%s has %d elements of %d bytes aligned to %d", name, head.NumAllocated, head.FragSize, align)
	}
	stride := (head.FragSize + align - 1) &^ (align - 1)

	var allocations []inferior.Addr
	next := func(a inferior.Addr) (inferior.Addr, error) {
		item, err := s.ListItem.ReadAt(s.r, a)
		return item.Next, err
	}
	for a, err := range inferior.Walk(head.Allocations.First, inferior.Addr(head.Allocations.Sentinel), 1<<24, next) {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		allocations = append(allocations, a)
	}

	left := int(head.NumAllocated)
	for i, a := range allocations {
		// All allocations have NumPerAlloc elements but the first one, and the last if a maximum cuts it.
		n := min(left, int(head.NumPerAlloc))
		if others := (len(allocations) - 1) * int(head.NumPerAlloc); i == 0 && left > others {
			n = left - others
		}
		first := (a + inferior.Addr(s.FreeListItem.Size()) + inferior.Addr(align) - 1) &^ inferior.Addr(align-1)
		// New elements are put on the free list one upon the other: the last is taken first.
		for k := n - 1; k >= 0; k-- {
			at := first + inferior.Addr(k)*inferior.Addr(stride)
			o, err := s.Object.ReadAt(s.r, at)
			if err != nil {
				return err
			}
			if o.Class != head.FragClass {
				return fmt.Errorf("%s: element %d of the allocation at %s is no request", name, k, a)
			}
			if err := f(at); err != nil {
				return err
			}
		}
		left -= n
	}
	if left != 0 {
		return errors.New(name + " has fewer elements than it says")
	}
	return nil
}
