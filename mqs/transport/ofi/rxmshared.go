package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// kept: from 2.0, where rxm takes messages for a queue that providers share, its buffer has a message and leads back to
// the entry.
func (x *rxm) kept(e *peerEntry) inferior.Range {
	return inferior.RangeOf(&x.Received, inferior.Ptr[rxmRxBuf](e.Message), 1)
}

func (x *rxm) describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error) {
	b, err := x.Received.Read(x.r, inferior.Ptr[rxmRxBuf](e.Message))
	switch {
	case err != nil:
		return transport.Message{}, err
	case b.EP == x.at && distance(b.Shared.Addr(), at.Addr()) == inferior.Addr(x.Link.Size()):
		// The links stand in a peer's entry up to 2.2 and before it from 2.3 on. All else of the two layouts is the same.
		return transport.Message{}, fmt.Errorf("the message at %s and its buffer differ about where an entry begins: %w", at, errOtherLayout)
	case b.EP != x.at || b.Shared != at:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case b.Packet.Tag != e.Tag || b.Packet.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, b.Packet.Tag, e.Tag)
	}
	m := transport.Message{Tag: e.Tag, Peer: peerOf(e.Peer)}
	x.fill(&m, &b)
	return m, nil
}

func distance(a, b inferior.Addr) inferior.Addr { return max(a, b) - min(a, b) }
