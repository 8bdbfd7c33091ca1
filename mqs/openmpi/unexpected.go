package openmpi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Types of a fragment's header (ompi/mca/pml/ob1/pml_ob1_hdr.h, 4.1 to 6.0).
const (
	headerMatch = 65 // the whole message, eagerly
	headerRndv  = 66 // the start of one that the receiver must ask for
	headerRget  = 67 // one that the receiver will fetch
	headerCID   = 74 // an extended context id, with one of the others behind it
)

// yieldUnexpected yields the messages that no receive has matched, rank by rank
// of their senders: between senders ob1 keeps no order.
func (s *source) yieldUnexpected(state *commState, c *mqs.Communicator, yield func(mqs.PendingOperation, error) bool) {
	peers, err := s.peers(state)
	if err != nil {
		yield(mqs.PendingOperation{}, err)
		return
	}
	if len(peers.ranks) > 0 && peers.procs[peers.ranks[0]].UnexpectedFrags == 0 {
		yield(mqs.PendingOperation{}, fmt.Errorf("this Open MPI was built with MCA_PML_OB1_CUSTOM_MATCH, whose queues of unexpected messages mpi-queues can't read"))
		return
	}
	var failed error // the first one: the messages of the other ranks are still shown
	for _, rank := range peers.ranks {
		p := peers.procs[rank]
		arrived, err := s.arrivals(p)
		early, ringErr := s.ring(p.FragsCantMatch)
		if err = cmp.Or(err, ringErr); err != nil && failed == nil {
			failed = fmt.Errorf("messages from rank %d: %w", rank, err)
		}
		for _, f := range arrived {
			if !yield(s.unexpected(c, f), nil) {
				return
			}
		}
		for _, f := range early {
			op := s.unexpected(c, f)
			op.ExtraText = append(op.ExtraText, "out of order: an earlier message from this rank is still under way")
			if !yield(op, nil) {
				return
			}
		}
	}
	if err := s.allRequests().recvErr; err != nil {
		s.notef("messages that MPI_Mprobe has taken are not among the unexpected messages of %s: %v", c.Label(), err)
	}
	for i := range s.requests.recvs[state.addr] {
		r := &s.requests.recvs[state.addr][i]
		if held(r) && !yield(s.heldMessage(c, r), nil) {
			return
		}
	}
	if failed != nil {
		yield(mqs.PendingOperation{}, failed)
	}
}

// arrival is a fragment that has arrived.
type arrival struct {
	next, ahead inferior.Addr // the next one, and those that follow this one in sequence
	header
	payload inferior.Addr // behind the header of an eager message
	size    uint64        // bytes of payload
}

// arrivals reads the messages of one peer that can be matched.
func (s *source) arrivals(p commProc) ([]arrival, error) {
	l, err := s.List.ReadAt(s.r, inferior.Addr(p.UnexpectedFrags))
	if err != nil {
		return nil, err
	}
	return s.frags(l.First, inferior.Addr(l.Sentinel))
}

// frags reads a list of fragments from first until stop.
func (s *source) frags(first, stop inferior.Addr) ([]arrival, error) {
	var out []arrival
	var last arrival
	next := func(a inferior.Addr) (_ inferior.Addr, err error) {
		last, err = s.frag(a)
		return last.next, err
	}
	for _, err := range inferior.Walk(first, stop, maxFrags, next) {
		if err != nil {
			return out, err
		}
		out = append(out, last)
	}
	return out, nil
}

const maxFrags = 1 << 24

// ring reads the fragments that came too early to be matched: a ring without a
// sentinel, ordered by sequence, in which each can be the head of a further
// ring, of those that follow it directly.
func (s *source) ring(head inferior.Addr) ([]arrival, error) {
	var out []arrival
	seen := map[inferior.Addr]bool{}
	heads := []inferior.Addr{head}
	for len(heads) > 0 {
		head := heads[len(heads)-1]
		heads = heads[:len(heads)-1]
		for a := head; a != 0 && !seen[a]; {
			if len(seen) == maxFrags {
				return out, fmt.Errorf("the ring at %s does not end", head)
			}
			seen[a] = true
			f, err := s.frag(a)
			if err != nil {
				return out, err
			}
			out = append(out, f)
			heads = append(heads, f.ahead)
			a = f.next
		}
	}
	slices.SortStableFunc(out, func(a, b arrival) int { return int(int16(a.Seq - b.Seq)) })
	return out, nil
}

// frag reads the fragment at a, once its class has proved what it is.
func (s *source) frag(a inferior.Addr) (arrival, error) {
	if err := s.proveClass(a, s.RecvFrag.Name(), s.RecvFrag.Size()); err != nil {
		return arrival{}, err
	}
	f, err := s.RecvFrag.ReadAt(s.r, a)
	if err != nil {
		return arrival{}, err
	}
	at := inferior.Addr(f.Header)
	h, err := s.Header.ReadAt(s.r, at)
	if err != nil {
		return arrival{}, err
	}
	seg, err := s.Segment.ReadAt(s.r, inferior.Addr(f.Segments))
	if err != nil {
		return arrival{}, err
	}
	if h.Type == headerCID && s.CIDHeader.Bound() {
		// Adopted by a communicator made later: the message's own header is
		// behind this one, and the segment starts there but has not been shortened.
		at += inferior.Addr(s.CIDHeader.Size())
		if h, err = s.Header.ReadAt(s.r, at); err != nil {
			return arrival{}, err
		}
		seg.Len -= min(seg.Len, uint64(s.CIDHeader.Size()))
	}
	wire := uint64(h.SeqAt) + 2 - uint64(at)
	if h.PaddingAt != 0 {
		wire += 2
	}
	return arrival{f.Next, f.Range, h, seg.Addr + inferior.Addr(wire), seg.Len - min(seg.Len, wire)}, nil
}

// unexpected describes a message that has arrived.
func (s *source) unexpected(c *mqs.Communicator, f arrival) mqs.PendingOperation {
	op := message(c, f.Source, f.Tag)
	switch f.Type {
	case headerMatch:
		op.ActualLength = mqs.Known(int64(f.size))
		op.SystemBuffer = mqs.Known(true)
		op.Buffer = mqs.Known(f.payload)
		op.ExtraText = []string{"eager"}
	case headerRndv, headerRget:
		op.ActualLength = mqs.Known(int64(f.MsgLength))
		op.ExtraText = []string{mqs.Rendezvous}
	}
	op.DesiredLength = op.ActualLength
	return op
}

// takenText stands with messages that MPI_Mprobe has taken out of the queue.
const takenText = "taken by MPI_Mprobe, not received yet"

// heldMessage describes a message that MPI_Mprobe has taken out of the queue.
func (s *source) heldMessage(c *mqs.Communicator, r *recvAt) mqs.PendingOperation {
	op := message(c, r.Base.Source, r.Base.StatusTag)
	op.Status = mqs.Matched
	op.Request = mqs.Known(r.addr)
	op.ActualLength = mqs.Known(int64(r.Base.Received))
	op.DesiredLength = op.ActualLength
	op.ExtraText = []string{takenText}
	return op
}

// message describes the envelope of a message: what the sender wrote on it is
// both what it desired and what it is.
func message(c *mqs.Communicator, source, tag int32) mqs.PendingOperation {
	return mqs.PendingOperation{
		Status:            mqs.Pending,
		DesiredLocalRank:  mqs.Known(source),
		DesiredGlobalRank: c.GlobalRank(source),
		TagWild:           mqs.Known(false),
		DesiredTag:        mqs.Known(tag),
		ActualLocalRank:   mqs.Known(source),
		ActualGlobalRank:  c.GlobalRank(source),
		ActualTag:         mqs.Known(tag),
		Internal:          tag < 0,
	}
}
