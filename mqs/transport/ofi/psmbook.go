package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// The kinds of a book of addresses (enum fi_av_type, rdma/fi_domain.h).
const (
	psmBookMap   = 1 // addresses are what psm calls the peers
	psmBookTable = 2 // addresses are numbers
)

// Bounds on a book.
const (
	maxPSMAddresses = 1 << 22
	maxPSMContexts  = 1 << 16
)

// peer is the peer that psm calls so, not known if the book does not have it.
func (p *psm) peer(at inferior.Ptr[mq.Peer]) transport.Peer {
	if p.first == nil && at != 0 { // a book of psm's own names
		return peerOf(uint64(at))
	}
	return p.peers[at]
}

// readBook reads which addresses psm knows, and how it calls them.
func (p *psm) readBook() error {
	p.peers = map[inferior.Ptr[mq.Peer]]transport.Peer{}
	book, err := p.Book.Read(p.r, p.ep.Book)
	switch {
	case err != nil:
		return err
	case book.Domain != p.ep.Domain:
		return fmt.Errorf("those at %s are another domain's", p.ep.Book)
	case book.Type == psmBookMap:
		return nil
	case book.Type != psmBookTable || book.Bound < 0 || book.Bound > maxPSMContexts || p.context.ID < 0 || p.context.ID >= book.Bound:
		return fmt.Errorf("those at %s are of kind %d, for %d contexts of which this is %d", p.ep.Book, book.Type, book.Bound, p.context.ID)
	}
	head, err := p.Head.Read(p.r, book.Head)
	switch {
	case err != nil:
		return err
	case head.Count > maxPSMAddresses:
		return fmt.Errorf("there are %d", head.Count)
	}
	conn, err := p.Conn.Read(p.r, inferior.At(&p.Conn, book.Conns.Ptr(), int(p.context.ID)))
	switch {
	case err != nil:
		return err
	case conn.Context != p.ep.Receives:
		return fmt.Errorf("those at %s are another endpoint's", conn.Peers)
	}
	all, err := inferior.ReadPointers(p.r, conn.Peers, int(head.Count))
	if err != nil {
		return err
	}
	p.first = map[uint64]transport.Peer{}
	for i, at := range all {
		if at == 0 {
			continue
		}
		if _, isKnown := p.peers[at]; !isKnown {
			p.peers[at] = peerOf(uint64(i))
		}
		p.first[uint64(i)] = p.peers[at]
	}
	return nil
}

// same: a peer may have several addresses, of which the first is taken.
func (p *psm) same(peer transport.Peer) transport.Peer {
	if first, ok := p.first[peer.Value]; ok && peer.Known {
		return first
	}
	return peer
}
