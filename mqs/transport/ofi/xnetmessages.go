package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What a header is in front of (prov/tcp/src/xnet_proto.h, 1.18 to 2.6).
const (
	xnetTagged      = 1 // xnet_op_tag
	xnetTaggedWaits = 5 // xnet_op_tag_rts, of a message whose data waits for an answer
	xnetData        = 7 // xnet_op_data, of the data of such a one
	xnetHasData     = 1 // XNET_REMOTE_CQ_DATA, in the flags
)

// isTagged says whether it is in front of a tagged message.
func (h *xnetHeader) isTagged() bool { return h.Op == xnetTagged || h.Op == xnetTaggedWaits }

// tag is that of a tagged message.
func (h *xnetHeader) tag() uint64 {
	if h.Flags&xnetHasData != 0 {
		return h.DataTag
	}
	return h.Tag
}

// length is that of the data in bytes, -1 for one that can't be.
func (h *xnetHeader) length() int64 {
	switch {
	case h.Op == xnetTaggedWaits && h.Flags&xnetHasData != 0:
		return length(h.DataWaits)
	case h.Op == xnetTaggedWaits:
		return length(h.Waits)
	case h.Size < uint64(h.Front):
		return -1
	}
	return length(h.Size - uint64(h.Front))
}

// errUnread means that messages may be where the process has not fetched them from.
var errUnread = errors.New("the provider tcp reads no further from a peer of which it holds a message that it has not saved " +
	"(of each peer it saves as many as FI_TCP_MAX_SAVED says, 64 if that is not set)")

// readUnexpected reads the messages that are saved, by their peers, and that at which each of the other sockets waits.
func (x *xnet) readUnexpected() error {
	var seen inferior.Addrs
	err := ring(x.domain.Saved, inferior.Places(&x.Domain, x.ep.Domain).SavedAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&x.Saved, l, func(s *xnetSaved) *inferior.Embedded[link] { return &s.InRing })
		s, err := x.Saved.Read(x.r, at)
		if err != nil {
			return link{}, err
		}
		count := int32(0)
		err = each(s.Queue, &seen, func(at inferior.Ptr[xnetEntry]) (inferior.Ptr[xnetEntry], error) {
			m, context, next, err := x.saved(at)
			if err == nil {
				count++
				x.take(m, context)
			}
			return next, err
		})
		if err == nil && count != s.Count {
			err = fmt.Errorf("the list at %s has %d messages, and says %d", at, count, s.Count)
		}
		return s.Links, err
	})
	isWaiting := false
	if err == nil {
		err = ring(x.domain.Waiting, inferior.Places(&x.Domain, x.ep.Domain).WaitingAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
			at := inferior.ContainerOf(&x.Socket, l, func(s *xnetSocket) *inferior.Embedded[link] { return &s.InRing })
			s, m, err := x.waiting(at)
			if err == nil {
				isWaiting = true
				x.take(m, s.Claim)
			}
			return s.Links, err
		})
	}
	switch {
	case err != nil:
		return fmt.Errorf("the unexpected messages: %w", err)
	case isWaiting:
		return errUnread
	}
	return nil
}

// take adds a message, or keeps it for the context that has claimed it.
func (x *xnet) take(m transport.Message, context inferior.Addr) {
	if context != 0 {
		x.taken[context] = m
	} else {
		x.queues.Unexpected = append(x.queues.Unexpected, m)
	}
}

// saved reads a saved message, and the context that has claimed it.
func (x *xnet) saved(at inferior.Ptr[xnetEntry]) (m transport.Message, context inferior.Addr, next inferior.Ptr[xnetEntry], err error) {
	s, err := x.Entry.Read(x.r, at)
	switch {
	case err != nil:
		return m, 0, 0, err
	case !s.Header.isTagged() || s.Header.tag() != s.Tag:
		return m, 0, 0, fmt.Errorf("the message at %s has the tags %#x and %#x", at, s.Header.tag(), s.Tag)
	}
	m = x.of(at.Addr(), &s.Header)
	m.Peer = peerOf(s.Peer)
	if !m.Rendezvous {
		m.Data = s.Buffer
		if m.Data == 0 {
			m.Data = s.Data.Addr()
		}
	}
	return m, s.Context, s.Next, nil
}

// waiting reads a socket that holds a message, of which only what stands in front has been read.
func (x *xnet) waiting(at inferior.Ptr[xnetSocket]) (s xnetSocket, m transport.Message, err error) {
	s, err = x.Socket.Read(x.r, at)
	switch {
	case err != nil:
		return s, m, err
	case s.SRX != x.ep.SRX:
		return s, m, fmt.Errorf("the socket at %s is another endpoint's", at)
	case !s.Header.isTagged():
		return s, m, fmt.Errorf("the socket at %s waits for something else", at)
	}
	m = x.of(at.Addr(), &s.Header)
	m.Peer = x.peerAt(s.Peer)
	return s, m, nil
}

// of is the message that a header is in front of.
func (x *xnet) of(at inferior.Addr, h *xnetHeader) transport.Message {
	beside := mqs.Maybe[uint64]{Value: h.Data, Known: h.Flags&xnetHasData != 0}
	return transport.Message{Addr: at, Tag: h.tag(), Beside: beside, Length: h.length(), Rendezvous: h.Op == xnetTaggedWaits}
}

// peerAt is the peer whose address stands somewhere.
func (x *xnet) peerAt(at inferior.Ptr[peerAddr]) transport.Peer {
	if at == 0 {
		return transport.Peer{}
	}
	p, err := x.PeerAddr.Read(x.r, at)
	if err != nil {
		return transport.Peer{}
	}
	return peerOf(p.Addr)
}

// message reads a saved message.
func (x *xnet) message(at inferior.Addr) (transport.Message, error) {
	m, _, _, err := x.saved(inferior.Ptr[xnetEntry](at))
	return m, err
}

func (x *xnet) claimed(context inferior.Addr) (transport.Message, error) {
	m, ok := x.taken[context]
	if !ok {
		return m, errNotClaimed(context)
	}
	return m, nil
}
