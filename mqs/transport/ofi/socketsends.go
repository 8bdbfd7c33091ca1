package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What an entry of the sends' list is (prov/sockets/include/sock.h, 1.17 to 2.6).
const (
	sockIsSend  = 1 // SOCK_PE_TX
	sockTagged  = 1 // SOCK_OP_TSEND
	sockTagSize = 8 // SOCK_TAG_SIZE, bytes in front of the data
	// remoteData has as many more in front of the data: FI_REMOTE_CQ_DATA (rdma/fabric.h).
	remoteData = 1 << 17
)

// readSends reads the messages on their way, which stand in the order of sending. The tag of one that has all left is
// written over; it stays until the peer has it.
func (s *sockets) readSends() error {
	err := ring(s.sends.Entries, s.sends.EntriesAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&s.Sent, l, func(p *sockSent) *inferior.Embedded[link] { return &p.InList })
		p, err := s.Sent.Read(s.r, at)
		switch {
		case err != nil:
			return link{}, err
		case p.Kind != sockIsSend || p.Sends != s.sendsAt:
			return link{}, fmt.Errorf("the message on its way at %s is another endpoint's", at)
		}
		if p.Op == sockTagged && p.Context != 0 && p.IsComplete == 0 {
			s.queues.Sends = append(s.queues.Sends, s.send(at, p))
		}
		return p.Links, nil
	})
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	return nil
}

func (s *sockets) send(at inferior.Ptr[sockSent], p sockSent) transport.Send {
	out := transport.Send{Tag: p.Tag, TagLost: p.IsSent != 0, TagKept: p.IsSent == 0, Peer: s.same(peerOf(p.Peer))}
	out.Addr, out.UserData, out.Length = at.Addr(), p.Context, -1
	front := uint64(inferior.SizeOf(&s.Sent, func(p *sockSent) *inferior.Embedded[sockHeader] { return &p.Header })) + sockTagSize
	if p.Flags&remoteData != 0 {
		front += sockTagSize
	}
	if p.Length >= front {
		out.Length = length(p.Length - front)
	}
	return out
}
