package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What a packet is in front of (prov/opx/include/rdma/opx/fi_opx_hfi1_packet.h): of the first of several packets, and of a
// message whose data is with its sender, to 2.3 and from 2.4 on.
const (
	opxHasData  = 0x01
	opxTagged   = 0x02
	opxShort    = 0xf0
	opxEager    = 0xf4
	opxFirstOld = 0xf8
	opxReadyOld = 0xfc
	opxFirst    = 0xec
	opxReady    = 0xf8
	opxReadyToo = 0xfc
)

// How lengths stand in a packet.
const (
	opxWord        = 8 // bytes, in which that of an eager message is counted
	opxContextBits = 3 // below a number
)

// readUnexpected reads the list of messages, and the one of those for which it has had no room.
func (o *opx) readUnexpected() error {
	_, _ = o.pools.used(o.receives.Kept, o.Packet.Size()) // only so as to have them at once
	err := o.walk(o.receives.Queues.Ptr())
	if err == nil && o.receives.Hashed != 0 {
		err = o.walk(inferior.Places(&o.Hashed, o.receives.Hashed).All.Ptr())
	}
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

func (o *opx) walk(at inferior.Ptr[opxMessages]) error {
	list, err := o.Messages.Read(o.r, at)
	if err != nil {
		return err
	}
	var before inferior.Ptr[opxPacket]
	count := uint64(0)
	next := func(at inferior.Ptr[opxPacket]) (inferior.Ptr[opxPacket], error) {
		p, err := o.Packet.Read(o.r, at)
		switch {
		case err != nil:
			return 0, err
		case p.Prev != before:
			return 0, fmt.Errorf("the message at %s does not follow the one before", at)
		}
		m, err := o.packet(at, &p)
		if err != nil {
			return 0, err
		}
		before = at
		count++
		o.known[at.Addr()] = true
		o.queues.Unexpected = append(o.queues.Unexpected, m)
		return p.Next, nil
	}
	for _, err := range inferior.Walk(list.First, 0, maxQueued, next) {
		if err != nil {
			return err
		}
	}
	if list.Last != before || list.Count != count {
		return fmt.Errorf("the list at %s has %d messages and ends at %s, and says %d and %s", at, count, before, list.Count, list.Last)
	}
	return nil
}

// packet is the message that a packet begins.
func (o *opx) packet(at inferior.Ptr[opxPacket], p *opxPacket) (transport.Message, error) {
	if p.Op&opxTagged == 0 || p.Tag != p.SentTag {
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, p.SentTag, p.Tag)
	}
	m := transport.Message{Addr: at.Addr(), Tag: p.Tag, Peer: opxPeer(p.Node, p.Context), Length: -1,
		Beside: mqs.Maybe[uint64]{Value: uint64(p.Data), Known: p.Op&opxHasData != 0}}
	switch op := p.Op &^ (opxTagged | opxHasData); {
	case op == opxShort:
		m.Length = int64(p.Short | p.ShortAbove>>opxContextBits)
	case op == opxEager:
		m.Length = int64(p.Words)*opxWord + int64(p.Tail|p.TailAbove>>opxContextBits)
	case p.Ready == 0 && op == opxFirstOld || p.Ready != 0 && op == opxFirst:
	case p.Ready == 0 && op == opxReadyOld || p.Ready != 0 && (op == opxReady || op == opxReadyToo):
		m.Length, m.Rendezvous = length(p.Long), true
	default:
		return m, fmt.Errorf("the message at %s begins with a packet of kind %#x", at, p.Op)
	}
	return m, nil
}

// message reads a message of the lists.
func (o *opx) message(at inferior.Addr) (transport.Message, error) {
	if !o.known[at] {
		return transport.Message{}, fmt.Errorf("there is no message at %s: %w", at, transport.ErrNoMessage)
	}
	p, err := o.Packet.Read(o.r, inferior.Ptr[opxPacket](at))
	if err != nil {
		return transport.Message{}, err
	}
	return o.packet(inferior.Ptr[opxPacket](at), &p)
}

// claimed: what a context has claimed is kept in an object that nothing leads to.
func (o *opx) claimed(context inferior.Addr) (transport.Message, error) {
	return transport.Message{}, fmt.Errorf("the provider %s does not tell what the context at %s has claimed", opxName, context)
}
