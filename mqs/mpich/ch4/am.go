package ch4

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// dev is MPIR_Request.dev, which holds a union, whose members are only of use where something else
// says which of them it is: that of active messages, of which matching is done
// here, of messages to oneself, and of persistent requests.
type dev struct {
	// Absent where the netmod does everything. Whether a shared-memory module has it.
	IsLocal bool                       `c:"dev.is_local,optional"`
	Partner inferior.Ptr[mpir.Request] `c:"dev.anysrc_partner|dev.anysource_partner_request,optional"`

	Active   inferior.Ptr[active] `c:"dev.ch4.am.req"`
	Buffer   inferior.Addr        `c:"dev.ch4.am.buffer"`
	Count    int64                `c:"dev.ch4.am.count"`
	Datatype uint32               `c:"dev.ch4.am.datatype"`
	Dest     int32                `c:"dev.ch4.am.u.send.dest"`
	// From 4.3 the envelope of a receive is in its status.
	Source  int32  `c:"dev.ch4.am.u.recv.source|status.MPI_SOURCE"`
	Tag     int32  `c:"dev.ch4.am.u.recv.tag|status.MPI_TAG"`
	Context uint32 `c:"dev.ch4.am.u.recv.context_id"`
	// What is kept of a message that waits for room in shared memory.
	Waiting inferior.Ptr[struct{}] `c:"dev.ch4.am.shm_am.posix.req_hdr,optional"`

	SelfBuffer   inferior.Addr              `c:"dev.ch4.self.buf"`
	SelfCount    int64                      `c:"dev.ch4.self.count"`
	SelfDatatype uint32                     `c:"dev.ch4.self.datatype"`
	SelfTag      int32                      `c:"dev.ch4.self.tag"`
	SelfContext  uint32                     `c:"dev.ch4.self.context_id"`
	SelfMatch    inferior.Ptr[mpir.Request] `c:"dev.ch4.self.match_req"`

	PersistentType     uint32        `c:"dev.ch4.preq.p_type"`
	PersistentBuffer   inferior.Addr `c:"dev.ch4.preq.buffer"`
	PersistentCount    int64         `c:"dev.ch4.preq.count"`
	PersistentDatatype uint32        `c:"dev.ch4.preq.datatype"`
	PersistentRank     int32         `c:"dev.ch4.preq.rank"`
	PersistentTag      int32         `c:"dev.ch4.preq.tag"`
}

// active is what an active message has beside its request, while that is not complete.
type active struct {
	Status uint64 `c:"status"`
	Bytes  int64  `c:"recv_async.in_data_sz"`
	// Of a message that came before its receive: the program's request, if that is another one.
	Match inferior.Ptr[mpir.Request] `c:"rreq.match_req,optional"`
}

// Bits of an active message's status (src/mpid/ch4/include/mpidpre.h, 4.0 to 5.0).
const (
	activeMatched    = 1 << 6 // of a message that came before its receive
	activeRendezvous = 1 << 7
	activeInProgress = 1 << 8 // a message has come
)

// persistentKinds are the kinds of persistent operations (MPIDI_ptype).
var persistentKinds = []string{"recv_init", "send_init", "bsend_init", "ssend_init"}

// devOf reads the device's part of a request.
func (d *Device) devOf(r inferior.Ptr[mpir.Request]) (dev, error) {
	return d.c.Dev.Read(d.lib.Reader, inferior.Ptr[dev](r))
}

// IsPartner tells a request that is not the program's: the netmod's half of a receive from any source, whose other half
// the shared-memory module has, and that of a message which a receive with another request has matched.
func (d *Device) IsPartner(r *mpir.Operation) bool {
	if r.Kind != mpir.KindRecv || r.IsPosted {
		return false
	}
	return d.carrying[r.At] || d.partnerOf(r) != 0
}

// partnerOf is shared memory's half of a receive from any source of which the netmod's half is given, 0 if it is none.
func (d *Device) partnerOf(r *mpir.Operation) inferior.Ptr[mpir.Request] {
	q, err := d.devOf(r.At)
	if err != nil || q.Partner == 0 || q.IsLocal {
		return 0
	}
	partner, err := d.devOf(q.Partner)
	if err != nil || partner.Partner != r.At || !partner.IsLocal {
		return 0
	}
	return q.Partner
}

// Send returns what a send asks for. An eager send leaves nothing in its request, but what debugger support
// puts there; a rendezvous all but the tag.
func (d *Device) Send(r *mpir.Operation, c *mpir.Communicator, blocking string) mpir.Arguments {
	if send := d.beneath.sends[r.At]; send != nil {
		a, noted := d.sendBeneath(send, c), d.noted(r)
		if !a.Peer.Known {
			a.Peer = noted.Peer
		}
		if !a.Tag.Known {
			a.Tag = noted.Tag
		}
		return a
	}
	q, err := d.devOf(r.At)
	if err != nil {
		return mpir.Arguments{}
	}
	if c.IsSelf() {
		return d.sendToSelf(r, q, c)
	}
	a := d.noted(r)
	if !q.IsLocal || r.Owner != nil {
		return a // a persistent request keeps what is asked
	}
	switch {
	case d.isRendezvous(r, q, blocking):
		a = a.WithBuffer(q.Buffer, q.Count, q.Datatype)
		a.Peer = mqs.Known(q.Dest)
	case d.lib.Sendq.IsKept && (r.Noted != nil || blocking != ""):
		a = a.WithBuffer(q.Buffer, q.Count, q.Datatype)
		if limit, ok := d.eagerLimit(); ok && !r.IsComplete() && d.length(a) > limit {
			a.Peer = mqs.Known(q.Dest)
		}
	}
	if r.IsComplete() && !mpir.IsBuiltin(a.Datatype.Value) {
		a.Datatype = mqs.Maybe[uint32]{} // it may have been freed since
	}
	if r.Pending >= 2 {
		a.Kind = "issend" // it waits for the receiver's word too
	}
	return a
}

// UnknownSends says what the device does not keep of sends.
func (d *Device) UnknownSends() string {
	const sentence = "MPICH's device ch4 keeps neither the tag of a send nor, of an eager one, anything else: what is not known of a send is left open"
	if d.lib.Sendq.IsKept {
		return sentence
	}
	return sentence + ". With debugger support (--enable-debuginfo) the library keeps it"
}

// noted is what the debugger's queue says of a send.
func (d *Device) noted(r *mpir.Operation) mpir.Arguments {
	if r.Noted == nil {
		return mpir.Arguments{}
	}
	return mpir.Arguments{Peer: mqs.Known(r.Noted.Rank), Tag: mqs.Known(r.Noted.Tag),
		Context: mqs.Maybe[uint32]{Known: d.lib.Sendq.IsUsers}}
}

// isRendezvous tells, without trust in any member that only a rendezvous sets,
// whether a send through shared memory is one: it can't be complete before the
// receiver has answered, so that MPI_Send waits for nothing else, and a
// synchronous send for that and for the receiver's word. It would also wait for
// room, but is then put aside.
func (d *Device) isRendezvous(r *mpir.Operation, q dev, blocking string) bool {
	_, tells := inferior.OffsetOf(&d.c.Dev, func(q *dev) *inferior.Ptr[struct{}] { return &q.Waiting })
	if r.IsComplete() || !tells || q.Waiting != 0 {
		return false
	}
	return blocking == "send" || r.Pending >= 2
}

// length is the number of bytes of what was asked for, -1 if it is not known.
func (d *Device) length(a mpir.Arguments) int64 {
	size := d.lib.Datatype(a.Datatype.Value).Size
	if !a.Count.Known || !size.Known {
		return -1
	}
	return a.Count.Value * size.Value
}

// eagerLimit is a size in bytes from which on no message through shared memory
// is eager: that of a cell.
func (d *Device) eagerLimit() (int64, bool) {
	sym, ok := d.lib.Symbols[symCellSize]
	if !ok {
		return 0, false
	}
	v, err := d.lib.Reader.Int(sym.Addr, 4)
	return v, err == nil && v > 0
}

// Receive returns what a receive asks for. It keeps that until it has matched; then the
// message's envelope stands in its place, and of a message that came first also
// the message's count and buffer.
func (d *Device) Receive(r *mpir.Operation, c *mpir.Communicator, isPending bool) mpir.Arguments {
	if receive := d.beneath.receives[r.At]; receive != nil {
		return d.receiveBeneath(receive, c)
	}
	a := mpir.Arguments{Kind: "irecv"}
	q, err := d.devOf(r.At)
	isKept := isPending || r.IsCancelled() && r.IsComplete()
	switch {
	case err != nil:
	case c.IsSelf():
		if isKept {
			a = toSelf(q, c)
			a.Kind = "irecv"
		}
	case isKept:
		if q.IsLocal || r.IsPosted {
			a = a.WithBuffer(q.Buffer, q.Count, q.Datatype)
			a.Peer, a.Tag, a.Context = mqs.Known(q.Source), mqs.Known(q.Tag), mqs.Known(q.Context-c.RecvContext)
		}
	case !r.IsComplete() && q.IsLocal:
		q = d.carrier(r.At, q)
		a = a.WithBuffer(q.Buffer, q.Count, q.Datatype)
		a.Context = mqs.Known(q.Context - c.RecvContext)
	}
	return a
}

// Persistent returns what a persistent request asks for.
func (d *Device) Persistent(r *mpir.Operation) mpir.Arguments {
	q, err := d.devOf(r.At)
	if err != nil {
		return mpir.Arguments{}
	}
	a := mpir.Arguments{Peer: mqs.Known(q.PersistentRank), Tag: mqs.Known(q.PersistentTag)}
	if int(q.PersistentType) < len(persistentKinds) {
		a.Kind = persistentKinds[q.PersistentType]
	}
	return a.WithBuffer(q.PersistentBuffer, q.PersistentCount, q.PersistentDatatype)
}

// Matched returns the message of a receive that is in no list.
func (d *Device) Matched(r *mpir.Operation) (mpir.Message, bool) {
	m, ok := d.matched(r)
	if !ok && !d.lib.IsHidden() { // that hides its list of receives from oneself, none of which has matched
		d.lib.Remarks.Set(mpir.UnknownReceives, "receives from other nodes or programs are matched inside a network library: what is not known of them is left open")
	}
	return m, ok
}

// matched finds a message if shared memory or an active message has it. If the netmod has it, nothing here
// says so.
func (d *Device) matched(r *mpir.Operation) (mpir.Message, bool) {
	if receive := d.beneath.receives[r.At]; receive != nil {
		return d.matchedBeneath(receive)
	}
	q, err := d.devOf(r.At)
	if err != nil || !q.IsLocal {
		return mpir.Message{}, false
	}
	q = d.carrier(r.At, q) // which has the envelope too: up to 4.2, the program's request does not
	am, err := d.c.Active.Read(d.lib.Reader, q.Active)
	if err != nil || am.Status&activeInProgress == 0 {
		return mpir.Message{}, false
	}
	return mpir.Message{Source: mqs.Known(q.Source), Tag: q.Tag &^ mpir.TagErrorBits, Bytes: mqs.Known(am.Bytes)}, true
}

// Arrived describes a message that no receive has matched.
func (d *Device) Arrived(r *mpir.Operation) mpir.Message {
	q, err := d.devOf(r.At)
	if err != nil {
		return mpir.Message{IsLost: true}
	}
	m := mpir.Message{Source: mqs.Known(q.Source), Tag: q.Tag &^ mpir.TagErrorBits, Bytes: mqs.Known(q.Count), Context: q.Context, Buffer: q.Buffer}
	if am, err := d.c.Active.Read(d.lib.Reader, q.Active); err == nil {
		m.Protocol = mqs.Eager
		if am.Status&activeRendezvous != 0 {
			m.Protocol, m.Buffer = mqs.Rendezvous, 0
		}
	}
	return m
}

// Taken describes a message that MPI_Mprobe has taken.
func (d *Device) Taken(r *mpir.Operation, c *mpir.Communicator) mpir.Message {
	if c.IsSelf() {
		return d.takenToSelf(r)
	}
	if taken, ok := d.takenBeneath(r.At); ok {
		m := d.message(taken.Tag)
		m.Source = d.sourceOf(c, taken.Tag, taken.Peer)
		m.Bytes = transport.LengthOf(taken.Length)
		return m
	}
	if q, err := d.devOf(r.At); err != nil || !q.IsLocal {
		return mpir.Message{IsLost: true} // the network library has it
	}
	return d.Arrived(r)
}
