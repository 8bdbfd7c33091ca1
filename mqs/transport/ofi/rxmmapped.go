package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// maxMapped bounds the connections that are kept by the addresses of their peers.
const maxMapped = indexChunks * indicesInChunk

// readMapped reads those up to 1.13, which stand by the addresses of their peers.
func (x *rxm) readMapped() error {
	m, err := x.Map.Read(x.r, x.ep.Map)
	switch {
	case err != nil:
		return err
	case m.EP != x.at || m.Count > maxMapped:
		return fmt.Errorf("the connections at %s are another endpoint's, or %d", x.ep.Map, m.Count)
	}
	all, err := inferior.ReadPointers(x.r, m.Conns, int(m.Count))
	if err != nil {
		return err
	}
	for i, at := range all {
		if at == 0 {
			continue
		}
		c, err := x.Conn.Read(x.r, at)
		switch {
		case err != nil:
			return err
		case c.Map != x.ep.Map || c.Addr != uint64(i):
			return fmt.Errorf("the connection at %s is not that to the peer %d", at, i)
		}
		x.conns[c.RemoteKey] = append(x.conns[c.RemoteKey], at)
	}
	return nil
}

// connsCalled are the connections that a peer calls so in a packet.
func (x *rxm) connsCalled(id uint64) []inferior.Ptr[rxmConn] {
	if x.ep.Map == 0 {
		id = uint64(uint32(id))
	}
	return x.conns[id]
}

// senderOf is who has sent a message without a header of rxm's. Up to 1.13 rxm makes one up with what the peer calls
// the connection, and takes that for what it calls a connection itself: so it matches the message as if it were from another
// peer (rxm_fake_rx_hdr in prov/rxm/src/rxm_cq.c). The sender is known if no other peer calls its connection so.
func (x *rxm) senderOf(b *rxmRxBuf) transport.Peer {
	conns := x.connsCalled(b.Packet.ConnID)
	if len(conns) != 1 {
		return transport.Peer{}
	}
	return x.peerOfConn(conns[0])
}
