package ofi

import (
	"encoding/binary"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// opxName is what the provider calls itself where its endpoints do not say it.
const opxName = "opx"

// opx is an endpoint of the provider opx. Sends are in no list of its own: a short one is complete at once, and a long one
// is known to the peer only.
type opx struct {
	*Endpoint
	opxTypes
	pools    pools
	ep       opxEP
	receives opxReceives
	book     opxBook
	peers    []transport.Peer // of a table, by its numbers
	known    map[inferior.Addr]bool
}

// Bounds, and the kinds of a book (enum fi_av_type, rdma/fi_domain.h).
const (
	maxOPXAddresses = 1 << 22
	opxBookTable    = 2
)

// opxUnset is what a receive has left that has not matched.
const opxUnset = ^uint64(0)

// openOPX reads an endpoint of the provider. Its objects say what they are, and lead to each other.
func openOPX(e *Endpoint, l *layout.Layouts) (provider, error) {
	o := &opx{Endpoint: e, pools: pools{r: e.r}, known: map[inferior.Addr]bool{}}
	err := inferior.Bind(&o.opxTypes, l)
	if err == nil {
		err = inferior.Bind(&o.pools.poolTypes, l)
	}
	if err != nil {
		return nil, err
	}
	if o.ep, err = o.EP.Read(e.r, inferior.Ptr[opxEP](e.at)); err != nil {
		return nil, err
	}
	if o.ep.Class != ClassEndpoint {
		return nil, fmt.Errorf("the object at %s is no endpoint", e.at)
	}
	domain, err := o.Domain.Read(e.r, o.ep.Domain)
	if err != nil {
		return nil, err
	}
	if o.receives, err = o.Receives.Read(e.r, o.ep.Receives); err != nil {
		return nil, err
	}
	if o.book, err = o.Book.Read(e.r, o.ep.Book); err != nil {
		return nil, err
	}
	isOf := o.receives.Domain == o.ep.Domain && o.book.Domain == o.ep.Domain
	if !isOf || domain.Class != ClassDomain || o.book.Class != ClassAddresses {
		return nil, fmt.Errorf("the parts of the endpoint at %s do not lead to each other", e.at)
	}
	queue := o.Messages.Size() + e.List.Size()
	if both := inferior.SizeOf(&o.Receives, func(r *opxReceives) *inferior.Embedded[opxMessages] { return &r.Queues }); both != 2*queue {
		return nil, fmt.Errorf("two queues have %d bytes, and one %d", both, queue)
	}
	return o, o.readBook()
}

// opxPeer is a peer as messages know it, whatever addresses it has.
func opxPeer(node uint32, context uint16) transport.Peer {
	const contextBits = 16
	return transport.Peer{Value: uint64(node)<<contextBits | uint64(context), Known: true}
}

// readBook reads the table of addresses.
func (o *opx) readBook() error {
	if o.book.Type != opxBookTable {
		return nil
	}
	if o.book.Count > maxOPXAddresses {
		return fmt.Errorf("there are %d addresses", o.book.Count)
	}
	if err := o.r.Prefetch([]inferior.Range{inferior.RangeOf(&o.Address, o.book.Table, int(o.book.Count))}); err != nil {
		return err
	}
	for i := range o.book.Count {
		a, err := o.Address.Read(o.r, inferior.At(&o.Address, o.book.Table, int(i)))
		if err != nil {
			return fmt.Errorf("the addresses: %w", err)
		}
		o.peers = append(o.peers, opxPeer(a.Node, a.Context))
	}
	return nil
}

// of is the peer that an entry of the book stands for.
func (o *opx) of(address uint64) transport.Peer {
	const width = 8
	var b [width]byte
	binary.NativeEndian.PutUint64(b[:], address)
	a, _ := inferior.Decode(&o.Address, o.r, b[:])
	return opxPeer(a.Node, a.Context)
}

// same: peers are told by where they are, for which a table has a number.
func (o *opx) same(p transport.Peer) transport.Peer {
	switch {
	case !p.Known:
		return p
	case o.book.Type != opxBookTable:
		return o.of(p.Value)
	case p.Value < uint64(len(o.peers)):
		return o.peers[p.Value]
	}
	return transport.Peer{}
}

// readPosted reads the receives of tagged messages, which stand in the order of posting.
func (o *opx) readPosted() error {
	_, _ = o.pools.used(o.receives.Pool, o.Context.Size()) // only so as to have them at once
	queue, err := o.List.Read(o.r, inferior.Ptr[list](o.receives.Queues.Addr()+inferior.Addr(o.Messages.Size())))
	if err != nil {
		return err
	}
	var seen inferior.Addrs
	err = each(queue, &seen, func(at inferior.Ptr[opxContext]) (inferior.Ptr[opxContext], error) {
		c, err := o.Context.Read(o.r, at)
		switch {
		case err != nil:
			return 0, err
		case c.Left != opxUnset:
			return 0, fmt.Errorf("the receive at %s has matched", at)
		}
		out := transport.Receive{Tag: c.Tag, Mask: ^c.Ignore, Sequence: uint64(len(o.queues.Posted))}
		if c.Peer != AnyPeer {
			out.Peer = o.of(c.Peer)
		}
		out.Addr, out.UserData, out.Length, out.Buffer = at.Addr(), c.Context, length(c.Length), c.Buffer
		o.queues.Posted = append(o.queues.Posted, out)
		return c.Next, nil
	})
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	return nil
}

// readSends: none are kept.
func (o *opx) readSends() error { return nil }
