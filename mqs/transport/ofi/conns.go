package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// An index_map has a chunk of connections for each kibi of indices (include/ofi_indexer.h, 1.17).
const (
	connChunks   = 1 << 10
	connsInChunk = 1 << 10
)

// readConns reads the connections of the endpoint. Each knows the endpoint.
func (e *Endpoint) readConns() error {
	e.conns = map[uint64][]inferior.Ptr[rxmConn]{}
	places := e.o.Endpoint.Places(e.at)
	switch {
	case places.Conns != 0:
		return e.readIndexed(places)
	case e.ep.Map != 0 && e.o.Map.Bound():
		return e.readMapped()
	}
	return errors.New("the endpoint keeps no connections")
}

// readIndexed reads those from 1.14 on, which stand by numbers of their own.
func (e *Endpoint) readIndexed(places rxmEP) error {
	o := e.o
	chunks, err := inferior.ReadPointers(o.r, inferior.Ptr[inferior.Ptr[inferior.Ptr[rxmConn]]](places.Conns.Addr()), connChunks)
	if err != nil {
		return err
	}
	for i, chunk := range chunks {
		const width = 4
		count, err := o.r.Int(places.ConnCounts.Addr()+inferior.Addr(i*width), width)
		if err != nil {
			return err
		}
		if count < 0 || count > connsInChunk || count > 0 && chunk == 0 {
			return fmt.Errorf("chunk %d at %s has %d connections", i, chunk, count)
		}
		if count == 0 {
			continue
		}
		all, err := inferior.ReadPointers(o.r, chunk, connsInChunk)
		if err != nil {
			return err
		}
		for _, at := range all {
			if at == 0 {
				continue
			}
			c, err := o.Conn.Read(o.r, at)
			switch {
			case err != nil:
				return err
			case c.EP != e.at:
				return fmt.Errorf("the connection at %s is another endpoint's", at)
			}
			called := uint64(uint32(c.RemoteIndex))
			e.conns[called] = append(e.conns[called], at)
		}
	}
	return nil
}

// peerOfConn is the peer that a connection leads to.
func (e *Endpoint) peerOfConn(at inferior.Ptr[rxmConn]) transport.Peer {
	if at == 0 {
		return transport.Peer{}
	}
	c, err := e.o.Conn.Read(e.o.r, at)
	if err == nil && e.ep.Map != 0 && c.Map == e.ep.Map {
		return transport.Peer{Value: c.Addr, Known: c.Addr < maxMapped} // else it has none
	}
	if err != nil || c.EP != e.at {
		return transport.Peer{}
	}
	p, err := e.o.PeerAddr.Read(e.o.r, c.Peer)
	if err != nil {
		return transport.Peer{}
	}
	return peerOf(p.Addr)
}
