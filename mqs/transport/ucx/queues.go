package ucx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
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
	places := []inferior.Addr{inferior.Addr(w.match.Wildcard)}
	for i := range buckets {
		places = append(places, w.match.Hash+inferior.Addr(i*size))
	}
	if err := w.u.r.Prefetch([]inferior.Range{{Addr: w.match.Hash, Len: buckets * size}}); err != nil {
		return err
	}
	w.posted = map[inferior.Addr]bool{}
	for i, place := range places {
		q, err := w.u.Queue.ReadAt(w.u.r, place)
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
			case r.Worker != w.addr:
				return fmt.Errorf("the receive at %s is another worker's", r.addr)
			case (i == 0) == (r.RecvMask == fullMask):
				return fmt.Errorf("the receive at %s has mask %#x and lies in queue %d", r.addr, r.RecvMask, i-1)
			case i > 0 && bucketOf(r.RecvTag) != i-1:
				return fmt.Errorf("the receive at %s has tag %#x and lies in queue %d", r.addr, r.RecvTag, i-1)
			}
			w.posted[r.addr] = true
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
		if q.Tail == inferior.Addr(q.At) {
			return
		}
		offset := inferior.Addr(w.u.Request.Places(0).QueueAt)
		var last requestAt
		next := func(at inferior.Addr) (inferior.Addr, error) {
			a := at - offset
			r, err := w.u.Request.ReadAt(w.u.r, a)
			last = requestAt{a, r}
			if at == q.Tail {
				return 0, err
			}
			return r.Next, err
		}
		ended := false
		for at, err := range inferior.Walk(q.Head, 0, maxQueued, next) {
			if !yield(last, err) || err != nil {
				return
			}
			ended = at == q.Tail
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
	// The first of two links is that of its bucket.
	offset := inferior.Addr(u.Desc.Places(0).Links) + inferior.Addr(u.Link.Size())
	before := inferior.Addr(w.match.UnexpectedAt)
	next := func(at inferior.Addr) (inferior.Addr, error) {
		l, err := u.Link.ReadAt(u.r, at)
		if err != nil {
			return 0, err
		}
		if l.Prev != before {
			return 0, fmt.Errorf("the unexpected message at %s does not follow the one before", at-offset)
		}
		before = at
		m, err := w.MessageAt(at - offset)
		w.queues.Unexpected = append(w.queues.Unexpected, m)
		return l.Next, err
	}
	for _, err := range inferior.Walk(w.match.Unexpected.Next, inferior.Addr(w.match.UnexpectedAt), maxQueued, next) {
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
	d, err := u.Desc.ReadAt(u.r, a)
	if err != nil {
		return transport.Message{}, err
	}
	header := a + inferior.Addr(u.Desc.Size())
	m := transport.Message{Addr: a, Length: -1}
	if m.Tag, err = u.r.Uint(header, 8); err != nil { // all headers begin with it
		return transport.Message{}, err
	}
	data := header + inferior.Addr(d.PayloadOffset)
	switch {
	case d.Flags&descRndv != 0:
		h, err := u.RTS.ReadAt(u.r, header)
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
		h, err := u.First.ReadAt(u.r, header)
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
