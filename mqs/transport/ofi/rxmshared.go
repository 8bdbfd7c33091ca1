package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// kept: from 2.0, where rxm takes messages for a queue that providers share, its buffer has a message and leads back to
// the entry.
func (x *rxm) kept(e *peerEntry) inferior.Range {
	return x.Received.Range(inferior.Ptr[rxmRxBuf](e.Message), 1)
}

func (x *rxm) describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error) {
	b, err := x.Received.Read(x.r, inferior.Ptr[rxmRxBuf](e.Message))
	switch {
	case err != nil:
		return transport.Message{}, err
	case b.EP != x.at || b.Shared != at:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case b.Packet.Tag != e.Tag || b.Packet.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, b.Packet.Tag, e.Tag)
	}
	m := transport.Message{Tag: e.Tag, Peer: peerOf(e.Peer)}
	x.fill(&m, &b)
	return m, nil
}
