package ofi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// An ofi_dyn_arr has a chunk of items for each kibi of indices (include/ofi_indexer.h, 2.1).
const (
	listChunks   = 1 << 10
	listsInChunk = 1 << 10
)

// sharedQueue is a queue of the kind that providers share, util_srx: rxm has one from 2.0.
type sharedQueue struct {
	*Endpoint
	at inferior.Ptr[shared]
	shared
}

func (e *Endpoint) openShared() (queue, error) {
	at, o := e.ep.Shared, e.o
	if !o.Shared.Bound() || !o.SharedEntry.Bound() || !o.SharedPeer.Bound() || !o.List.Bound() || at == 0 {
		return nil, errors.New("the endpoint has no queue of tagged messages")
	}
	s, err := o.Shared.Read(o.r, at)
	switch {
	case err != nil:
		return nil, err
	case s.Self != at || s.Stride != uint64(o.List.Size()):
		return nil, fmt.Errorf("the queue at %s says that it is at %s and that its lists have %d bytes", at, s.Self, s.Stride)
	}
	return &sharedQueue{e, at, s}, nil
}

// each walks a list, no entry of which is in another one, and hands each to read, which returns what comes next.
func (q *sharedQueue) each(l list, seen *inferior.Addrs, read func(inferior.Ptr[sharedEntry]) (sharedEntry, error)) error {
	var last inferior.Ptr[sharedEntry]
	next := func(at inferior.Ptr[sharedEntry]) (inferior.Ptr[sharedEntry], error) {
		e, err := read(at)
		last = at
		return inferior.Ptr[sharedEntry](e.Next), err
	}
	mark := func(at inferior.Ptr[sharedEntry]) bool { return seen.Add(at.Addr()) }
	for _, err := range inferior.WalkMarking(l.Head, 0, maxQueued, next, mark) {
		if err != nil {
			return err
		}
	}
	if l.Head != 0 && last != l.Tail {
		return fmt.Errorf("the list from %s does not end at %s", l.Head, l.Tail)
	}
	return nil
}

// readPosted reads the posted receives: those from any peer and those from each stand in lists of their own, and
// are numbered together.
func (q *sharedQueue) readPosted() error {
	var seen inferior.Addrs
	err := q.readFrom(AnyPeer, q.AnyPeer, &seen)
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	o := q.o
	chunks, err := inferior.ReadPointers(o.r, inferior.Ptr[inferior.Ptr[list]](o.Shared.Places(q.at).ByPeer.Addr()), listChunks)
	if err != nil {
		return err
	}
	for i, chunk := range chunks {
		if chunk == 0 {
			continue
		}
		width := o.List.Size()
		if err := o.r.Spend(width * listsInChunk); err != nil {
			return err
		}
		all, err := o.r.Bytes(chunk.Addr(), width*listsInChunk)
		if err != nil {
			return fmt.Errorf("the posted receives: %w", err)
		}
		for k := range listsInChunk {
			l, _ := o.List.Decode(o.r, all[k*width:])
			if err := q.readFrom(uint64(i*listsInChunk+k), l, &seen); err != nil {
				return fmt.Errorf("the posted receives: %w", err)
			}
		}
	}
	posted := q.queues.Posted
	slices.SortFunc(posted, func(a, b transport.Receive) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return nil
}

// readFrom reads the receives of a list, which are all from a peer.
func (q *sharedQueue) readFrom(peer uint64, l list, seen *inferior.Addrs) error {
	o, e := q.o, q.Endpoint
	return q.each(l, seen, func(at inferior.Ptr[sharedEntry]) (sharedEntry, error) {
		r, err := o.SharedEntry.Read(o.r, at)
		switch {
		case err != nil:
			return r, err
		case r.Peer != peer:
			return r, fmt.Errorf("the receive at %s is from peer %#x, and stands among those from %#x", at, r.Peer, peer)
		case r.Parts.Addr() != at.Addr()+inferior.Addr(o.SharedEntry.Size()):
			return r, fmt.Errorf("the receive at %s has its parts at %s", at, r.Parts)
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: peerOf(r.Peer), Sequence: r.Sequence}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, length(r.Length)
		if r.Count == 1 {
			first, err := o.Part.Read(o.r, r.Parts)
			if err != nil {
				return r, err
			}
			out.Buffer = first.Base
		}
		e.queues.Posted = append(e.queues.Posted, out)
		return r, nil
	})
}

// readUnexpected reads the unexpected messages, in the order in which a receive from any peer looks at them. The
// provider's buffers, each of which may be on a page of its own, are fetched together.
func (q *sharedQueue) readUnexpected() error {
	all, err := q.walkUnexpected()
	var buffers []inferior.Range
	for _, s := range all {
		buffers = append(buffers, inferior.Range{Addr: s.Received.Addr(), Len: q.o.Received.Size()})
	}
	if err := q.o.r.Prefetch(buffers); err != nil {
		return err
	}
	e := q.Endpoint
	for _, s := range all {
		m, err := q.of(s)
		if err != nil {
			return fmt.Errorf("the unexpected messages: %w", err)
		}
		e.queues.Unexpected = append(e.queues.Unexpected, m)
	}
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

// messageAt is an entry of a message, and where it stands.
type messageAt struct {
	at inferior.Ptr[sharedEntry]
	sharedEntry
}

// walkUnexpected finds the messages of senders that are not known, and then those of each peer that has some.
// What there is before an error is returned with it.
func (q *sharedQueue) walkUnexpected() (all []messageAt, err error) {
	var seen inferior.Addrs
	take := func(at inferior.Ptr[sharedEntry]) (sharedEntry, error) {
		s, err := q.o.SharedEntry.Read(q.o.r, at)
		if err == nil {
			all = append(all, messageAt{at, s})
		}
		return s, err
	}
	err = ring(q.OfNobody, q.OfNobodyAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		e, err := take(inferior.Ptr[sharedEntry](l))
		seen.Add(l.Addr())
		return link{Next: e.Next, Prev: e.Prev}, err
	})
	if err != nil {
		return all, err
	}
	err = ring(q.Peers, q.PeersAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&q.o.SharedPeer, l, func(p *sharedPeer) *inferior.Embedded[link] { return &p.InRing })
		p, err := q.o.SharedPeer.Read(q.o.r, at)
		if err == nil {
			err = q.each(p.Tagged, &seen, take)
		}
		return p.Links, err
	})
	return all, err
}

func (q *sharedQueue) message(at inferior.Addr) (transport.Message, error) {
	s, err := q.o.SharedEntry.Read(q.o.r, inferior.Ptr[sharedEntry](at))
	if err != nil {
		return transport.Message{}, err
	}
	return q.of(messageAt{inferior.Ptr[sharedEntry](at), s})
}

// of makes of an entry the message. The provider's buffer has it, and leads back to the entry.
func (q *sharedQueue) of(s messageAt) (transport.Message, error) {
	b, err := q.o.Received.Read(q.o.r, s.Received)
	switch {
	case err != nil:
		return transport.Message{}, err
	case s.Shared != q.at || b.EP != q.Endpoint.at || b.Shared != s.at:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", s.at)
	case b.Packet.Tag != s.Tag || b.Packet.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", s.at, b.Packet.Tag, s.Tag)
	}
	m := transport.Message{Addr: s.at.Addr(), Tag: s.Tag, Peer: peerOf(s.Peer)}
	q.fill(&m, &b)
	return m, nil
}
