package ofi

import (
	"errors"
	"fmt"
	"math"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// AnyPeer is an address that stands for no peer in particular: FI_ADDR_UNSPEC (rdma/fabric.h).
const AnyPeer = ^uint64(0)

// maxQueued bounds a queue.
const maxQueued = 1 << 26

// Endpoint is a rxm_ep: messages match within one. It is a [transport.Matcher].
type Endpoint struct {
	o      *OFI
	at     inferior.Ptr[rxmEP]
	ep     rxmEP
	domain rxmDomain
	queues transport.Queues
	// inQueue is where its messages match.
	inQueue queue
	conns   map[uint64][]inferior.Ptr[rxmConn] // by what the peers call them
}

// Addr is the endpoint's.
func (e *Endpoint) Addr() inferior.Addr { return e.at.Addr() }

// Queues are the endpoint's. Receives that have matched are known to nobody but the MPI.
func (e *Endpoint) Queues() *transport.Queues { return &e.queues }

// openEndpoint reads all that an endpoint has. What is read proves the layouts: the provider has a name, the
// queue knows its endpoint and what it is for, its lists agree in both directions, and each receive knows the
// queue.
func (o *OFI) openEndpoint(at inferior.Ptr[rxmEP]) (*Endpoint, error) {
	e := &Endpoint{o: o, at: at, queues: transport.Queues{Uncounted: true}}
	err := o.r.Prefetch([]inferior.Range{{Addr: at.Addr(), Len: o.Endpoint.Size()}})
	if err != nil {
		return nil, err
	}
	if e.ep, err = o.Endpoint.Read(o.r, at); err != nil {
		return nil, err
	}
	if e.domain, err = o.proveProvider(e.ep.Domain); err != nil {
		return nil, err
	}
	if e.inQueue, err = e.openQueue(); err != nil {
		return nil, err
	}
	for _, part := range []func() error{e.inQueue.readPosted, e.readConns, e.readSends} {
		if err := part(); err != nil {
			return nil, fmt.Errorf("the endpoint at %s: %w", at, err)
		}
	}
	// By now the layout has proved itself: a process can be stopped while it changes the ring.
	e.queues.UnexpectedErr = e.inQueue.readUnexpected()
	return e, nil
}

// openQueue finds the queue of tagged messages: the endpoint's own, or one of the kind that providers share.
func (e *Endpoint) openQueue() (queue, error) {
	places := e.o.Endpoint.Places(e.at)
	if places.Tagged != 0 && e.o.Queue.Bound() && e.o.Entry.Bound() {
		return e.openOwn(places.Tagged.Ptr())
	}
	return e.openShared()
}

// queue is where tagged messages of an endpoint match.
type queue interface {
	// readPosted and readUnexpected read the endpoint's receives, and its messages.
	readPosted() error
	readUnexpected() error
	// message reads a message of which something is at an address.
	message(at inferior.Addr) (transport.Message, error)
}

// ring walks a ring and hands each of its elements to read, which returns the element's links.
func ring(head link, at inferior.Ptr[link], read func(inferior.Ptr[link]) (link, error)) error {
	before := at
	next := func(l inferior.Ptr[link]) (inferior.Ptr[link], error) {
		links, err := read(l)
		switch {
		case err != nil:
			return 0, err
		case links.Prev != before:
			return 0, fmt.Errorf("the element at %s does not follow the one before", l)
		case links.Next == 0:
			return 0, fmt.Errorf("the element at %s has none behind it", l)
		}
		before = l
		return links.Next, nil
	}
	if head.Next == 0 {
		return fmt.Errorf("the ring at %s has not been made", at)
	}
	for _, err := range inferior.Walk(head.Next, at, maxQueued, next) {
		if err != nil {
			return err
		}
	}
	if head.Prev != before {
		return errors.New("it does not end where it says")
	}
	return nil
}

// peerOf is the peer that an address stands for.
func peerOf(addr uint64) transport.Peer {
	return transport.Peer{Value: addr, Known: addr != AnyPeer}
}

// length is a number of bytes, -1 for one that can't be.
func length(v uint64) int64 {
	if v > math.MaxInt64 {
		return -1
	}
	return int64(v)
}

// MessageAt reads the message at a, which may have been taken out of the queue ([transport.Matcher]).
func (e *Endpoint) MessageAt(a inferior.Addr) (transport.Message, error) { return e.inQueue.message(a) }

// fill fills in what the buffer says of a message that has come.
func (e *Endpoint) fill(m *transport.Message, b *rxmRxBuf) {
	m.Length = length(b.Packet.Size)
	if !m.Peer.Known {
		m.Peer = e.peerOfConn(b.Conn)
	}
	if b.Packet.Type == ctrlRendezvous {
		m.Rendezvous, m.Sender = true, messageID(b.Packet.MessageID)
	} else {
		m.Data = b.Data
	}
}

// messageID is the number of a message, which rxm counts from 0.
func messageID(id uint64) uint64 { return id + 1 }

// SendAt knows of no sends that nothing leads to ([transport.Matcher]).
func (e *Endpoint) SendAt(inferior.Addr) (s transport.Send, proved, ok bool) {
	return transport.Send{}, false, false
}

// ReceiveAt knows of no receives outside of the queues ([transport.Matcher]).
func (e *Endpoint) ReceiveAt(inferior.Addr) (transport.Receive, bool) {
	return transport.Receive{}, false
}
