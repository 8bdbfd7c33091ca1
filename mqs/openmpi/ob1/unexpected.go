package ob1

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// Types of a fragment's header (ompi/mca/pml/ob1/pml_ob1_hdr.h, 4.0 to 6.0).
const (
	headerMatch = 65 // the whole message, eagerly
	headerRndv  = 66 // the start of one that the receiver must ask for
	headerRget  = 67 // one that the receiver will fetch
	headerCID   = 74 // an extended context id, with one of the others behind it
)

// yieldUnexpected yields the messages that no receive has matched, rank by rank
// of their senders: between senders ob1 keeps no order.
func (q *queues) yieldUnexpected(on *ompi.Comm, c *mqs.Communicator, yield func(mqs.PendingOperation, error) bool) {
	peers, err := q.peers(on)
	if err != nil {
		yield(mqs.PendingOperation{}, err)
		return
	}
	if len(peers.ranks) > 0 && peers.procs[peers.ranks[0]].UnexpectedFrags == 0 {
		yield(mqs.PendingOperation{}, errors.New("this Open MPI was built with MCA_PML_OB1_CUSTOM_MATCH, whose queues of unexpected messages mpi-queues can't read"))
		return
	}
	var failed error // the first one: the messages of the other ranks are still shown
	for _, rank := range peers.ranks {
		p := peers.procs[rank]
		arrived, err := q.arrivals(p)
		early, ringErr := q.ring(p.FragsCantMatch)
		if err = cmp.Or(err, ringErr); err != nil && failed == nil {
			failed = fmt.Errorf("messages from rank %d: %w", rank, err)
		}
		for _, f := range arrived {
			if !yield(q.unexpected(c, f), nil) {
				return
			}
		}
		for _, f := range early {
			op := q.unexpected(c, f)
			op.ExtraText = append(op.ExtraText, "out of order: an earlier message from this rank is still under way")
			if !yield(op, nil) {
				return
			}
		}
	}
	all := q.allRequests()
	if all.recvErr != nil {
		q.Notef("messages that MPI_Mprobe has taken are not among the unexpected messages of %s: %v", c.Label(), all.recvErr)
	}
	for _, r := range all.recvs[on.At] {
		if isTaken(r) && !yield(q.taken(c, r), nil) {
			return
		}
	}
	if failed != nil {
		yield(mqs.PendingOperation{}, failed)
	}
}

// arrival is a fragment that has arrived.
type arrival struct {
	next  inferior.Ptr[ompi.ListItem] // the one behind it
	ahead inferior.Ptr[recvFrag]      // those that follow this one in sequence
	header
	payload inferior.Addr // behind the header of an eager message
	size    uint64        // bytes of payload
}

// arrivals reads the messages of one peer that can be matched.
func (q *queues) arrivals(p commProc) ([]arrival, error) {
	l, err := q.List.Read(q.R, p.UnexpectedFrags.Ptr())
	if err != nil {
		return nil, err
	}
	return q.frags(l.First, l.Sentinel.Ptr())
}

// frags reads a list of fragments from first until stop.
func (q *queues) frags(first, stop inferior.Ptr[ompi.ListItem]) ([]arrival, error) {
	var out []arrival
	var last arrival
	next := func(item inferior.Ptr[ompi.ListItem]) (_ inferior.Ptr[ompi.ListItem], err error) {
		last, err = q.frag(fragOf(item))
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

// fragOf is the fragment that an element of a list of fragments is: a fragment starts with that.
func fragOf(item inferior.Ptr[ompi.ListItem]) inferior.Ptr[recvFrag] {
	return inferior.Ptr[recvFrag](item)
}

// ring reads the fragments that came too early to be matched: a ring without a
// sentinel, ordered by sequence, in which each can be the head of a further
// ring, of those that follow it directly.
func (q *queues) ring(head inferior.Ptr[recvFrag]) ([]arrival, error) {
	var out []arrival
	seen := map[inferior.Ptr[recvFrag]]bool{}
	heads := []inferior.Ptr[recvFrag]{head}
	for len(heads) > 0 {
		head := heads[len(heads)-1]
		heads = heads[:len(heads)-1]
		for at := head; at != 0 && !seen[at]; {
			seen[at] = true
			f, err := q.frag(at)
			if err != nil {
				return out, err
			}
			out = append(out, f)
			heads = append(heads, f.ahead)
			at = fragOf(f.next)
		}
	}
	slices.SortStableFunc(out, func(a, b arrival) int { return int(int16(a.Seq - b.Seq)) })
	return out, nil
}

// frag reads a fragment, once its class has proved what it is.
func (q *queues) frag(at inferior.Ptr[recvFrag]) (arrival, error) {
	if err := ompi.ProveClass(q.Process, &q.RecvFrag, at); err != nil {
		return arrival{}, err
	}
	f, err := q.RecvFrag.Read(q.R, at)
	if err != nil {
		return arrival{}, err
	}
	h, err := q.Header.Read(q.R, f.Header.Ptr())
	if err != nil {
		return arrival{}, err
	}
	seg, err := q.Segment.Read(q.R, f.Segments.Ptr())
	if err != nil {
		return arrival{}, err
	}
	if h.Type == headerCID && q.CIDHeader.Bound() {
		// Adopted by a communicator made later: the message's own header is
		// behind this one, and the segment starts there but has not been shortened.
		own := f.Header.Ptr() + inferior.Ptr[header](q.CIDHeader.Size())
		if h, err = q.Header.Read(q.R, own); err != nil {
			return arrival{}, err
		}
		seg.Len -= min(seg.Len, uint64(q.CIDHeader.Size()))
	}
	wire := q.wireHeader()
	return arrival{f.Next, f.Range, h, seg.Addr + inferior.Addr(wire), seg.Len - min(seg.Len, wire)}, nil
}

// wireHeader is the length of an eager message's header on the wire, in bytes. It ends with hdr_seq, or with
// the padding of heterogeneous and (5.0 and later) debug builds; not where the struct ends.
func (q *queues) wireHeader() uint64 {
	const sequence, padding = 2, 2
	at, _ := inferior.OffsetOf(&q.Header, func(h *header) *uint16 { return &h.Seq })
	wire := uint64(at) + sequence
	if _, isPadded := inferior.OffsetOf(&q.Header, func(h *header) *inferior.Embedded[[2]byte] { return &h.Padding }); isPadded {
		wire += padding
	}
	return wire
}

// unexpected describes a message that has arrived.
func (q *queues) unexpected(c *mqs.Communicator, f arrival) mqs.PendingOperation {
	op := message(c, f.Source, f.Tag)
	switch f.Type {
	case headerMatch:
		op.DesiredLength = mqs.Known(int64(f.size))
		op.SystemBuffer = mqs.Known(true)
		op.Buffer = mqs.Known(f.payload)
		op.ExtraText = []string{mqs.Eager}
	case headerRndv, headerRget:
		op.DesiredLength = mqs.Known(int64(f.MsgLength))
		op.ExtraText = []string{mqs.Rendezvous}
	}
	op.SetActual()
	return op
}

// taken describes a message that MPI_Mprobe has taken out of the queue.
func (q *queues) taken(c *mqs.Communicator, r *recvAt) mqs.PendingOperation {
	op := message(c, r.Base.Source, r.Base.StatusTag)
	op.Status = mqs.Matched
	op.Request = mqs.Known(r.at.Addr())
	op.DesiredLength = mqs.Known(int64(r.Base.Received))
	op.ExtraText = []string{mqs.TakenByProbe}
	op.SetActual()
	return op
}

// message describes the envelope of a message as its sender has written it.
func message(c *mqs.Communicator, source, tag int32) mqs.PendingOperation {
	return mqs.PendingOperation{
		Status:            mqs.Pending,
		DesiredLocalRank:  mqs.Known(source),
		DesiredGlobalRank: c.GlobalRank(source),
		TagWild:           mqs.Known(false),
		DesiredTag:        mqs.Known(tag),
		Internal:          tag < 0,
	}
}
