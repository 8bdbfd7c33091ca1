package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// maxAddresses bounds a table of addresses.
const maxAddresses = 1 << 20

// readBook reads the table of addresses, in which one stands as often as it was put there.
func (s *sockets) readBook(at inferior.Ptr[sockBook]) error {
	s.first = map[uint64]uint64{}
	b, err := s.Book.Read(s.r, at)
	if err != nil {
		return err
	}
	h, err := s.Head.Read(s.r, b.Head)
	switch {
	case err != nil:
		return err
	case h.Stored > h.Size || h.Size > maxAddresses:
		return fmt.Errorf("the table at %s has %d addresses of %d", at, h.Stored, h.Size)
	}
	s.mask = b.Mask
	if err := s.r.Prefetch([]inferior.Range{inferior.RangeOf(&s.Address, b.Table, int(h.Stored))}); err != nil {
		return err
	}
	width := inferior.SizeOf(&s.Address, func(a *sockAddress) *inferior.Embedded[uint8] { return &a.Address })
	places := map[string]uint64{}
	for i := range h.Stored {
		p := inferior.At(&s.Address, b.Table, int(i))
		a, err := s.Address.Read(s.r, p)
		if err != nil {
			return err
		}
		if a.IsValid == 0 {
			continue
		}
		address, err := s.r.Bytes(inferior.Places(&s.Address, p).Address.Addr(), width)
		if err != nil {
			return err
		}
		if _, ok := places[string(address)]; !ok {
			places[string(address)] = i
		}
		s.first[i] = places[string(address)]
	}
	return nil
}

// same is the peer by the first place in the table where its address stands.
func (s *sockets) same(p transport.Peer) transport.Peer {
	if first, ok := s.first[p.Value&s.mask]; ok && p.Known {
		p.Value = first
	}
	return p
}
