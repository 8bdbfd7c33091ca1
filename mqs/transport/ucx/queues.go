package ucx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// buckets is the number of queues that posted receives of a single tag are spread over, as are
// unexpected messages: hashSize (UCP_TAG_MATCH_HASH_SIZE, ucp/tag/tag_match.inl, 1.11 to 1.23) rounded
// up to a power of two (ucp_tag_match_init, ucp/tag/tag_match.c), since bucketOf can be more than hashSize.
const (
	hashSize = 1021
	buckets  = 1024
)

// bucketOf is the bucket of a tag.
func bucketOf(tag uint64) int { return int(uint32(tag)%hashSize ^ uint32(tag>>32)%hashSize) }

// fullMask is the mask of a receive of a single tag.
const fullMask = ^uint64(0)

// maxQueued bounds a queue.
const maxQueued = 1 << 26

// readPosted reads the queues of posted receives.
func (w *Worker) readPosted() error {
	size := w.u.Queue.Size()
	queues := []inferior.Ptr[queue]{w.match.Wildcard.Ptr()}
	for i := range buckets {
		queues = append(queues, w.match.Hash+inferior.Ptr[queue](i*size))
	}
	if err := w.u.r.Prefetch([]inferior.Range{{Addr: w.match.Hash.Addr(), Len: buckets * size}}); err != nil {
		return err
	}
	w.posted = map[inferior.Ptr[request]]bool{}
	for i, at := range queues {
		q, err := w.u.Queue.Read(w.u.r, at)
		if err != nil {
			return err
		}
		if i > hashSize && q.Tail == 0 {
			continue // UCX makes none such: a recording of before these were read lacks them
		}
		for r, err := range w.queued(q) {
			if err != nil {
				return fmt.Errorf("the receives of queue %d: %w", i-1, err)
			}
			switch {
			case r.Worker != w.at:
				return fmt.Errorf("the receive at %s is another worker's", r.at)
			case (i == 0) == (r.RecvMask == fullMask):
				return fmt.Errorf("the receive at %s has mask %#x and lies in queue %d", r.at, r.RecvMask, i-1)
			case i > 0 && bucketOf(r.RecvTag) != i-1:
				return fmt.Errorf("the receive at %s has tag %#x and lies in queue %d", r.at, r.RecvTag, i-1)
			}
			w.posted[r.at] = true
			w.queues.Posted = append(w.queues.Posted, w.u.receive(r, transport.Posted))
		}
	}
	slices.SortStableFunc(w.queues.Posted, func(a, b transport.Receive) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return nil
}

// queued walks a queue of receives. It ends where its tail says: what follows the
// last element is set only in a UCX with assertions.
func (w *Worker) queued(q queue) func(yield func(requestAt, error) bool) {
	return func(yield func(requestAt, error) bool) {
		if q.Tail == q.HeadAt.Ptr() {
			return
		}
		isLast := func(e inferior.Ptr[queued]) bool { return e.Addr() == q.Tail.Addr() } // an element is its pointer
		var last requestAt
		next := func(e inferior.Ptr[queued]) (inferior.Ptr[queued], error) {
			at := inferior.ContainerOf(&w.u.Request, e, func(r *request) *inferior.Embedded[queued] { return &r.InQueue })
			r, err := w.u.Request.Read(w.u.r, at)
			last = requestAt{at, r}
			if isLast(e) {
				return 0, err
			}
			return r.Next, err
		}
		ended := false
		for e, err := range inferior.Walk(q.Head, 0, maxQueued, next) {
			if !yield(last, err) || err != nil {
				return
			}
			ended = isLast(e)
		}
		if !ended {
			yield(last, errors.New("the queue does not end where it says"))
		}
	}
}

// Bits of an unexpected message's flags (ucp/core/ucp_request.h, 1.11 to 1.23).
const (
	descEager     = 1 << 1
	descEagerOnly = 1 << 2
	descEagerSync = 1 << 3
	descOffload   = 1 << 4 // from the network card's matching
	descRndv      = 1 << 6
)

// readUnexpected reads the ring of unexpected messages.
func (w *Worker) readUnexpected() error {
	u := w.u
	before := w.match.UnexpectedAt.Ptr()
	next := func(at inferior.Ptr[link]) (inferior.Ptr[link], error) {
		l, err := u.Link.Read(u.r, at)
		if err != nil {
			return 0, err
		}
		// The first of a message's two links is that of its bucket.
		desc := inferior.ContainerOf(&u.Desc, at-inferior.Ptr[link](u.Link.Size()), func(d *recvDesc) *inferior.Embedded[link] { return &d.Links })
		if l.Prev != before {
			return 0, fmt.Errorf("the unexpected message at %s does not follow the one before", desc)
		}
		before = at
		m, err := w.MessageAt(desc.Addr())
		if err == nil {
			w.queues.Unexpected = append(w.queues.Unexpected, m)
		}
		return l.Next, err
	}
	for _, err := range inferior.Walk(w.match.Unexpected.Next, w.match.UnexpectedAt.Ptr(), maxQueued, next) {
		if err != nil {
			return fmt.Errorf("the unexpected messages: %w", err)
		}
	}
	if before != w.match.Unexpected.Prev {
		return errors.New("the unexpected messages do not end where they say")
	}
	return nil
}

// MessageAt reads the message at a, which may have been taken out of the queue
// ([transport.Matcher]): its ucp_recv_desc_t.
func (w *Worker) MessageAt(a inferior.Addr) (transport.Message, error) {
	u := w.u
	d, err := u.Desc.Read(u.r, inferior.Ptr[recvDesc](a))
	if err != nil {
		return transport.Message{}, err
	}
	header := a + inferior.Addr(u.Desc.Size()) // of one of several types
	m := transport.Message{Addr: a, Length: -1}
	if m.Tag, err = u.r.Uint(header, 8); err != nil { // all headers begin with it
		return transport.Message{}, err
	}
	data := header + inferior.Addr(d.PayloadOffset)
	switch {
	case d.Flags&descRndv != 0:
		h, err := u.RTS.Read(u.r, inferior.Ptr[rtsHeader](header))
		if err != nil {
			return transport.Message{}, err
		}
		m.Length, m.Rendezvous, m.Sender = length(h.Length), true, h.Request
	case d.Flags&descEagerOnly != 0:
		if d.PayloadOffset > d.Length {
			return transport.Message{}, fmt.Errorf("the message at %s has %d bytes of header in %d", a, d.PayloadOffset, d.Length)
		}
		m.Length, m.Data = int64(d.Length-d.PayloadOffset), data
	case d.Flags&(descEager|descOffload) == descEager:
		h, err := u.First.Read(u.r, inferior.Ptr[firstHeader](header))
		if err != nil {
			return transport.Message{}, err
		}
		m.Length, m.Data = length(h.Length), data
	}
	if d.Flags&(descEagerSync|descOffload|descRndv) == descEagerSync {
		// Of a synchronous one the header ends with the sender's request.
		if m.Sender, err = u.r.Uint(data-8, 8); err != nil {
			return transport.Message{}, err
		}
	}
	return m, nil
}
