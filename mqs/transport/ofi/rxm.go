package ofi

import (
	"errors"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// rxm is an endpoint of the provider ofi_rxm (rxm_ep, prov/rxm/src/rxm.h).
type rxm struct {
	*Endpoint
	rxmTypes
	at     inferior.Ptr[rxmEP]
	ep     rxmEP
	domain rxmDomain
	pools  pools
	conns  map[uint64][]inferior.Ptr[rxmConn] // by what the peers call them
	queue
}

// queue is where tagged messages of an endpoint of rxm's match: the endpoint's own, or one of the kind that providers
// share.
type queue interface {
	readPosted() error
	readUnexpected() error
	message(at inferior.Addr) (transport.Message, error)
}

func openRXM(e *Endpoint, l *layout.Layouts) (provider, error) {
	x, err := openRXMWithout(e, l)
	if err != nil {
		return nil, err
	}
	x.queue, err = x.openQueue(l)
	return x, err
}

// openRXMWithout opens the endpoint without its queue.
func openRXMWithout(e *Endpoint, l *layout.Layouts) (*rxm, error) {
	x := &rxm{Endpoint: e, at: inferior.Ptr[rxmEP](e.at)}
	x.pools.r = e.r
	err := errors.Join(inferior.Bind(&x.rxmTypes, l), inferior.Bind(&x.pools.poolTypes, l))
	if err != nil {
		return nil, err
	}
	if err := e.r.Prefetch([]inferior.Range{inferior.RangeOf(&x.EP, x.at, 1)}); err != nil {
		return nil, err
	}
	if x.ep, err = x.EP.Read(e.r, x.at); err != nil {
		return nil, err
	}
	x.domain, err = x.Domain.Read(e.r, x.ep.Domain)
	return x, err
}

func (x *rxm) openQueue(l *layout.Layouts) (queue, error) {
	places := inferior.Places(&x.EP, x.at)
	if places.Tagged != 0 && x.Queue.Bound() && x.Entry.Bound() {
		return x.openOwn(places.Tagged.Ptr())
	}
	if x.ep.Shared == 0 {
		return nil, errors.New("the endpoint has no queue of tagged messages")
	}
	return openShared(x.Endpoint, l, x.ep.Shared, x)
}

// readPosted reads the receives, and the connections, which say what the others are of.
func (x *rxm) readPosted() error {
	return errors.Join(x.queue.readPosted(), x.readConns())
}

// claimed: a context that has claimed a message begins with where it is.
func (x *rxm) claimed(context inferior.Addr) (transport.Message, error) {
	held, err := x.r.Pointers(context, 1)
	if err != nil {
		return transport.Message{}, err
	}
	return x.message(held[0])
}

// same: an address is given once.
func (x *rxm) same(p transport.Peer) transport.Peer { return p }

// fill fills in what the buffer says of a message that has come.
func (x *rxm) fill(m *transport.Message, b *rxmRxBuf) {
	m.Length = length(b.Packet.Size)
	if !m.Peer.Known {
		m.Peer = x.peerOfConn(b.Conn)
	}
	if b.Packet.Type == ctrlRendezvous {
		m.Rendezvous, m.Sender = true, messageID(b.Packet.MessageID)
	} else {
		m.Data = b.Data
	}
}

// messageID is the number of a message, which rxm counts from 0.
func messageID(id uint64) uint64 { return id + 1 }
