package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// readConns reads the connections of the endpoint. Each knows the endpoint.
func (x *rxm) readConns() error {
	x.conns = map[uint64][]inferior.Ptr[rxmConn]{}
	places := inferior.Places(&x.EP, x.at)
	switch {
	case places.Conns != 0:
		return x.readIndexed(places)
	case x.ep.Map != 0 && x.Map.Bound():
		return x.readMapped()
	}
	return errors.New("the endpoint keeps no connections")
}

// readIndexed reads those from 1.14 on, which stand by numbers of their own.
func (x *rxm) readIndexed(places rxmEP) error {
	return eachIndexed(x.r, places.Conns.Addr(), places.ConnCounts.Addr(), func(at inferior.Addr) error {
		c, err := x.Conn.Read(x.r, inferior.Ptr[rxmConn](at))
		switch {
		case err != nil:
			return err
		case c.EP != x.at:
			return fmt.Errorf("the connection at %s is another endpoint's", at)
		}
		called := uint64(uint32(c.RemoteIndex))
		x.conns[called] = append(x.conns[called], inferior.Ptr[rxmConn](at))
		return nil
	})
}

// peerOfConn is the peer that a connection leads to.
func (x *rxm) peerOfConn(at inferior.Ptr[rxmConn]) transport.Peer {
	if at == 0 {
		return transport.Peer{}
	}
	c, err := x.Conn.Read(x.r, at)
	switch {
	case err != nil:
		return transport.Peer{}
	case x.ep.Map != 0 && c.Map == x.ep.Map:
		return transport.Peer{Value: c.Addr, Known: c.Addr < maxMapped} // else it has none
	case c.EP != x.at:
		return transport.Peer{}
	}
	p, err := x.PeerAddr.Read(x.r, c.Peer)
	if err != nil {
		return transport.Peer{}
	}
	return peerOf(p.Addr)
}
