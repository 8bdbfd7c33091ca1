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
	// mayRefuse is true of a network library that may refuse a send, as [mpir.Device] has it.
	mayRefuse bool
	// err is why a network library that there is a module for can't be read.
	err *NetworkError

	// sends and receives are by MPICH's own request.
	sends    map[inferior.Ptr[mpir.Request]]*transport.Send
	receives map[inferior.Ptr[mpir.Request]]*transport.Receive
	// messages are the unexpected ones by the context id that their communicator receives with.
	messages map[uint32][]*transport.Message
	// ranks are those of the peers of communicators, and models the communicators by what is shown of them.
	ranks  map[*mpir.Communicator]map[transport.Peer]int32
	models map[*mqs.Communicator]*mpir.Communicator
}

func newBeneath(n *Network, own objects) beneath {
	return beneath{network: n, objects: own,
		sends: map[inferior.Ptr[mpir.Request]]*transport.Send{}, receives: map[inferior.Ptr[mpir.Request]]*transport.Receive{},
		messages: map[uint32][]*transport.Message{}, ranks: map[*mpir.Communicator]map[transport.Peer]int32{}, models: map[*mqs.Communicator]*mpir.Communicator{}}
}

// Open opens the network library, if there is a module for it. Of several modules, a process uses the one whose network
// library it has opened.
func (d *Device) Open() {
	for _, m := range modules {
		netmod, own, err := m.bind(d.lib)
		if err != nil {
			continue // the library lacks it
		}
		n, err := openNetwork(d.lib.Reader, netmod)
		if err == nil {
			d.lib.Remarks.Set(mpir.Offload, n.Offload)
			d.beneath = newBeneath(n, own)
			d.beneath.mayRefuse = netmod.mayRefuse()
			n.Tags.RankOf = d.rankIn
			return
		}
		if d.beneath.err == nil { // if several can't be read, the first is reported
			d.beneath = beneath{err: &NetworkError{Library: netmod.name(), Err: err}, mayRefuse: netmod.mayRefuse()}
		}
	}
	if failed := d.beneath.err; failed != nil && !d.hasSharedMemory() {
		d.lib.Remarks.Set(mpir.UnreadableNetwork, fmt.Sprintf("this MPICH leaves its messages to %s, which can't be read: %v", failed.Library, failed.Err))
	}
}

// MayRefuse says whether the network library may refuse a send. Shared memory never refuses one: a send that finds no free
// cell has a request and is queued (MPIDI_POSIX_deferred_am_isend_enqueue, 3.4 to 5.0).
func (d *Device) MayRefuse() bool { return d.beneath.mayRefuse && !d.staysInNode() }

// staysInNode says whether no message of the process leaves shared memory: all members of its communicators are in
// MPI_COMM_WORLD, which is on one node. MPICH routes messages by its map of nodes, in which MPIR_CVAR_NOLOCAL
// gives each rank a node of its own (src/util/mpir_pmi.c, 3.4 and 4.0; src/util/mpir_nodemap.c, 4.2 to 5.0).
func (d *Device) staysInNode() bool {
	isElsewhere := func(c *mpir.Communicator) bool { return len(c.Model.Peers()) == 0 || hasOutsiders(c) }
	return d.hasSharedMemory() && d.lib.Process.Nodes == 1 && len(d.comms) > 0 && !slices.ContainsFunc(d.comms, isElsewhere)
}

// hasOutsiders says whether a communicator has peers that are not in MPI_COMM_WORLD.
func hasOutsiders(c *mpir.Communicator) bool {
	return slices.ContainsFunc(c.Model.Peers(), func(rank mqs.Maybe[int32]) bool { return !rank.Known })
}

// rankIn is the rank of a peer in a communicator as it is shown.
func (d *Device) rankIn(c *mqs.Communicator, p transport.Peer) mqs.Maybe[int32] {
	own := d.beneath.models[c]
	if own == nil {
		return mqs.Maybe[int32]{}
	}
	return d.rankOf(own, p)
}

// rankOf is the rank of a peer, not known if the communicator is no more.
func (d *Device) rankOf(c *mpir.Communicator, p transport.Peer) mqs.Maybe[int32] {
	rank, ok := d.ranksOf(c)[p]
	return mqs.Maybe[int32]{Value: rank, Known: ok && p.Known}
}

// sourceOf is the rank that a tag of a message's or a receive's says that it is from, or else the peer.
func (d *Device) sourceOf(c *mpir.Communicator, tag uint64, p transport.Peer) mqs.Maybe[int32] {
	if source := d.beneath.network.Tags.Envelope(tag).Source; source.Known {
		return source
	}
	return d.rankOf(c, p)
}

// Join finds MPICH's requests of what is in the network library, and their communicators.
func (d *Device) Join(requests map[inferior.Ptr[mpir.Request]]*mpir.Operation, comms []*mpir.Communicator, listed []*mpir.Operation) (posted []*mpir.Operation, freed []*mpir.Communicator) {
	d.comms = comms
	d.joinCarriers(requests)
	b := &d.beneath
	if b.network == nil {
		return listed, nil
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
	posted = d.together(requests, listed, posted)
	d.addMatched(requests, comms, posted)
	posted = slices.DeleteFunc(posted, func(r *mpir.Operation) bool {
		return b.receives[r.At] != nil && b.receives[r.At].State != transport.Posted
	})
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
	freed = receiving.gone()
	for _, c := range slices.Concat(comms, freed) {
		b.models[c.Model] = c
	}
	return posted, freed
}

// together puts the receives of shared memory's lists and those of the network library in the order in which those
// that may match one message are looked at. A receive from any source stands in both, in shared memory's as the
// program's own request: what is before it in either is before it.
func (d *Device) together(requests map[inferior.Ptr[mpir.Request]]*mpir.Operation, listed, beneath []*mpir.Operation) []*mpir.Operation {
	place := map[*mpir.Operation]int{}
	for i, r := range listed {
		place[r] = i
	}
	var out []*mpir.Operation
	done := 0
	for _, r := range beneath {
		other := requests[d.partnerOf(r)]
		if other == nil {
			out = append(out, r)
			continue
		}
		if i, ok := place[other]; ok && i >= done {
			out, done = append(out, listed[done:i+1]...), i+1
		}
	}
	return append(out, listed[done:]...)
}

// addMatched adds the receives that the network library has forgotten since they have matched. Of one from any source,
// shared memory's half is the program's own.
func (d *Device) addMatched(requests map[inferior.Ptr[mpir.Request]]*mpir.Operation, comms []*mpir.Communicator, posted []*mpir.Operation) {
	b := &d.beneath
	isPosted := map[*mpir.Operation]bool{}
	for _, r := range posted {
		isPosted[r] = true
	}
	byAddr := map[inferior.Ptr[mpir.Comm]]*mpir.Communicator{}
	for _, c := range comms {
		byAddr[c.At] = c
	}
	for _, r := range requests {
		c := byAddr[r.Comm]
		if r.Kind != mpir.KindRecv || r.IsComplete() || isPosted[r] || b.receives[r.At] != nil || c == nil || c.IsSelf() {
			continue
		}
		q, ok := b.objects.matched(r.At)
		if !ok || d.contextOf(q.Tag)-c.RecvContext > mpir.ContextCollective {
			continue
		}
		b.receives[r.At] = &q
		if other := requests[d.partnerOf(r)]; other != nil {
			b.receives[other.At] = &q
		}
	}
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
	var may []*mpir.Communicator
	for _, c := range comms {
		if context-c.Context > mpir.ContextCollective {
			continue
		}
		isTaken = true
		may = append(may, c)
		if d.rankOf(c, q.Peer).Known && (e.Source == mqs.Known(c.Rank) || !e.Source.Known || q.SourceLost) {
			return c
		}
	}
	if !q.Peer.Known && len(may) == 1 {
		return may[0]
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
	add := func(rank int, table int32, place int64) {
		for _, p := range d.beneath.objects.peers(table, place) {
			out[p] = int32(rank)
		}
	}
	if d.lib.HasGroups() {
		numbers, err := d.lib.Processes(c, size)
		if err != nil {
			return out
		}
		for rank, number := range numbers {
			add(rank, int32(number>>32), int64(number&0xffff_ffff))
		}
		return out
	}
	m, err := d.rankMap(c.At, false, size)
	if err != nil {
		return out
	}
	// What can't be read of the map is left out, as a peer is.
	_ = d.eachPlace(m, int(size), add)
	return out
}

// dataBeneath fills in what is known of the data of a request.
func (d *Device) dataBeneath(a mpir.Arguments, q *transport.Request) mpir.Arguments {
	a.Bytes = transport.LengthOf(q.Length)
	if q.Buffer != 0 {
		a.Buffer = mqs.Known(q.Buffer)
	}
	p, ok := d.beneath.network.Elements(q)
	if !ok {
		return a
	}
	if p.Buffer.Known || p.IsPacked {
		a.Buffer = p.Buffer
	}
	if p.Datatype == 0 {
		return a
	}
	if p.Buffer.Known && d.lib.Datatype(p.Datatype).Size.Known {
		a.Bytes = mqs.Maybe[int64]{} // of a long message the network library may have a part
	}
	a.Count, a.Datatype = mqs.Known(p.Count), mqs.Known(p.Datatype)
	return a
}

// sendBeneath returns what a send asks for that is in the network library.
func (d *Device) sendBeneath(q *transport.Send, c *mpir.Communicator) mpir.Arguments {
	e := d.beneath.network.Tags.Envelope(q.Tag)
	a := mpir.Arguments{Peer: d.rankOf(c, q.Peer)}
	if !q.TagLost {
		a.Tag, a.Context = mqs.Known(e.Tag), mqs.Known(uint32(e.Context)-c.Context)
	}
	a = d.dataBeneath(a, &q.Request)
	switch {
	case q.Sync:
		a.Kind = "issend"
	case d.lib.TellsBuffered(c): // else it may be a buffered one
		a.Kind = "isend"
	}
	return a
}

// receiveBeneath returns what a receive asks for that is in the network library.
func (d *Device) receiveBeneath(q *transport.Receive, c *mpir.Communicator) mpir.Arguments {
	tags := d.beneath.network.Tags
	e := tags.Envelope(q.Tag)
	a := d.dataBeneath(mpir.Arguments{Kind: "irecv", Context: mqs.Known(uint32(e.Context) - c.RecvContext)}, &q.Request)
	if to, ok := d.beneath.objects.unpacked(d.beneath.network.Receiver(q), &q.Request); ok {
		a.Buffer, a.Count, a.Datatype = to.Buffer, mqs.Known(to.Count), mqs.Maybe[uint32]{Value: to.Datatype, Known: to.Datatype != 0}
	}
	if q.AskLost {
		return a
	}
	a.Peer, a.Tag = d.sourceOf(c, q.Tag, q.Peer), mqs.Known(e.Tag)
	if tags.IsAnySource(q) {
		a.Peer = mqs.Known(d.lib.Negatives().AnySource)
	}
	if tags.IsAnyTag(q) {
		a.Tag = mqs.Known(d.lib.Negatives().AnyTag)
	}
	return a
}

// matchedBeneath returns the message that a receive has matched in the network library.
func (d *Device) matchedBeneath(q *transport.Receive) (mpir.Message, bool) {
	if q.MessageLost {
		return mpir.Message{IsLost: true}, true
	}
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
