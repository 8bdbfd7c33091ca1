package ofi

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// sockIsReceive is an entry of the list of what comes: SOCK_PE_RX (prov/sockets/include/sock.h, 1.13 to 2.6).
const sockIsReceive = 0

// notComing are those of the busy receives that no connection fills. A thread that was stopped copies an unexpected
// message into such a one, and both are in their lists until all is copied (sock_pe_progress_buffered_rx,
// prov/sockets/src/sock_progress.c).
func (s *sockets) notComing(busy map[inferior.Ptr[sockEntry]]sockEntry) ([]sockEntry, error) {
	if len(busy) == 0 {
		return nil, nil
	}
	err := ring(s.receives.Coming, s.receives.ComingAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&s.Sent, l, func(p *sockSent) *inferior.Embedded[link] { return &p.InList })
		p, err := s.Sent.Read(s.r, at)
		if err == nil && p.Kind != sockIsReceive {
			err = fmt.Errorf("the message at %s does not come", at)
		}
		if p.IsComplete == 0 {
			delete(busy, p.Fills)
		}
		return p.Links, err
	})
	var out []sockEntry
	for _, r := range busy {
		out = append(out, r)
	}
	return out, err
}

// isCopied says whether the message is the one that is copied into a receive: the first whole one that the receive
// takes. It is asked of each message, in their order.
func (s *sockets) isCopied(m sockEntry) bool {
	i := slices.IndexFunc(s.copied, func(r sockEntry) bool {
		from, of := s.same(peerOf(r.Peer)), s.same(peerOf(m.Peer))
		return m.IsWhole != 0 && (r.Tag^m.Tag)&^r.Ignore == 0 && (!from.Known || !of.Known || from == of)
	})
	if i >= 0 {
		s.copied = slices.Delete(s.copied, i, i+1)
	}
	return i >= 0
}
