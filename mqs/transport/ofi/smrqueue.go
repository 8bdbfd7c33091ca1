package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// smrOwn is the queue that shm had of its own (smr_srx_ctx): receives and messages stand in the order in which they have
// come, whoever their peer is.
type smrOwn struct {
	*Endpoint
	smrOwnTypes
	at    inferior.Ptr[smrOwnQueue]
	queue smrOwnQueue
	takes takes
}

// smrOwnTypes are those of shm's own queue (prov/shm/src/smr.h, 1.17 and 1.18).
type smrOwnTypes struct {
	Queue inferior.Struct[smrOwnQueue] `c:"smr_srx_ctx"`
	Entry inferior.Struct[smrOwnEntry] `c:"smr_rx_entry"`
}

type smrOwnQueue struct {
	Self         inferior.Ptr[smrOwnQueue] `c:"peer_srx.ep_fid.fid.context"`
	Posted       link                      `c:"trecv_queue.list"`
	PostedAt     inferior.Embedded[link]   `c:"trecv_queue.list"`
	Unexpected   link                      `c:"unexp_tagged_queue.list"`
	UnexpectedAt inferior.Embedded[link]   `c:"unexp_tagged_queue.list"`
}

// smrOwnEntry is a receive or an unexpected message. It begins with its links.
type smrOwnEntry struct {
	Next      inferior.Ptr[link]           `c:"peer_entry.next"`
	Prev      inferior.Ptr[link]           `c:"peer_entry.prev"`
	At        inferior.Embedded[peerEntry] `c:"peer_entry"`
	peerEntry `c:"peer_entry"`
	Ignore    uint64                  `c:"ignore"`
	Inside    inferior.Embedded[part] `c:"iov"` // the parts
}

func openSMRQueue(e *Endpoint, l *layout.Layouts, at inferior.Ptr[smrOwnQueue], by takes) (*smrOwn, error) {
	q := &smrOwn{Endpoint: e, at: at, takes: by}
	err := inferior.Bind(&q.smrOwnTypes, l)
	if err != nil {
		return nil, err
	}
	q.queue, err = q.Queue.Read(e.r, at)
	if err == nil && q.queue.Self != at {
		err = fmt.Errorf("the queue at %s says that it is at %s", at, q.queue.Self)
	}
	return q, err
}

// each hands the entries of a ring to read.
func (q *smrOwn) each(head link, at inferior.Ptr[link], read func(inferior.Ptr[smrOwnEntry], *smrOwnEntry) error) error {
	return ring(head, at, func(l inferior.Ptr[link]) (link, error) {
		at := inferior.Ptr[smrOwnEntry](l)
		e, err := q.Entry.Read(q.r, at)
		if err == nil {
			err = read(at, &e)
		}
		return link{Next: e.Next, Prev: e.Prev}, err
	})
}

// readPosted reads the posted receives. They lead to their own parts.
func (q *smrOwn) readPosted() error {
	err := q.each(q.queue.Posted, q.queue.PostedAt.Ptr(), func(at inferior.Ptr[smrOwnEntry], r *smrOwnEntry) error {
		if r.Parts != r.Inside.Ptr() {
			return fmt.Errorf("the receive at %s has its parts at %s", at, r.Parts)
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: peerOf(r.Peer), Sequence: uint64(len(q.queues.Posted))}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, r.asked()
		return q.post(out, r.Count, r.Parts)
	})
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	return nil
}

// readUnexpected reads the unexpected messages. What is kept of them is fetched together.
func (q *smrOwn) readUnexpected() error {
	type message struct {
		at inferior.Ptr[smrOwnEntry]
		smrOwnEntry
	}
	var all []message
	var kept []inferior.Range
	err := q.each(q.queue.Unexpected, q.queue.UnexpectedAt.Ptr(), func(at inferior.Ptr[smrOwnEntry], e *smrOwnEntry) error {
		all, kept = append(all, message{at, *e}), append(kept, q.takes.kept(&e.peerEntry))
		return nil
	})
	if other := q.r.Prefetch(kept); other != nil {
		return other
	}
	for i := range all {
		m, other := q.read(all[i].at, &all[i].smrOwnEntry)
		if other != nil {
			return fmt.Errorf("the unexpected messages: %w", other)
		}
		q.queues.Unexpected = append(q.queues.Unexpected, m)
	}
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

// read makes of an entry of the queue the message. It knows the queue.
func (q *smrOwn) read(at inferior.Ptr[smrOwnEntry], e *smrOwnEntry) (transport.Message, error) {
	if e.Taker.Addr() != q.at.Addr() {
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	}
	m, err := q.takes.describe(e.At.Ptr(), &e.peerEntry)
	m.Addr = at.Addr()
	return m, err
}

func (q *smrOwn) message(at inferior.Addr) (transport.Message, error) {
	p := inferior.Ptr[smrOwnEntry](at)
	e, err := q.Entry.Read(q.r, p)
	if err != nil {
		return transport.Message{}, err
	}
	return q.read(p, &e)
}

// claimed: this queue took no notice of who wants to claim a message (smr_trecvmsg, prov/shm/src/smr_msg.c).
func (q *smrOwn) claimed(context inferior.Addr) (transport.Message, error) {
	return transport.Message{}, fmt.Errorf("the context at %s can't have claimed a message: this release of shm has none claimed", context)
}

// same: an address is given once.
func (q *smrOwn) same(p transport.Peer) transport.Peer { return p }
