package mpich

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// ch4ucx is ch4 with the netmod ucx: what shared memory does not carry matches in UCX,
// whose requests and MPICH's point at each other.
type ch4ucx struct {
	*ch4
	ucxTypes
	ucx      *ucx.UCX
	queues   *inUCX
	sends    map[inferior.Addr]*transport.Send    // by MPICH's request
	receives map[inferior.Addr]*transport.Receive // the same
	peers    map[*commState]map[inferior.Addr]int32
	// messages are the unexpected ones by the context id of the communicator that has them.
	messages map[uint32][]*transport.Message
	// receiving are the communicators by the context id that they receive with.
	receiving map[uint32]*commState
	// freed are the communicators that are no more but have messages under way, by the
	// context id that they have received with: nothing else is known of them.
	freed map[uint32]*commState
}

// ucxTypes are the C types of the netmod ucx, and of the tables that it keeps endpoints in.
type ucxTypes struct {
	Request inferior.Struct[ucxRequest] `c:"MPIR_Request"`
	Tables  inferior.Struct[ucxTables]  `c:"MPIDI_CH4_Global_t"`
	Table   inferior.Struct[ucxTable]   `c:"MPIDI_av_table_t"`
	Entry   inferior.Struct[ucxEntry]   `c:"MPIDI_av_entry_t"`
}

type ucxRequest struct {
	// Of a message that MPI_Mprobe has taken.
	Taken inferior.Addr `c:"dev.ch4.netmod.ucx.message_handler"`
}

type ucxTables struct {
	At inferior.Addr `c:"avt_mgr.av_tables"` // of pointers to tables
}

type ucxTable struct {
	Size    int32          `c:"size"`
	Entries inferior.Place `c:"table"`
}

type ucxEntry struct {
	// For each of this process's virtual interfaces one for each of the peer's.
	Endpoints inferior.Place `c:"netmod.ucx.dest"`
}

// overUCX returns the device itself, or what knows UCX too if that is the netmod.
func (d *ch4) overUCX() device {
	o := &ch4ucx{ch4: d, sends: map[inferior.Addr]*transport.Send{}, receives: map[inferior.Addr]*transport.Receive{}, peers: map[*commState]map[inferior.Addr]int32{},
		messages: map[uint32][]*transport.Message{}, freed: map[uint32]*commState{}}
	if inferior.Bind(&o.ucxTypes, d.layouts) != nil {
		return d // it has another netmod
	}
	u, err := openUCX(d.r)
	if err != nil {
		d.networkErr = err
		return d
	}
	if o.queues, err = readUCX(u); err != nil {
		d.networkErr = err
		return d
	}
	o.ucx = u
	return o
}

func (d *ch4ucx) progress() mqs.Maybe[uint64] { return mqs.Known(d.queues.sequence) }

// elsewhere: what UCX has is here.
func (d *ch4ucx) elsewhere(*commState) error { return nil }

// join finds MPICH's requests of what is in UCX, and the communicators of those that know
// none of their own.
func (d *ch4ucx) join(q *requests) {
	for i := range d.queues.receives {
		r := &d.queues.receives[i]
		own := d.byAddr[r.UserData]
		if own == nil || own.Kind != kindRecv || own.complete() {
			continue // released: a program that has freed it will not hear of it
		}
		d.receives[own.at] = r
		own.Comm = d.receivingWith(envelopeOf(r.Tag).context).addr
		if r.State == transport.Posted {
			q.posted = append(q.posted, own)
			q.isPosted[own.at] = true
		}
	}
	for i := range d.queues.unexpected {
		m := &d.queues.unexpected[i]
		c := d.receivingWith(envelopeOf(m.Tag).context)
		d.messages[c.RecvContext] = append(d.messages[c.RecvContext], m)
	}
	for i := range d.queues.sends {
		r := &d.queues.sends[i]
		at, err := d.r.Pointers(r.User, 1)
		if err != nil {
			continue
		}
		own := d.byAddr[at[0]]
		if own == nil || own.Kind != kindSend || own.complete() {
			continue
		}
		d.sends[own.at] = r
		if c := d.sendingTo(r); c != nil {
			own.Comm = c.addr
		}
	}
	for _, r := range d.byAddr {
		if r.Comm == 0 && isHeld(r) {
			if m, err := d.taken(r); err == nil {
				r.Comm = d.receivingWith(envelopeOf(m.Tag).context).addr
			}
		}
	}
}

// receivingWith is the communicator that receives with a context id, which no other does.
// A program may have freed it.
func (d *ch4ucx) receivingWith(context uint32) *commState {
	context &^= contextCollective
	if d.receiving == nil {
		d.receiving = map[uint32]*commState{}
		for _, c := range d.comms {
			d.receiving[c.RecvContext] = c
		}
	}
	if c := d.receiving[context]; c != nil {
		return c
	}
	if d.freed[context] == nil {
		c := &commState{addr: inferior.Addr(context), comm: comm{Context: context, RecvContext: context}}
		c.model = &mqs.Communicator{UniqueID: c.addr, Context: contextOf(&c.comm), Internal: context&contextOwn != 0}
		d.freed[context], d.comms[c.addr] = c, c
	}
	return d.freed[context]
}

// sendingTo is the communicator that a send is on. The receiver's context id may also be
// that of another communicator here, which then lacks its endpoint or has another rank.
func (d *ch4ucx) sendingTo(r *transport.Send) *commState {
	e := envelopeOf(r.Tag)
	if r.TagLost {
		return nil
	}
	taken := false
	for _, c := range d.comms {
		if e.context-c.Context > contextCollective || d.freed[c.RecvContext] == c {
			continue
		}
		taken = true
		if _, ok := d.endpoints(c)[inferior.Addr(r.Peer.Value)]; ok && e.source == c.Rank {
			return c
		}
	}
	if taken || r.ID == 0 && d.freed[e.context&^contextCollective] == nil {
		return nil // an answer may have been written over its tag
	}
	return d.receivingWith(e.context)
}

// endpoints maps the endpoints of a communicator's peers to their ranks.
func (d *ch4ucx) endpoints(c *commState) map[inferior.Addr]int32 {
	if out, ok := d.peers[c]; ok {
		return out
	}
	out := map[inferior.Addr]int32{}
	d.peers[c] = out
	size := c.RemoteSize
	if c.Kind != commInter {
		size = c.LocalSize
	}
	m, err := d.rankMap(c.addr, false, size)
	if err != nil {
		return out
	}
	global, err := d.Tables.ReadAt(d.r, d.symbols[symCH4].Addr)
	if err != nil {
		return out
	}
	// What can't be read of the map is left out, as a peer is.
	_ = d.eachPlace(m, int(size), func(rank int, table int32, place int64) {
		if table < 0 || table >= maxTables {
			return
		}
		tables, err := d.r.Pointers(global.At+inferior.Addr(int(table)*d.r.Info().PointerSize), 1)
		if err != nil {
			return
		}
		t, err := d.Table.ReadAt(d.r, tables[0])
		if err != nil || place < 0 || place >= int64(t.Size) {
			return
		}
		entry := inferior.Addr(t.Entries) + inferior.Addr(int(place)*d.Entry.Size())
		f, _ := d.layouts.Field(d.Entry.Name(), "netmod.ucx.dest")
		slots := min(f.Size/d.r.Info().PointerSize, maxVCIs)
		endpoints, err := d.r.Pointers(inferior.Addr(d.Entry.Places(entry).Endpoints), slots)
		if err != nil {
			return
		}
		for _, e := range endpoints {
			if e != 0 {
				out[e] = int32(rank)
			}
		}
	})
	return out
}

// maxTables bounds the number of a table of addresses: there is one for each program.
const maxTables = 1 << 16

func (d *ch4ucx) send(r *requestAt, c *commState) asked {
	q := d.sends[r.at]
	if q == nil {
		return d.ch4.send(r, c)
	}
	e := envelopeOf(q.Tag)
	a := asked{bytes: mqs.Maybe[int64]{Value: q.Length, Known: q.Length >= 0}, context: mqs.Known(e.context - c.Context)}
	if !q.TagLost {
		a.tag = mqs.Known(e.tag)
	}
	if rank, ok := d.endpoints(c)[inferior.Addr(q.Peer.Value)]; ok {
		a.peer = mqs.Known(rank)
	}
	if q.Buffer != 0 {
		a.buffer = mqs.Known(q.Buffer)
	}
	if p, ok := readPackState(d.r, q.Generic); ok {
		a = known(p.buffer, p.count, p.datatype, a)
	}
	switch {
	case q.Sync:
		a.kind = "issend"
	case d.Bsend.Bound(): // else it may be a buffered one
		a.kind = "isend"
	}
	return a
}

func (d *ch4ucx) receive(r *requestAt, c *commState, pending bool) asked {
	q := d.receives[r.at]
	if q == nil {
		return d.ch4.receive(r, c, pending)
	}
	e := envelopeOf(q.Tag)
	a := asked{kind: "irecv", peer: mqs.Known(e.source), tag: mqs.Known(e.tag), context: mqs.Known(e.context - c.RecvContext)}
	if q.Mask&ucxRankMask == 0 {
		a.peer = mqs.Known(int32(anySource))
	}
	if q.Mask&ucxAnyTagMask == 0 {
		a.tag = mqs.Known(int32(anyTag))
	}
	if p, ok := readPackState(d.r, q.Generic); ok {
		a = known(p.buffer, p.count, p.datatype, a)
	}
	if q.Length >= 0 {
		a.bytes, a.buffer = mqs.Known(q.Length), mqs.Known(q.Buffer)
	}
	return a
}

func (d *ch4ucx) isMatched(r *requestAt) (message, bool) {
	q := d.receives[r.at]
	if q == nil {
		return d.ch4.isMatched(r)
	}
	e := envelopeOf(q.SenderTag)
	return message{source: e.source, tag: e.tag, bytes: mqs.Maybe[int64]{Value: q.Received, Known: !q.Offloaded && q.Received >= 0}}, q.State == transport.Matched
}

// taken is the message that MPI_Mprobe has taken out of UCX.
func (d *ch4ucx) taken(r *requestAt) (transport.Message, error) {
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil {
		return transport.Message{}, err
	}
	if q.Taken == 0 {
		return transport.Message{}, fmt.Errorf("the request at %s has no message", r.at)
	}
	return d.ucx.Matchers()[0].MessageAt(q.Taken)
}

func (d *ch4ucx) arrived(r *requestAt) message {
	if !isHeld(r) || d.isToSelf(r) {
		return d.ch4.arrived(r)
	}
	if m, err := d.taken(r); err == nil {
		e := envelopeOf(m.Tag)
		return message{source: e.source, tag: e.tag, bytes: mqs.Maybe[int64]{Value: m.Length, Known: m.Length >= 0}, context: e.context}
	}
	return d.ch4.arrived(r)
}
