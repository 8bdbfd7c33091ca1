package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// How a process is called by the network card: in 32 bits, of which the highest are the process's place on its card, and
// the others the card, or, where the addresses are symmetric, the peer's address (CXI_MATCH_ID in cxi_prov_hw.h). In an
// entry of the book, the place comes first (struct cxip_addr).
const (
	cxiPIDBits = 9  // C_DFA_PID_BITS_MAX
	cxiNICBits = 20 // C_DFA_NIC_BITS
	cxiAnyone  = 1<<32 - 1
	cxiIDBits  = 32
)

// maxCXIAddresses bounds the book.
const maxCXIAddresses = 1 << 22

// source is the peer of whom a receive takes messages. One that takes those of any has no peer.
func (c *cxi) source(at inferior.Ptr[cxiRequest], id uint32) (transport.Peer, error) {
	if id == cxiAnyone {
		return transport.Peer{}, nil
	}
	peer, err := c.peer(id)
	if err == nil && !peer.Known {
		err = fmt.Errorf("the receive at %s takes messages of %#x, who is not among the endpoint's addresses", at, id)
	}
	return peer, err
}

// peer is who is called so, not known if the book does not have it.
func (c *cxi) peer(id uint32) (transport.Peer, error) {
	if c.book.IsSymmetric {
		return peerOf(uint64(id & (1<<(cxiIDBits-c.receives.PIDBits) - 1))), nil
	}
	if c.peers == nil {
		if err := c.readBook(); err != nil {
			return transport.Peer{}, fmt.Errorf("the addresses: %w", err)
		}
	}
	return c.peers[id], nil
}

// readBook reads the addresses, which stand in a chain. Of a process that has several, none is known to be meant.
func (c *cxi) readBook() error {
	_, _ = c.pools.used(c.book.Pool, c.Address.Size()) // only so as to have them at once
	c.peers = map[uint32]transport.Peer{}
	var before inferior.Ptr[cxiAddress]
	next := func(at inferior.Ptr[cxiAddress]) (inferior.Ptr[cxiAddress], error) {
		a, err := c.Address.Read(c.r, at)
		switch {
		case err != nil:
			return 0, err
		case a.Prev != before || a.Key != a.Place.Addr():
			return 0, fmt.Errorf("the one at %s does not follow the one before", at)
		}
		before = at
		place, err := c.r.Uint(a.Place.Addr(), 4)
		if err != nil {
			return 0, err
		}
		pid, nic := uint32(place)&(1<<cxiPIDBits-1), uint32(place)>>cxiPIDBits&(1<<cxiNICBits-1)
		id := pid<<(cxiIDBits-c.receives.PIDBits) | nic
		peer := peerOf(a.Addr)
		if _, isTwice := c.peers[id]; isTwice {
			peer = transport.Peer{}
		}
		c.peers[id] = peer
		return a.Next, nil
	}
	for _, err := range inferior.Walk(c.book.First, 0, maxCXIAddresses, next) {
		if err != nil {
			return err
		}
	}
	return nil
}

// same: an address is given once.
func (c *cxi) same(p transport.Peer) transport.Peer { return p }
