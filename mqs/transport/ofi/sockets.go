package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// socketsName is what the provider calls itself where its endpoints do not say it.
const socketsName = "sockets"

// sockets is an endpoint of the provider sockets (sock_ep, prov/sockets/include/sock.h).
type sockets struct {
	*Endpoint
	socketsTypes
	attrAt     inferior.Ptr[sockAttr]
	receivesAt inferior.Ptr[sockReceives]
	receives   sockReceives
	sendsAt    inferior.Ptr[sockSends]
	sends      sockSends
	first      map[uint64]uint64 // of the places where a peer's address stands, by each
	mask       uint64
	taken      []inferior.Ptr[sockEntry] // messages that were claimed
	copied     []sockEntry               // receives that are filled out of the unexpected messages
}

// openSockets reads an endpoint of the provider, which does not name itself: instead its parts lead to each other, and say
// what they are.
func openSockets(e *Endpoint, l *layout.Layouts) (provider, error) {
	s := &sockets{Endpoint: e}
	err := inferior.Bind(&s.socketsTypes, l)
	if err != nil {
		return nil, err
	}
	attr, class, err := s.attr()
	if err != nil {
		return nil, err
	}
	if s.receives, err = s.Receives.Read(e.r, s.receivesAt); err != nil {
		return nil, err
	}
	if s.sends, err = s.Sends.Read(e.r, s.sendsAt); err != nil {
		return nil, err
	}
	isOf := s.receives.Attr == s.sends.Attr && s.receives.Domain == attr.Domain && s.sends.Domain == attr.Domain
	isSo := attr.Class == class && s.receives.Class == ClassReceives && s.receives.Attr == s.attrAt
	if !isOf || !isSo || s.receives.UsesShared != 0 {
		return nil, fmt.Errorf("the parts of the endpoint at %s do not lead to each other", e.at)
	}
	return s, s.readBook(attr.Book)
}

// attr finds the parts of the endpoint, and returns what they have in common and of which class that is to be. The program
// has the whole endpoint, or of one with several contexts the receives of one, whose sends have the same index.
func (s *sockets) attr() (attr sockAttr, class Class, err error) {
	ep, err := s.EP.Read(s.r, inferior.Ptr[sockEP](s.at))
	if err != nil {
		return attr, 0, err
	}
	if ep.Class == ClassEndpoint {
		s.attrAt = ep.Attr
		attr, err = s.Attr.Read(s.r, s.attrAt)
		s.receivesAt, s.sendsAt = attr.Receives, attr.Sends
		return attr, ClassEndpoint, err
	}
	s.receivesAt = inferior.Ptr[sockReceives](s.at)
	receives, err := s.Receives.Read(s.r, s.receivesAt)
	if err != nil {
		return attr, 0, err
	}
	s.attrAt = receives.Attr
	if attr, err = s.Attr.Read(s.r, s.attrAt); err != nil {
		return attr, 0, err
	}
	index := int(receives.Index)
	of, err := inferior.ReadPointers(s.r, attr.AllReceives, index+1)
	if err == nil && of[index] != s.receivesAt {
		err = fmt.Errorf("the endpoint at %s is not the one with its index, %d", s.at, index)
	}
	if err != nil {
		return attr, 0, err
	}
	to, err := inferior.ReadPointers(s.r, attr.AllSends, index+1)
	if err == nil {
		s.sendsAt = to[index]
	}
	return attr, ClassSeveral, err
}

// entries walks a ring of receives or of messages.
func (s *sockets) entries(head link, at inferior.Ptr[link], take func(inferior.Ptr[sockEntry], sockEntry) error) error {
	return ring(head, at, func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&s.Entry, l, func(r *sockEntry) *inferior.Embedded[link] { return &r.InQueue })
		r, err := s.Entry.Read(s.r, at)
		switch {
		case err != nil:
			return link{}, err
		case r.Receives != 0 && r.Receives != s.receivesAt: // only those of a pool know
			return link{}, fmt.Errorf("the receive at %s is another endpoint's", at)
		}
		if r.IsTagged != 0 {
			err = take(at, r)
		}
		return r.Links, err
	})
}

// readPosted reads the posted receives, in the order of posting. One that is busy has matched.
func (s *sockets) readPosted() error {
	busy := map[inferior.Ptr[sockEntry]]sockEntry{}
	err := s.entries(s.receives.Posted, s.receives.PostedAt.Ptr(), func(at inferior.Ptr[sockEntry], r sockEntry) error {
		if r.IsBusy != 0 {
			busy[at] = r
			return nil
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: s.same(peerOf(r.Peer)), Sequence: uint64(len(s.queues.Posted))}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, length(r.Length)
		if r.Parts == 1 {
			first, err := s.Where.Read(s.r, r.First.Ptr())
			if err != nil {
				return err
			}
			out.Buffer = first.Base
		}
		s.queues.Posted = append(s.queues.Posted, out)
		return nil
	})
	if err == nil {
		s.copied, err = s.notComing(busy)
	}
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	return nil
}

// readUnexpected reads the ring of messages, those that were taken out of the queue too, each with its data behind it.
func (s *sockets) readUnexpected() error {
	err := s.entries(s.receives.Messages, s.receives.MessagesAt.Ptr(), func(at inferior.Ptr[sockEntry], r sockEntry) error {
		if r.IsMessage == 0 {
			return fmt.Errorf("the receive at %s stands among them", at)
		}
		if r.IsClaimed != 0 {
			s.taken = append(s.taken, at)
			return nil
		}
		if s.isCopied(r) {
			return nil
		}
		s.queues.Unexpected = append(s.queues.Unexpected, s.of(at, r))
		return nil
	})
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

// of is the message of an entry. Its data is in this process, or on its way there.
func (s *sockets) of(at inferior.Ptr[sockEntry], r sockEntry) transport.Message {
	return transport.Message{Addr: at.Addr(), Tag: r.Tag, Peer: s.same(peerOf(r.Peer)), Beside: mqs.Maybe[uint64]{Value: r.Data, Known: r.Flags&remoteData != 0},
		Length: length(r.Length), Data: at.Addr() + inferior.Addr(s.Entry.Size())}
}

func (s *sockets) message(at inferior.Addr) (transport.Message, error) {
	r, err := s.Entry.Read(s.r, inferior.Ptr[sockEntry](at))
	switch {
	case err != nil:
		return transport.Message{}, err
	case r.IsMessage == 0 || r.IsTagged == 0:
		return transport.Message{}, fmt.Errorf("there is no message at %s: %w", at, transport.ErrNoMessage)
	}
	return s.of(inferior.Ptr[sockEntry](at), r), nil
}

func (s *sockets) claimed(context inferior.Addr) (transport.Message, error) {
	for _, at := range s.taken {
		r, err := s.Entry.Read(s.r, at)
		if err != nil {
			return transport.Message{}, err
		}
		if r.Context == context {
			return s.of(at, r), nil
		}
	}
	return transport.Message{}, errNotClaimed(context)
}
