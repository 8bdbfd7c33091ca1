package ofi

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// efa is an endpoint of the provider efa (efa_rdm_ep, prov/efa/src/rdm/efa_rdm_ep.h), whose queues are of the kind that
// providers share. What peers of the same machine send comes through an endpoint of shm or sm2 beneath it, into the same
// queues.
type efa struct {
	*sharedQueue
	efaTypes
	at inferior.Ptr[efaEP]
	ep efaEP
	// below is what the peers of the same machine send through, and belowErr why that is not known.
	below    beneath
	belowErr error
}

func openEFA(e *Endpoint, l *layout.Layouts) (provider, error) {
	x := &efa{at: inferior.Ptr[efaEP](e.at)}
	err := inferior.Bind(&x.efaTypes, l)
	if err != nil {
		return nil, err
	}
	if x.ep, err = x.EP.Read(e.r, x.at); err != nil {
		return nil, err
	}
	if err := provePool(e.r, l, x.ep.Pool, x.Operation.Size()); err != nil {
		return nil, err
	}
	if x.sharedQueue, err = openShared(e, l, x.ep.Shared, x); err != nil {
		return nil, err
	}
	if x.ep.Below != 0 {
		x.below, x.belowErr = e.openBeneath(l, x.ep.Below)
	}
	return x, nil
}

// isBelows says whether the endpoint beneath has taken a message: that gets at the queue by another way.
func (x *efa) isBelows(e *peerEntry) bool {
	return e.Taker.Addr() != x.sharedQueue.at.Addr()
}

func (x *efa) kept(e *peerEntry) inferior.Range {
	switch {
	case x.isBelows(e) && x.below != nil:
		return x.below.kept(e)
	case x.isBelows(e):
		return inferior.Range{}
	}
	out := inferior.RangeOf(&x.Packet, inferior.Ptr[efaPacket](e.Message), 1)
	out.Len++ // what a packet is stands behind
	return out
}

// describe: a packet leads to the operation that is kept of its message, and that back to the entry.
func (x *efa) describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error) {
	switch {
	case x.isBelows(e) && x.below != nil:
		return x.below.describe(at, e)
	case x.isBelows(e):
		return transport.Message{}, cmp.Or(x.belowErr, errNotBeneath)
	}
	p, err := x.Packet.Read(x.r, inferior.Ptr[efaPacket](e.Message))
	if err != nil {
		return transport.Message{}, err
	}
	o, err := x.Operation.Read(x.r, p.Operation)
	switch {
	case err != nil:
		return transport.Message{}, err
	case p.EP != x.at || o.EP != x.at || o.Entry != at || o.Type != efaReceives:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case o.Tag != e.Tag || o.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, o.Tag, e.Tag)
	}
	kind, err := x.r.Uint(p.Data.Addr(), 1)
	if err != nil {
		return transport.Message{}, err
	}
	m := transport.Message{Tag: e.Tag, Peer: peerOf(e.Peer), Length: length(o.Length), Beside: e.beside()}
	switch kind {
	case efaEager, efaMedium:
	case efaLongCTS, efaLongRead, efaRuntCTS, efaRuntRead, efaToldEager, efaToldMedium, efaToldLong:
		m.Rendezvous = true
	default:
		return transport.Message{}, fmt.Errorf("the message at %s has come in a packet of kind %d", at, kind)
	}
	return m, nil
}

// readSends reads the operations that send, and what the endpoint beneath sends.
func (x *efa) readSends() error {
	err := ring(x.ep.Sends, x.ep.SendsAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&x.Operation, l, func(o *efaOperation) *inferior.Embedded[link] { return &o.InRing })
		o, err := x.Operation.Read(x.r, at)
		switch {
		case err != nil:
			return link{}, err
		case o.EP != x.at || o.Type != efaSends:
			return link{}, fmt.Errorf("the operation at %s is another endpoint's, or sends nothing", at)
		}
		if o.Op == opTagged && o.Context != 0 {
			out := transport.Send{Tag: o.Tag, TagKept: true, Peer: x.peer(&o)}
			out.Addr, out.UserData, out.Length = at.Addr(), o.Context, length(o.Length)
			if o.State == efaSending {
				out.State = transport.Matched
			}
			x.queues.Sends = append(x.queues.Sends, out)
		}
		return o.Links, nil
	})
	x.queues.SendsErr = x.belowErr
	if err == nil && x.below != nil {
		var more []transport.Send
		more, err = x.below.sending()
		x.queues.Sends = append(x.queues.Sends, more...)
		if errors.Is(err, errNoCommand) {
			x.queues.SendsErr, err = err, nil
		}
	}
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	return nil
}

// peer is where an operation sends to: from 2.3 on, its peer knows.
func (x *efa) peer(o *efaOperation) transport.Peer {
	if o.AddrAt != 0 {
		return peerOf(o.Addr)
	}
	p, err := x.Peer.Read(x.r, o.Peer)
	if err != nil || p.EP != x.at || !x.Conn.Bound() {
		return transport.Peer{}
	}
	c, err := x.Conn.Read(x.r, p.Conn)
	if err != nil {
		return transport.Peer{}
	}
	return peerOf(c.Addr)
}
