package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// maxMapped bounds the connections that are kept by the addresses of their peers.
const maxMapped = connChunks * connsInChunk

// readMapped reads those up to 1.13, which stand by the addresses of their peers.
func (e *Endpoint) readMapped() error {
	o := e.o
	m, err := o.Map.Read(o.r, e.ep.Map)
	switch {
	case err != nil:
		return err
	case m.EP != e.at || m.Count > maxMapped:
		return fmt.Errorf("the connections at %s are another endpoint's, or %d", e.ep.Map, m.Count)
	}
	all, err := inferior.ReadPointers(o.r, m.Conns, int(m.Count))
	if err != nil {
		return err
	}
	for i, at := range all {
		if at == 0 {
			continue
		}
		c, err := o.Conn.Read(o.r, at)
		switch {
		case err != nil:
			return err
		case c.Map != e.ep.Map || c.Addr != uint64(i):
			return fmt.Errorf("the connection at %s is not that to the peer %d", at, i)
		}
		e.conns[c.RemoteKey] = append(e.conns[c.RemoteKey], at)
	}
	return nil
}

// connsCalled are the connections that a peer calls so in a packet.
func (e *Endpoint) connsCalled(id uint64) []inferior.Ptr[rxmConn] {
	if e.ep.Map == 0 {
		id = uint64(uint32(id))
	}
	return e.conns[id]
}

// senderOf is who has sent a message without a header of rxm's. Up to 1.13 rxm makes one up with what the peer calls
// the connection, and takes that for what it calls a connection itself: so it matches the message as if it were from another
// peer (rxm_fake_rx_hdr in prov/rxm/src/rxm_cq.c). The sender is known if no other peer calls its connection so.
func (e *Endpoint) senderOf(b *rxmRxBuf) transport.Peer {
	conns := e.connsCalled(b.Packet.ConnID)
	if len(conns) != 1 {
		return transport.Peer{}
	}
	return e.peerOfConn(conns[0])
}
