package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// readConns reads the connections of the endpoint. Each knows the endpoint.
func (x *rxm) readConns() error {
	places := x.EP.Places(x.at)
	x.conns = map[int32][]inferior.Ptr[rxmConn]{}
	return eachIndexed(x.r, places.Conns.Addr(), places.ConnCounts.Addr(), func(at inferior.Addr) error {
		c, err := x.Conn.Read(x.r, inferior.Ptr[rxmConn](at))
		switch {
		case err != nil:
			return err
		case c.EP != x.at:
			return fmt.Errorf("the connection at %s is another endpoint's", at)
		}
		x.conns[c.RemoteIndex] = append(x.conns[c.RemoteIndex], inferior.Ptr[rxmConn](at))
		return nil
	})
}

// peerOfConn is the peer that a connection leads to.
func (x *rxm) peerOfConn(at inferior.Ptr[rxmConn]) transport.Peer {
	if at == 0 {
		return transport.Peer{}
	}
	c, err := x.Conn.Read(x.r, at)
	if err != nil || c.EP != x.at {
		return transport.Peer{}
	}
	p, err := x.PeerAddr.Read(x.r, c.Peer)
	if err != nil {
		return transport.Peer{}
	}
	return peerOf(p.Addr)
}
