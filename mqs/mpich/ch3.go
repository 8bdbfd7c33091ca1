package mpich

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// ch3Types are the C types of the device ch3.
type ch3Types struct {
	Request inferior.Struct[ch3Request] `c:"MPIR_Request"`
	Counter inferior.Struct[ch3Counter] `c:"MPL_atomic_int_t,optional"`
}

type ch3Counter struct {
	Value int32 `c:"v"`
}

type ch3Request struct {
	Rank     int32         `c:"dev.match.parts.rank"`
	Tag      int32         `c:"dev.match.parts.tag"`
	Context  uint32        `c:"dev.match.parts.context_id"`
	Buffer   inferior.Addr `c:"dev.user_buf"`
	Count    int64         `c:"dev.user_count"`
	Datatype uint32        `c:"dev.datatype"`
	State    uint32        `c:"dev.state"`
	Tmpbuf   inferior.Addr `c:"dev.tmpbuf"`
}

// ch3Groups are the types of ranks up to 4.3.
type ch3Groups struct {
	Comm  inferior.Struct[ch3Comm]  `c:"MPIR_Comm"`
	Table inferior.Struct[ch3Table] `c:"MPIDI_VCRT"`
	VC    inferior.Struct[ch3VC]    `c:"MPIDI_VC"`
}

type ch3Comm struct {
	Table      inferior.Addr `c:"dev.vcrt"`
	LocalTable inferior.Addr `c:"dev.local_vcrt"`
}

type ch3Table struct {
	Size    int32          `c:"size"`
	Entries inferior.Place `c:"vcr_table"`
}

type ch3VC struct {
	Number int32 `c:"lpid"`
}

// A ch3 request's state (src/mpid/ch3/include/mpidimpl.h, 4.0 to 5.0): two bits
// for how the message travels, and from the fifth on what the operation is.
const (
	ch3Eager      = 1
	ch3Rendezvous = 2
	ch3Message    = 0x3
	ch3Type       = 0x3f
	ch3TypeShift  = 4
)

// Types of a ch3 request, and what MPI calls the operation.
var ch3Kinds = map[uint32]struct{ once, persistent string }{
	0: {"irecv", "recv_init"},
	1: {"isend", "send_init"},
	2: {"irsend", "rsend_init"},
	3: {"issend", "ssend_init"},
	4: {"ibsend", "bsend_init"},
}

type ch3 struct {
	*source
	ch3Types
	groups ch3Groups
	// numbers of processes, by the address of their virtual connection
	numbers map[inferior.Addr]int32
}

func (d *ch3) name() string { return "ch3" }

func (d *ch3) elsewhere(*commState) error { return nil }

// progress counts requests that are over (ch3_progress.c of the channel nemesis).
func (d *ch3) progress() mqs.Maybe[uint64] {
	at, ok := d.symbols[symCompleted]
	if !ok || !d.Counter.Bound() {
		return mqs.Maybe[uint64]{}
	}
	c, err := d.Counter.ReadAt(d.r, at.Addr)
	if err != nil {
		return mqs.Maybe[uint64]{}
	}
	return mqs.Known(uint64(uint32(c.Value)))
}

func (d *ch3) group(a inferior.Addr, local bool, size int32) ([]mqs.Maybe[int32], error) {
	c, err := d.groups.Comm.ReadAt(d.r, a)
	if err != nil {
		return nil, err
	}
	at := c.Table
	if local {
		at = c.LocalTable
	}
	table, err := d.groups.Table.ReadAt(d.r, at)
	if err != nil {
		return nil, err
	}
	if table.Size < size {
		return nil, fmt.Errorf("it has %d members, and %d connections", size, table.Size)
	}
	return d.once(membership{size: size, at: inferior.Addr(table.Entries)}, func(out []mqs.Maybe[int32]) error {
		return d.connected(inferior.Addr(table.Entries), out)
	})
}

// connected fills in the global ranks of those that a table's connections lead to.
func (d *ch3) connected(entries inferior.Addr, out []mqs.Maybe[int32]) error {
	connections, err := d.r.Pointers(entries, len(out))
	if err != nil {
		return err
	}
	var ranges []inferior.Range
	for _, vc := range connections {
		if _, ok := d.numbers[vc]; !ok {
			ranges = append(ranges, inferior.Range{Addr: vc, Len: d.groups.VC.Size()})
		}
	}
	if err := d.r.Prefetch(ranges); err != nil {
		return err
	}
	for i, vc := range connections {
		number, ok := d.numbers[vc]
		if !ok {
			v, err := d.groups.VC.ReadAt(d.r, vc)
			if err != nil {
				return err
			}
			number = v.Number
			d.numbers[vc] = number
		}
		out[i] = d.inWorld(int64(number))
	}
	return nil
}

func (d *ch3) posted() ([]inferior.Addr, error)     { return d.head(symPosted) }
func (d *ch3) unexpected() ([]inferior.Addr, error) { return d.head(symUnexpected) }

func (d *ch3) sentToSelf() (inferior.Addr, bool) { return 0, false }

func (d *ch3) head(name string) ([]inferior.Addr, error) {
	sym, ok := d.symbols[name]
	if !ok {
		return nil, fmt.Errorf("the library has no symbol %s", name)
	}
	return d.r.Pointers(sym.Addr, 1)
}

func (d *ch3) isHalf(*requestAt, map[inferior.Addr]bool) bool { return false }

// request reads what ch3 keeps of a request; what a request does not use is stale.
func (d *ch3) request(r *requestAt) (ch3Request, asked) {
	q, err := d.Request.ReadAt(d.r, r.at)
	if err != nil {
		return q, asked{}
	}
	return q, asked{
		peer: mqs.Known(q.Rank), tag: mqs.Known(q.Tag), buffer: mqs.Known(q.Buffer),
		count: mqs.Known(q.Count), datatype: mqs.Known(q.Datatype), kind: ch3Kinds[q.State>>ch3TypeShift&ch3Type].once,
	}
}

func (d *ch3) send(r *requestAt, c *commState) asked {
	q, a := d.request(r)
	a.context = mqs.Known(q.Context - c.Context)
	return a
}

// receive: one that was posted before its message came keeps what was asked for.
// One that found its message there has that message's envelope instead, and
// nothing tells the two apart, but that a message has no wildcards.
func (d *ch3) receive(r *requestAt, c *commState, pending bool) asked {
	q, a := d.request(r)
	a.kind = "irecv"
	a.context = mqs.Known(q.Context - c.RecvContext)
	if !pending && !r.cancelled() && q.Rank != anySource && q.Tag != anyTag {
		a.peer, a.tag = mqs.Maybe[int32]{}, mqs.Maybe[int32]{}
	}
	return a
}

func (d *ch3) persistent(r *requestAt) asked {
	q, a := d.request(r)
	a.kind = ch3Kinds[q.State>>ch3TypeShift&ch3Type].persistent
	return a
}

// isMatched: a receive in no list has matched, and its status is the message's.
func (d *ch3) isMatched(r *requestAt) (message, bool) {
	return message{source: r.Source, tag: r.Tag, bytes: mqs.Known(r.bytes())}, true
}

func (d *ch3) arrived(r *requestAt) message {
	q, _ := d.request(r)
	m := message{source: q.Rank, tag: q.Tag &^ tagErrorBits, bytes: mqs.Known(r.bytes()), context: q.Context}
	switch q.State & ch3Message {
	case ch3Eager:
		m.how = "eager"
		if r.bytes() > 0 {
			m.buffer = q.Tmpbuf
		}
	case ch3Rendezvous:
		m.how = mqs.Rendezvous
	}
	return m
}
