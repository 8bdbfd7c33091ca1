package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// queueTagged is RXM_RECV_QUEUE_TAGGED (prov/rxm/src/rxm.h, 1.17).
const queueTagged = 2

// ownQueue is a queue that an endpoint of rxm's has in itself, up to 1.22.
type ownQueue struct {
	*rxm
	at inferior.Ptr[rxmQueue]
	rxmQueue
}

func (x *rxm) openOwn(at inferior.Ptr[rxmQueue]) (queue, error) {
	q, err := x.Queue.Read(x.r, at)
	switch {
	case err != nil:
		return nil, err
	case q.EP != x.at || q.Type != queueTagged:
		return nil, fmt.Errorf("the queue at %s is not one of tagged messages of the endpoint at %s", at, x.at)
	}
	return &ownQueue{x, at, q}, nil
}

// readPosted reads the posted receives, which stand in the order of posting.
func (q *ownQueue) readPosted() error {
	err := ring(q.Posted, q.PostedAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&q.Entry, l, func(r *rxmEntry) *inferior.Embedded[link] { return &r.InQueue })
		r, err := q.Entry.Read(q.r, at)
		switch {
		case err != nil:
			return link{}, err
		case r.Queue != q.at:
			return link{}, fmt.Errorf("the receive at %s is another queue's", at)
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: peerOf(r.Peer), Sequence: uint64(len(q.queues.Posted))}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, length(r.Length)
		return r.Links, q.post(out, uint64(r.Parts), r.First.Ptr())
	})
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	return nil
}

// readUnexpected reads the ring of unexpected messages, in which each segment of one stands, behind the first.
func (q *ownQueue) readUnexpected() error {
	err := ring(q.Unexpected, q.MessagesAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&q.Received, l, func(m *rxmRxBuf) *inferior.Embedded[link] { return &m.InQueue })
		m, b, err := q.read(at)
		if err == nil && (b.Packet.Type != ctrlSegment || b.Packet.Segment&segmentMask == segmentFirst) {
			q.queues.Unexpected = append(q.queues.Unexpected, m)
		}
		return link{Next: b.Next, Prev: b.Prev}, err
	})
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

func (q *ownQueue) message(at inferior.Addr) (transport.Message, error) {
	m, _, err := q.read(inferior.Ptr[rxmRxBuf](at))
	return m, err
}

// read reads a message that has come, and its buffer. One whose sender the endpoint has not known yet is from the peer
// of its connection.
func (q *ownQueue) read(at inferior.Ptr[rxmRxBuf]) (transport.Message, rxmRxBuf, error) {
	b, err := q.Received.Read(q.r, at)
	switch {
	case err != nil:
		return transport.Message{}, b, err
	case b.EP != q.rxm.at:
		return transport.Message{}, b, fmt.Errorf("the message at %s is another endpoint's", at)
	case b.Packet.Tag != b.Tag || b.Packet.Op != opTagged:
		return transport.Message{}, b, fmt.Errorf("the message at %s has the tags %#x and %#x", at, b.Packet.Tag, b.Tag)
	}
	m := transport.Message{Addr: at.Addr(), Tag: b.Tag, Peer: peerOf(b.Peer)}
	q.fill(&m, &b)
	if q.ep.Map != 0 && q.domain.Dynamic && b.Packet.Type == ctrlEager {
		m.Peer = q.senderOf(&b)
	}
	return m, b, nil
}
