package mpich

import (
	"errors"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// ch4Types are the C types of the device ch4.
type ch4Types struct {
	Global  inferior.Struct[ch4Global]  `c:"MPIDI_CH4_Global_t"`
	VCI     inferior.Struct[ch4VCI]     `c:"MPIDI_per_vci_t"`
	Request inferior.Struct[ch4Request] `c:"MPIR_Request"`
	Active  inferior.Struct[ch4Active]  `c:"MPIDIG_req_ext_t"`
}

type ch4Global struct {
	VCIs   int32          `c:"n_total_vcis|n_vcis"`
	PerVCI inferior.Place `c:"per_vci"`
}

// ch4VCI is a virtual interface, with a matching queue of its own.
type ch4VCI struct {
	Posted     inferior.Addr `c:"posted_list"`
	Unexpected inferior.Addr `c:"unexp_list"`
	// Freed counts requests that are over, up to 4.1.
	Freed int32 `c:"progress_count.v,optional"`
}

// ch4Request holds a union, whose members are only of use where something else
// says which of them it is: that of active messages, of which matching is done
// here, of messages to oneself, and of persistent requests.
type ch4Request struct {
	// Absent where the netmod does everything. Whether a shared-memory module has it.
	IsLocal bool          `c:"dev.is_local,optional"`
	Partner inferior.Addr `c:"dev.anysrc_partner|dev.anysource_partner_request,optional"`

	Active   inferior.Addr `c:"dev.ch4.am.req"`
	Buffer   inferior.Addr `c:"dev.ch4.am.buffer"`
	Count    int64         `c:"dev.ch4.am.count"`
	Datatype uint32        `c:"dev.ch4.am.datatype"`
	Dest     int32         `c:"dev.ch4.am.u.send.dest"`
	// From 4.3 the envelope of a receive is in its status.
	Source  int32  `c:"dev.ch4.am.u.recv.source|status.MPI_SOURCE"`
	Tag     int32  `c:"dev.ch4.am.u.recv.tag|status.MPI_TAG"`
	Context uint32 `c:"dev.ch4.am.u.recv.context_id"`
	// What is kept of a message that waits for room in shared memory.
	Waiting   inferior.Addr  `c:"dev.ch4.am.shm_am.posix.req_hdr,optional"`
	WaitingAt inferior.Place `c:"dev.ch4.am.shm_am.posix.req_hdr,optional"`

	SelfBuffer   inferior.Addr `c:"dev.ch4.self.buf"`
	SelfCount    int64         `c:"dev.ch4.self.count"`
	SelfDatatype uint32        `c:"dev.ch4.self.datatype"`
	SelfTag      int32         `c:"dev.ch4.self.tag"`
	SelfContext  uint32        `c:"dev.ch4.self.context_id"`
	SelfMatch    inferior.Addr `c:"dev.ch4.self.match_req"`

	PersistentType     uint32        `c:"dev.ch4.preq.p_type"`
	PersistentBuffer   inferior.Addr `c:"dev.ch4.preq.buffer"`
	PersistentCount    int64         `c:"dev.ch4.preq.count"`
	PersistentDatatype uint32        `c:"dev.ch4.preq.datatype"`
	PersistentRank     int32         `c:"dev.ch4.preq.rank"`
	PersistentTag      int32         `c:"dev.ch4.preq.tag"`
}

// ch4Active is what an active message has beside its request, while that is not complete.
type ch4Active struct {
	Status uint64 `c:"status"`
	Bytes  int64  `c:"recv_async.in_data_sz"`
}

// Bits of an active message's status (src/mpid/ch4/include/mpidpre.h, 4.0 to 5.0).
const (
	activeRendezvous = 1 << 7
	activeInProgress = 1 << 8 // a message has come
)

// Persistent operations (MPIDI_ptype).
var ch4Kinds = []string{"recv_init", "send_init", "bsend_init", "ssend_init"}

const maxVCIs = 64

type ch4 struct {
	*source
	ch4Types
	groups ch4Groups
}

func (d *ch4) name() string { return "ch4" }

// elsewhere: without a shared-memory module the network library does all
// matching. With one it does so between nodes and between programs.
func (d *ch4) elsewhere(c *commState) error {
	if c.isSelf() {
		return nil
	}
	if _, ok := d.layouts.Field(d.Request.Name(), "dev.is_local"); !ok {
		d.allOutside = true
		return errors.New("a network library has its messages, inside which mpi-queues can't read")
	}
	outside := func(rank mqs.Maybe[int32]) bool { return !rank.Known }
	if d.process.Nodes > 1 || slices.ContainsFunc(c.model.Peers(), outside) {
		d.messagesOutside = true
	}
	return nil
}

// interfaces reads the virtual interfaces.
func (d *ch4) interfaces() ([]ch4VCI, error) {
	global, err := d.Global.ReadAt(d.r, d.symbols[symCH4].Addr)
	if err != nil {
		return nil, err
	}
	out := make([]ch4VCI, max(1, min(int(global.VCIs), maxVCIs)))
	for i := range out {
		if out[i], err = d.VCI.ReadAt(d.r, inferior.Addr(global.PerVCI)+inferior.Addr(i*d.VCI.Size())); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *ch4) progress() mqs.Maybe[uint64] {
	interfaces, err := d.interfaces()
	if _, counts := d.layouts.Field(d.VCI.Name(), "progress_count.v"); err != nil || !counts {
		return mqs.Maybe[uint64]{}
	}
	var sum uint32
	for _, v := range interfaces {
		sum += uint32(v.Freed)
	}
	return mqs.Known(uint64(sum))
}

// lists returns the first requests of a list of every virtual interface, and of
// the one for communicators of one process.
func (d *ch4) lists(of func(ch4VCI) inferior.Addr, self string) ([]inferior.Addr, error) {
	interfaces, err := d.interfaces()
	if err != nil {
		return nil, err
	}
	var out []inferior.Addr
	for _, v := range interfaces {
		out = append(out, of(v))
	}
	if sym, ok := d.symbols[self]; ok {
		first, err := d.r.Pointers(sym.Addr, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, first[0])
	}
	return out, nil
}

func (d *ch4) posted() ([]inferior.Addr, error) {
	return d.lists(func(v ch4VCI) inferior.Addr { return v.Posted }, symSelfRecvs)
}

func (d *ch4) unexpected() ([]inferior.Addr, error) {
	return d.lists(func(v ch4VCI) inferior.Addr { return v.Unexpected }, "")
}

func (d *ch4) sentToSelf() (inferior.Addr, bool) {
	sym, ok := d.symbols[symSelfSends]
	if !ok {
		return 0, false
	}
	first, err := d.r.Pointers(sym.Addr, 1)
	if err != nil {
		return 0, false
	}
	return first[0], true
}

// isHalf tells the netmod's half of a receive from any source, whose other half
// the shared-memory module has.
func (d *ch4) isHalf(r *requestAt, posted map[inferior.Addr]bool) bool {
	if r.Kind != kindRecv || posted[r.at] {
		return false
	}
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil || q.Partner == 0 || q.IsLocal {
		return false
	}
	partner, err := d.Request.ReadAt(d.r, q.Partner)
	return err == nil && partner.Partner == r.at && partner.IsLocal
}

func known(buffer inferior.Addr, count int64, datatype uint32, a asked) asked {
	a.buffer, a.count, a.datatype = mqs.Known(buffer), mqs.Known(count), mqs.Known(datatype)
	return a
}

// selfAsked reads a message to oneself: its members are set when it goes into
// its list, before that it has no communicator. Whether a receive named its only
// possible source is not kept.
func selfAsked(q ch4Request, c *commState) asked {
	return known(q.SelfBuffer, q.SelfCount, q.SelfDatatype, asked{
		tag: mqs.Known(q.SelfTag), context: mqs.Known(q.SelfContext - c.Context)})
}

// send: an eager send leaves nothing in its request, but what debugger support
// puts there; a rendezvous all but the tag.
func (d *ch4) send(r *requestAt, c *commState) asked {
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil {
		return asked{}
	}
	if c.isSelf() {
		if r.complete() {
			return asked{}
		}
		a := selfAsked(q, c)
		a.peer = mqs.Known(int32(0))
		return a
	}
	var a asked
	if r.noted != nil {
		a.peer, a.tag = mqs.Known(r.noted.rank), mqs.Known(r.noted.tag)
		if d.notesUserSends {
			a.context = mqs.Known(uint32(0))
		}
	}
	if !q.IsLocal || r.owner != nil {
		return a // a persistent request keeps what is asked
	}
	blocking := d.blockingKinds()[r.at]
	switch {
	case d.isRendezvous(r, q, blocking):
		a = known(q.Buffer, q.Count, q.Datatype, a)
		a.peer = mqs.Known(q.Dest)
	case d.notesSends && (r.noted != nil || blocking != ""):
		a = known(q.Buffer, q.Count, q.Datatype, a)
		if limit, ok := d.eagerLimit(); ok && !r.complete() && d.length(a) > limit {
			a.peer = mqs.Known(q.Dest)
		}
	}
	if r.complete() && storage(a.datatype.Value) != handleBuiltin {
		a.datatype = mqs.Maybe[uint32]{} // it may have been freed since
	}
	if r.Pending >= 2 {
		a.kind = "issend" // it waits for the receiver's word too
	}
	return a
}

// isRendezvous tells, without trust in any member that only a rendezvous sets,
// whether a send through shared memory is one: it can't be complete before the
// receiver has answered, so that MPI_Send waits for nothing else, and a
// synchronous send for that and for the receiver's word. It would also wait for
// room, but is then put aside.
func (d *ch4) isRendezvous(r *requestAt, q ch4Request, blocking string) bool {
	if r.complete() || q.WaitingAt == 0 || q.Waiting != 0 {
		return false
	}
	return blocking == "send" || r.Pending >= 2
}

// length is the number of bytes of what was asked for, -1 if it is not known.
func (d *ch4) length(a asked) int64 {
	size := d.datatypeOf(a.datatype.Value).size
	if !a.count.Known || !size.Known {
		return -1
	}
	return a.count.Value * size.Value
}

// eagerLimit is a size in bytes from which on no message through shared memory
// is eager: that of a cell.
func (d *ch4) eagerLimit() (int64, bool) {
	sym, ok := d.symbols[symCellSize]
	if !ok {
		return 0, false
	}
	v, err := d.r.Int(sym.Addr, 4)
	return v, err == nil && v > 0
}

// receive: a receive keeps what was asked for until it has matched; then the
// message's envelope stands in its place, and of a message that came first also
// the message's count and buffer.
func (d *ch4) receive(r *requestAt, c *commState, pending bool) asked {
	q, err := d.Request.ReadAt(d.r, r.at)
	a := asked{kind: "irecv"}
	switch {
	case err != nil:
	case c.isSelf():
		if pending || r.cancelled() && r.complete() {
			a = selfAsked(q, c)
			a.kind = "irecv"
		}
	case pending || r.cancelled() && r.complete():
		if q.IsLocal || d.requests.isPosted[r.at] {
			a = known(q.Buffer, q.Count, q.Datatype, a)
			a.peer, a.tag, a.context = mqs.Known(q.Source), mqs.Known(q.Tag), mqs.Known(q.Context-c.RecvContext)
		}
	case !r.complete() && q.IsLocal:
		a = known(q.Buffer, q.Count, q.Datatype, a)
		a.context = mqs.Known(q.Context - c.RecvContext)
	}
	return a
}

// isToSelf says whether a request is of a communicator of one process.
func (d *ch4) isToSelf(r *requestAt) bool {
	c := d.comms[r.Comm]
	return c != nil && c.isSelf()
}

// toSelfWith is the message that a send on a communicator of one process is.
func (d *ch4) toSelfWith(r *requestAt) message {
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil {
		return message{lost: true}
	}
	m := message{source: 0, tag: q.SelfTag, context: q.SelfContext, request: r.at}
	if size := d.datatypeOf(q.SelfDatatype).size; size.Known {
		m.bytes = mqs.Known(q.SelfCount * size.Value)
	}
	return m
}

func (d *ch4) persistent(r *requestAt) asked {
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil {
		return asked{}
	}
	a := known(q.PersistentBuffer, q.PersistentCount, q.PersistentDatatype, asked{
		peer: mqs.Known(q.PersistentRank), tag: mqs.Known(q.PersistentTag)})
	if int(q.PersistentType) < len(ch4Kinds) {
		a.kind = ch4Kinds[q.PersistentType]
	}
	return a
}

// isMatched: a receive in no list has matched if shared memory or an active
// message has it. If the netmod has it, nothing here says so.
func (d *ch4) isMatched(r *requestAt) (message, bool) {
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil || !q.IsLocal {
		return message{}, false
	}
	active, err := d.Active.ReadAt(d.r, q.Active)
	if err != nil || active.Status&activeInProgress == 0 {
		return message{}, false
	}
	return message{source: q.Source, tag: q.Tag &^ tagErrorBits, bytes: mqs.Known(active.Bytes)}, true
}

func (d *ch4) arrived(r *requestAt) message {
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil {
		return message{lost: true}
	}
	if isHeld(r) && d.isToSelf(r) {
		if r = d.byAddr[q.SelfMatch]; r == nil {
			return message{lost: true}
		}
	}
	if r.Kind == kindSend {
		return d.toSelfWith(r)
	}
	m := message{source: q.Source, tag: q.Tag &^ tagErrorBits, bytes: mqs.Known(q.Count), context: q.Context, buffer: q.Buffer}
	if active, err := d.Active.ReadAt(d.r, q.Active); err == nil {
		m.how = "eager"
		if active.Status&activeRendezvous != 0 {
			m.how, m.buffer = mqs.Rendezvous, 0
		}
	}
	return m
}
