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
	*Endpoint
	at inferior.Ptr[rxmQueue]
	rxmQueue
}

func (e *Endpoint) openOwn(at inferior.Ptr[rxmQueue]) (queue, error) {
	q, err := e.o.Queue.Read(e.o.r, at)
	switch {
	case err != nil:
		return nil, err
	case q.EP != e.at || q.Type != queueTagged:
		return nil, fmt.Errorf("the queue at %s is not one of tagged messages of the endpoint at %s", at, e.at)
	}
	return &ownQueue{e, at, q}, nil
}

// readPosted reads the posted receives, which stand in the order of posting.
func (q *ownQueue) readPosted() error {
	o, e := q.o, q.Endpoint
	err := ring(q.Posted, q.PostedAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&o.Entry, l, func(r *rxmEntry) *inferior.Embedded[link] { return &r.InQueue })
		r, err := o.Entry.Read(o.r, at)
		switch {
		case err != nil:
			return link{}, err
		case r.Queue != q.at:
			return link{}, fmt.Errorf("the receive at %s is another queue's", at)
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: peerOf(r.Peer), Sequence: uint64(len(e.queues.Posted))}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, length(r.Length)
		if r.Parts == 1 {
			first, err := o.Part.Read(o.r, r.First.Ptr())
			if err != nil {
				return link{}, err
			}
			out.Buffer = first.Base
		}
		e.queues.Posted = append(e.queues.Posted, out)
		return r.Links, nil
	})
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	return nil
}

// readUnexpected reads the ring of unexpected messages.
func (q *ownQueue) readUnexpected() error {
	err := ring(q.Unexpected, q.MessagesAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&q.o.Received, l, func(m *rxmRxBuf) *inferior.Embedded[link] { return &m.InQueue })
		m, links, isPart, err := q.read(at)
		if err == nil && !isPart {
			e := q.Endpoint
			e.queues.Unexpected = append(e.queues.Unexpected, m)
		}
		return links, err
	})
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

func (q *ownQueue) message(at inferior.Addr) (transport.Message, error) {
	m, _, _, err := q.read(inferior.Ptr[rxmRxBuf](at))
	return m, err
}

// read reads a message that has come, or a part of one that is not its first. A message whose sender the endpoint has not
// known yet is from the peer of its connection.
func (q *ownQueue) read(at inferior.Ptr[rxmRxBuf]) (m transport.Message, links link, isPart bool, err error) {
	b, err := q.o.Received.Read(q.o.r, at)
	switch {
	case err != nil:
		return transport.Message{}, link{}, false, err
	case b.EP != q.Endpoint.at:
		return transport.Message{}, link{}, false, fmt.Errorf("the message at %s is another endpoint's", at)
	case b.Packet.Tag != b.Tag || b.Packet.Op != opTagged:
		return transport.Message{}, link{}, false, fmt.Errorf("the message at %s has the tags %#x and %#x", at, b.Packet.Tag, b.Tag)
	}
	m = transport.Message{Addr: at.Addr(), Tag: b.Tag, Peer: peerOf(b.Peer)}
	q.fill(&m, &b)
	if q.ep.Map != 0 && q.domain.Dynamic && b.Packet.Type == ctrlEager {
		m.Peer = q.senderOf(&b)
	}
	isPart = b.Packet.Type == ctrlSegment && b.Packet.Segment&segmentMask > segmentFirst
	return m, link{Next: b.Next, Prev: b.Prev}, isPart, nil
}
