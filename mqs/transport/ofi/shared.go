package ofi

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// sharedQueue is a queue of the kind that providers share, util_srx: rxm has one from 2.0, others from 1.19.
type sharedQueue struct {
	*Endpoint
	sharedTypes
	at inferior.Ptr[shared]
	shared
	takes takes
}

// takes is a provider that takes messages for a queue, be it the queue's own or one beneath that.
type takes interface {
	// kept is where the provider keeps a message.
	kept(e *peerEntry) inferior.Range
	// describe says what is known of a message, but for its address. What the provider keeps leads back to the entry, which
	// stands at an address.
	describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error)
}

// messageAt is an entry of a message, and where it stands.
type messageAt struct {
	at inferior.Ptr[sharedEntry]
	sharedEntry
}

func openShared(e *Endpoint, l *layout.Layouts, at inferior.Ptr[shared], by takes) (*sharedQueue, error) {
	q := &sharedQueue{Endpoint: e, at: at, takes: by}
	err := inferior.Bind(&q.sharedTypes, l)
	if err != nil {
		return nil, err
	}
	q.shared, err = q.Shared.Read(e.r, at)
	switch {
	case err != nil:
		return nil, err
	case q.Self != at || q.Stride != uint64(e.List.Size()):
		return nil, fmt.Errorf("the queue at %s says that it is at %s and that its lists have %d bytes", at, q.Self, q.Stride)
	}
	return q, nil
}

func (q *sharedQueue) readPosted() error {
	return q.readPostedIn(q.AnyPeer, inferior.Places(&q.Shared, q.at).ByPeer.Addr(), q.readFrom)
}

// readFrom reads the receives of a list, which are all from a peer.
func (q *sharedQueue) readFrom(peer uint64, l list, seen *inferior.Addrs) error {
	return each(l, seen, func(at inferior.Ptr[sharedEntry]) (inferior.Ptr[sharedEntry], error) {
		r, err := q.SharedEntry.Read(q.r, at)
		switch {
		case err != nil:
			return 0, err
		case r.Peer != peer:
			return 0, fmt.Errorf("the receive at %s is from peer %#x, and stands among those from %#x", at, r.Peer, peer)
		case r.Parts.Addr() != at.Addr()+inferior.Addr(q.SharedEntry.Size()):
			return 0, fmt.Errorf("the receive at %s has its parts at %s", at, r.Parts)
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: peerOf(r.Peer), Sequence: r.Sequence}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, r.asked()
		return inferior.Ptr[sharedEntry](r.Next), q.post(out, r.Count, r.Parts)
	})
}

// asked is the length of a receive in bytes, -1 if it is left to its parts.
func (e *peerEntry) asked() int64 {
	if e.LengthAt == 0 {
		return -1
	}
	return length(e.Length)
}

// readUnexpected reads the unexpected messages, in the order in which a receive from any peer looks at them. What the
// provider keeps of them, each of which may be on a page of its own, is fetched together.
func (q *sharedQueue) readUnexpected() error {
	all, err := q.walkUnexpected()
	var kept []inferior.Range
	for _, s := range all {
		kept = append(kept, q.takes.kept(&s.peerEntry))
	}
	if err := q.r.Prefetch(kept); err != nil {
		return err
	}
	for _, s := range all {
		m, readErr := q.read(s)
		switch {
		case errors.Is(readErr, errNotBeneath):
			err = cmp.Or(err, readErr)
		case readErr != nil:
			return fmt.Errorf("the unexpected messages: %w", readErr)
		default:
			q.queues.Unexpected = append(q.queues.Unexpected, m)
		}
	}
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

// walkUnexpected finds the messages of senders that are not known, and then those of each peer that has some.
// What there is before an error is returned with it.
func (q *sharedQueue) walkUnexpected() (all []messageAt, err error) {
	var seen inferior.Addrs
	take := func(at inferior.Ptr[sharedEntry]) (sharedEntry, error) {
		s, err := q.SharedEntry.Read(q.r, at)
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
		at := inferior.ContainerOf(&q.SharedPeer, l, func(p *sharedPeer) *inferior.Embedded[link] { return &p.InRing })
		p, err := q.SharedPeer.Read(q.r, at)
		if err == nil {
			err = each(p.Tagged, &seen, func(at inferior.Ptr[sharedEntry]) (inferior.Ptr[sharedEntry], error) {
				s, err := take(at)
				return inferior.Ptr[sharedEntry](s.Next), err
			})
		}
		return p.Links, err
	})
	return all, err
}

func (q *sharedQueue) message(at inferior.Addr) (transport.Message, error) {
	s, err := q.SharedEntry.Read(q.r, inferior.Ptr[sharedEntry](at))
	if err != nil {
		return transport.Message{}, err
	}
	return q.read(messageAt{inferior.Ptr[sharedEntry](at), s})
}

// read makes of an entry of the queue the message. The provider that has taken it gets at this queue.
func (q *sharedQueue) read(s messageAt) (transport.Message, error) {
	t, err := q.Taker.Read(q.r, s.Taker)
	if err != nil {
		return transport.Message{}, err
	}
	if t.Shared != q.at {
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", s.at)
	}
	m, err := q.takes.describe(s.At.Ptr(), &s.peerEntry)
	m.Addr = s.at.Addr()
	return m, err
}

// claimed: a context that has claimed a message begins with where it is.
func (q *sharedQueue) claimed(context inferior.Addr) (transport.Message, error) {
	held, err := q.r.Pointers(context, 1)
	if err != nil {
		return transport.Message{}, err
	}
	return q.message(held[0])
}

// same: an address is given once.
func (q *sharedQueue) same(p transport.Peer) transport.Peer { return p }
