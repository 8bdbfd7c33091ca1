package ch4

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// beneath is what is in the network library of the device's requests and messages: its requests and MPICH's
// lead to each other. The zero value is that of a device of which nothing can be read there.
type beneath struct {
	network *Network
	objects objects
	// err is why a network library that there is a netmod for can't be read.
	err error

	// sends and receives are by MPICH's own request.
	sends    map[inferior.Ptr[mpir.Request]]*transport.Send
	receives map[inferior.Ptr[mpir.Request]]*transport.Receive
	// messages are the unexpected ones by the context id that their communicator receives with.
	messages map[uint32][]*transport.Message
	// ranks are those of the peers of communicators.
	ranks map[*mpir.Communicator]map[transport.Peer]int32
}

func newBeneath(n *Network, own objects) beneath {
	return beneath{network: n, objects: own,
		sends: map[inferior.Ptr[mpir.Request]]*transport.Send{}, receives: map[inferior.Ptr[mpir.Request]]*transport.Receive{},
		messages: map[uint32][]*transport.Message{}, ranks: map[*mpir.Communicator]map[transport.Peer]int32{}}
}

// Open opens the network library, if there is a netmod for it.
func (d *Device) Open() {
	for _, m := range netmods {
		own, err := m.bind(d.lib)
		if err != nil {
			continue // it has another netmod
		}
		n, err := openNetwork(d.lib.Reader, m)
		if err != nil {
			d.beneath.err = err
			d.lib.Remarks.Set(mpir.UnreadableNetwork, fmt.Sprintf("this MPICH leaves its messages to %s, which can't be read: %v", m.name(), err))
			return
		}
		if n.IsOffloaded {
			d.lib.Remarks.Set(mpir.Offload, transport.OffloadNote)
		}
		d.beneath = newBeneath(n, own)
		return
	}
}

// Join finds MPICH's requests of what is in the network library, and their communicators.
func (d *Device) Join(requests map[inferior.Ptr[mpir.Request]]*mpir.Operation, comms []*mpir.Communicator) (posted []*mpir.Operation, freed []*mpir.Communicator) {
	b := &d.beneath
	if b.network == nil {
		return nil, nil
	}
	receiving := newReceiving(comms)
	for i := range b.network.Receives {
		q := &b.network.Receives[i]
		r := requests[b.network.Receiver(q)]
		if r == nil || r.Kind != mpir.KindRecv || r.IsComplete() {
			continue // released: a program that has freed it will not hear of it
		}
		b.receives[r.At] = q
		r.Comm = receiving.with(d.contextOf(q.Tag)).At
		if q.State == transport.Posted {
			posted = append(posted, r)
		}
	}
	for i := range b.network.Unexpected {
		m := &b.network.Unexpected[i]
		c := receiving.with(d.contextOf(m.Tag))
		b.messages[c.RecvContext] = append(b.messages[c.RecvContext], m)
	}
	for i := range b.network.Sends {
		q := &b.network.Sends[i]
		r := requests[b.network.Sender(q)]
		if r == nil || r.Kind != mpir.KindSend || r.IsComplete() {
			continue
		}
		b.sends[r.At] = q
		if c := d.sendingTo(q, comms, receiving); c != nil {
			r.Comm = c.At
		}
	}
	for _, r := range requests {
		if r.Comm != 0 || !r.IsTaken() {
			continue
		}
		if m, ok := d.takenBeneath(r.At); ok {
			r.Comm = receiving.with(d.contextOf(m.Tag)).At
		}
	}
	return posted, receiving.gone()
}

// contextOf is the context id in a tag.
func (d *Device) contextOf(tag uint64) uint32 {
	return uint32(d.beneath.network.Tags.Envelope(tag).Context)
}

// receiving are the communicators by the context id that they receive with, which no other does. A
// program may have freed some.
type receiving struct{ there, freed map[uint32]*mpir.Communicator }

func newReceiving(comms []*mpir.Communicator) receiving {
	out := receiving{map[uint32]*mpir.Communicator{}, map[uint32]*mpir.Communicator{}}
	for _, c := range comms {
		out.there[c.RecvContext] = c
	}
	return out
}

// with is the communicator that receives with a context id.
func (r receiving) with(context uint32) *mpir.Communicator {
	context &^= mpir.ContextCollective
	if c := r.there[context]; c != nil {
		return c
	}
	if r.freed[context] == nil {
		r.freed[context] = mpir.Freed(context, context&mpir.ContextOwn != 0)
	}
	return r.freed[context]
}

// gone are those that the program has freed, in the order of their context ids.
func (r receiving) gone() []*mpir.Communicator {
	var out []*mpir.Communicator
	for _, context := range slices.Sorted(maps.Keys(r.freed)) {
		out = append(out, r.freed[context])
	}
	return out
}

// sendingTo is the communicator that a send is on. The receiver's context id may also be
// that of another communicator here, which then lacks its peer or has another rank.
func (d *Device) sendingTo(q *transport.Send, comms []*mpir.Communicator, receiving receiving) *mpir.Communicator {
	if q.TagLost {
		return nil
	}
	e := d.beneath.network.Tags.Envelope(q.Tag)
	context, isTaken := uint32(e.Context), false
	for _, c := range comms {
		if context-c.Context > mpir.ContextCollective {
			continue
		}
		isTaken = true
		if _, ok := d.ranksOf(c)[q.Peer]; ok && e.Source == mqs.Known(c.Rank) {
			return c
		}
	}
	if isTaken || q.ID == 0 && receiving.freed[context&^mpir.ContextCollective] == nil {
		return nil // an answer may have been written over its tag
	}
	return receiving.with(context)
}

// ranksOf maps the peers of a communicator, as the network library calls them, to their ranks.
func (d *Device) ranksOf(c *mpir.Communicator) map[transport.Peer]int32 {
	if out, ok := d.beneath.ranks[c]; ok {
		return out
	}
	out := map[transport.Peer]int32{}
	d.beneath.ranks[c] = out
	size := c.RemoteSize
	if c.Kind != mpir.CommInter {
		size = c.LocalSize
	}
	m, err := d.rankMap(c.At, false, size)
	if err != nil {
		return out
	}
	// What can't be read of the map is left out, as a peer is.
	_ = d.eachPlace(m, int(size), func(rank int, table int32, place int64) {
		for _, p := range d.beneath.objects.peers(table, place) {
			out[p] = int32(rank)
		}
	})
	return out
}

// sendBeneath returns what a send asks for that is in the network library.
func (d *Device) sendBeneath(q *transport.Send, c *mpir.Communicator) mpir.Arguments {
	e := d.beneath.network.Tags.Envelope(q.Tag)
	a := mpir.Arguments{Bytes: transport.LengthOf(q.Length), Context: mqs.Known(uint32(e.Context) - c.Context)}
	if !q.TagLost {
		a.Tag = mqs.Known(e.Tag)
	}
	if rank, ok := d.ranksOf(c)[q.Peer]; ok {
		a.Peer = mqs.Known(rank)
	}
	if q.Buffer != 0 {
		a.Buffer = mqs.Known(q.Buffer)
	}
	if p, ok := d.beneath.network.Elements(&q.Request); ok {
		a = a.WithBuffer(p.Buffer, p.Count, p.Datatype)
	}
	switch {
	case q.Sync:
		a.Kind = "issend"
	case d.lib.HasAttachedBuffer(): // else it may be a buffered one
		a.Kind = "isend"
	}
	return a
}

// receiveBeneath returns what a receive asks for that is in the network library.
func (d *Device) receiveBeneath(q *transport.Receive, c *mpir.Communicator) mpir.Arguments {
	tags := d.beneath.network.Tags
	e := tags.Envelope(q.Tag)
	a := mpir.Arguments{Kind: "irecv", Peer: e.Source, Tag: mqs.Known(e.Tag), Context: mqs.Known(uint32(e.Context) - c.RecvContext)}
	if tags.IsAnySource(q) {
		a.Peer = mqs.Known(d.lib.Negatives().AnySource)
	}
	if tags.IsAnyTag(q) {
		a.Tag = mqs.Known(d.lib.Negatives().AnyTag)
	}
	if p, ok := d.beneath.network.Elements(&q.Request); ok {
		a = a.WithBuffer(p.Buffer, p.Count, p.Datatype)
	}
	if q.Length >= 0 {
		a.Bytes, a.Buffer = mqs.Known(q.Length), mqs.Known(q.Buffer)
	}
	return a
}

// matchedBeneath returns the message that a receive has matched in the network library.
func (d *Device) matchedBeneath(q *transport.Receive) (mpir.Message, bool) {
	m := d.message(q.SenderTag)
	if !q.Offloaded {
		m.Bytes = transport.LengthOf(q.Received)
	}
	return m, q.State == transport.Matched
}

// message is one with the envelope that is in a tag.
func (d *Device) message(tag uint64) mpir.Message {
	e := d.beneath.network.Tags.Envelope(tag)
	return mpir.Message{Source: e.Source, Tag: e.Tag, Context: uint32(e.Context)}
}

// takenBeneath is the message that MPI_Mprobe has taken out of the network library by a request.
func (d *Device) takenBeneath(request inferior.Ptr[mpir.Request]) (transport.Message, bool) {
	if d.beneath.network == nil {
		return transport.Message{}, false
	}
	at := d.beneath.objects.taken(request)
	if at == 0 {
		return transport.Message{}, false
	}
	m, err := d.beneath.network.messageAt(at)
	return m, err == nil
}

// Messages returns the messages on a communicator that no receive has matched in the network library.
func (d *Device) Messages(c *mpir.Communicator) ([]mqs.PendingOperation, error) {
	n := d.beneath.network
	if n == nil {
		return nil, nil
	}
	var out []mqs.PendingOperation
	for _, m := range d.beneath.messages[c.RecvContext] {
		out = append(out, n.Tags.Message(c.Model, m, false))
	}
	return out, n.UnexpectedErr
}
