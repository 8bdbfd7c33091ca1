package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// openShared opens the queue that rxm has from 2.0. Its buffer has a message, and leads back to the entry.
func (x *rxm) openShared(l *layout.Layouts) (queue, error) {
	return openShared(x.Endpoint, l, x.ep.Shared, func(s messageAt) inferior.Range {
		return x.Received.Range(inferior.Ptr[rxmRxBuf](s.Message), 1)
	}, x.ofEntry)
}

// ofEntry makes of an entry the message.
func (x *rxm) ofEntry(s messageAt) (transport.Message, error) {
	b, err := x.Received.Read(x.r, inferior.Ptr[rxmRxBuf](s.Message))
	switch {
	case err != nil:
		return transport.Message{}, err
	case b.EP != x.at || b.Shared != s.at:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", s.at)
	case b.Packet.Tag != s.Tag || b.Packet.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", s.at, b.Packet.Tag, s.Tag)
	}
	m := transport.Message{Addr: s.at.Addr(), Tag: s.Tag, Peer: peerOf(s.Peer)}
	x.fill(&m, &b)
	return m, nil
}
