package ofi

import (
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
	o, places := e.o, e.o.Endpoint.Places(e.at)
	e.conns = map[int32][]inferior.Ptr[rxmConn]{}
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
			e.conns[c.RemoteIndex] = append(e.conns[c.RemoteIndex], at)
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
	if err != nil || c.EP != e.at {
		return transport.Peer{}
	}
	p, err := e.o.PeerAddr.Read(e.o.r, c.Peer)
	if err != nil {
		return transport.Peer{}
	}
	return peerOf(p.Addr)
}
