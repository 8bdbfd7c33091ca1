package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// readSends reads the messages on their way whose data the peer fetches: all others are complete for their senders. Of one
// that the peer has found unexpected the sender keeps nothing. Who a peer is is not kept.
func (s *sm2) readSends() error {
	sends, err := s.sending()
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	s.queues.Sends = sends
	return nil
}

func (s *sm2Taker) sending() ([]transport.Send, error) {
	if s.ep.Region == 0 || !s.Fetched.Bound() {
		return nil, nil
	}
	used, err := s.used()
	if err != nil {
		return nil, err
	}
	ranges := make([]inferior.Range, len(used))
	for i, at := range used {
		ranges[i] = inferior.RangeOf(&s.Slot, at, 1)
	}
	if err := s.r.Prefetch(ranges); err != nil {
		return nil, err
	}
	var out []transport.Send
	for _, at := range used {
		slot, err := s.Slot.Read(s.r, at)
		if err != nil {
			return nil, err
		}
		if send, ok := s.send(at, &slot); ok {
			out = append(out, send)
		}
	}
	return out, nil
}

// send is what a message on its way is to an MPI; false if it is none of a tagged send. A place is for an answer to a
// peer's message too, whose context is the peer's.
func (s *sm2Taker) send(at inferior.Ptr[sm2Header], h *sm2Header) (transport.Send, bool) {
	isFetched := h.How == sm2CMA || h.How == sm2IPC
	if h.Op != opTagged || h.Context == 0 || !isFetched || h.Sender != s.ep.Number {
		return transport.Send{}, false
	}
	out := transport.Send{Tag: h.Tag, TagKept: true}
	out.Addr, out.UserData, out.Length = at.Addr(), h.Context, length(h.Size)
	switch h.Flags {
	case 0, sm2Returned | sm2Unexpected:
	case sm2Received, sm2Received | sm2Returned:
		out.State = transport.Matched
	default:
		return transport.Send{}, false
	}
	return out, true
}

// used are the places that are not free.
func (s *sm2Taker) used() ([]inferior.Ptr[sm2Header], error) {
	region, err := s.Region.Read(s.r, s.ep.Region)
	if err != nil {
		return nil, err
	}
	at := inferior.Ptr[sm2Stack](s.ep.Region.Addr() + inferior.Addr(region.StackAt))
	stack, err := s.Stack.Read(s.r, at)
	if err != nil {
		return nil, err
	}
	const width = 2 // bytes of a number
	behind := uint64(stack.Next.Addr()-at.Addr()) + width*stack.Size
	isIn := stack.Size <= maxSlots && stack.Width == uint64(s.Slot.Size()) && stack.SlotsAt >= behind && stack.SlotsAt < behind+maxSM2Gap
	if !isIn || stack.Free < 0 || uint64(stack.Free) > stack.Size {
		return nil, fmt.Errorf("the %d places at %s, of %d bytes, have %d free ones", stack.Size, at, stack.Width, stack.Free)
	}
	numbers := inferior.Range{Addr: stack.Next.Addr(), Len: int(width * stack.Size)}
	if err := s.r.Prefetch([]inferior.Range{numbers}); err != nil {
		return nil, err
	}
	isFree := make([]bool, stack.Size)
	count := 0
	for i := int64(stack.First); i != -1; count++ {
		if i < 0 || uint64(i) >= stack.Size || isFree[i] {
			return nil, fmt.Errorf("the free place %d at %s is not one of those, or not for the first time", i, at)
		}
		isFree[i] = true
		if i, err = s.r.Int(stack.Next.Addr()+inferior.Addr(width*i), width); err != nil {
			return nil, err
		}
	}
	// The count follows the list.
	if free := int(stack.Free); count < free-1 || count > free+1 {
		return nil, fmt.Errorf("%d places at %s are free, of which it says %d", count, at, free)
	}
	var out []inferior.Ptr[sm2Header]
	for i := range isFree {
		if !isFree[i] {
			out = append(out, inferior.Ptr[sm2Header](at.Addr()+inferior.Addr(stack.SlotsAt+stack.Width*uint64(i))))
		}
	}
	return out, nil
}

// maxSM2Gap bounds what is between the numbers of places and the places, in bytes: they begin at a multiple of something.
const maxSM2Gap = 1 << 12
