package ofi

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// lnx is an endpoint of the provider lnx (lnx_ep, prov/lnx/include/lnx.h), which puts one queue upon endpoints of other
// providers. Those have what is kept of unexpected messages, and the messages on their way.
type lnx struct {
	*Endpoint
	lnxTypes
	at    inferior.Ptr[lnxEP]
	ep    lnxEP
	cores map[inferior.Addr]lnxCore // by where lnx has them
	order []inferior.Addr
}

// lnxCore is an endpoint beneath, or why it is not known.
type lnxCore struct {
	at  inferior.Addr
	in  beneath
	err error
}

func openLNX(e *Endpoint, l *layout.Layouts) (provider, error) {
	x := &lnx{Endpoint: e, cores: map[inferior.Addr]lnxCore{}}
	err := inferior.Bind(&x.lnxTypes, l)
	if err != nil {
		return nil, err
	}
	x.at = inferior.ContainerOf(&x.EP, inferior.Ptr[utilEP](e.at), func(e *lnxEP) *inferior.Embedded[utilEP] { return &e.UtilEP })
	x.ep, err = x.EP.Read(e.r, x.at)
	switch {
	case err != nil:
		return nil, err
	case x.ep.Domain.Addr() != x.ep.UtilDomain.Addr():
		return nil, fmt.Errorf("the endpoint at %s has the domains at %s and %s", x.at, x.ep.Domain, x.ep.UtilDomain)
	}
	if err := x.readCores(); err != nil {
		return nil, fmt.Errorf("the endpoints beneath that at %s: %w", x.at, err)
	}
	for _, key := range x.order {
		core := x.cores[key]
		core.in, core.err = e.openBeneath(l, core.at)
		x.cores[key] = core
	}
	return x, nil
}

// readPosted reads the posted receives, which stand in the order of posting.
func (x *lnx) readPosted() error {
	err := x.ring(x.ep.Posted, x.ep.PostedAt.Ptr(), func(at inferior.Ptr[lnxEntry], r *lnxEntry) error {
		if !r.IsAnybodys || r.Parts != r.Inside.Ptr() {
			return fmt.Errorf("the receive at %s has its parts at %s, or is of an endpoint beneath", at, r.Parts)
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: x.peer(r), Sequence: uint64(len(x.queues.Posted))}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, -1 // not all releases set it
		return x.post(out, r.Count, r.Parts)
	})
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	return nil
}

// ring reads a ring of entries.
func (x *lnx) ring(head link, at inferior.Ptr[link], read func(inferior.Ptr[lnxEntry], *lnxEntry) error) error {
	return ring(head, at, func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&x.Entry, l, func(r *lnxEntry) *inferior.Embedded[link] { return &r.InQueue })
		r, err := x.Entry.Read(x.r, at)
		if err != nil {
			return link{}, err
		}
		return link{Next: r.Next, Prev: r.Prev}, read(at, &r)
	})
}

// lnxRails is how many bits tell the addresses of a peer beneath from each other: they stand below what lnx calls it
// (lnx_encode_fi_addr, from 2.2).
const lnxRails = 8

// peer is that of a receive or a message. Up to 2.1 that of a message is what the endpoint beneath calls it, which may be another
// one's name too.
func (x *lnx) peer(e *lnxEntry) transport.Peer {
	p := peerOf(e.Peer)
	if !p.Known {
		return p
	}
	switch {
	case e.EPAt != 0:
		p.Value >>= lnxRails
	case !e.IsAnybodys:
		return transport.Peer{}
	}
	return p
}

// readUnexpected reads the unexpected messages, in the order in which they have come.
func (x *lnx) readUnexpected() error {
	var leftOut error
	err := x.ring(x.ep.Unexpected, x.ep.UnexpectedAt.Ptr(), func(at inferior.Ptr[lnxEntry], e *lnxEntry) error {
		switch m, err := x.read(at, e); {
		case errors.Is(err, errNotBeneath):
			leftOut = cmp.Or(leftOut, err)
		case err != nil:
			return err
		default:
			x.queues.Unexpected = append(x.queues.Unexpected, m)
		}
		return nil
	})
	if err = cmp.Or(err, leftOut); err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

// read reads a message. It knows the endpoint's queue, and the endpoint beneath that has taken it.
func (x *lnx) read(at inferior.Ptr[lnxEntry], e *lnxEntry) (transport.Message, error) {
	core, ok := x.cores[e.Core]
	switch {
	case e.Queues != x.ep.Queues.Addr() || e.IsAnybodys || e.EPAt != 0 && e.EP != x.at || !ok:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case core.err != nil:
		return transport.Message{}, core.err
	}
	m, err := core.in.describe(e.At.Ptr(), &e.peerEntry)
	m.Addr, m.Peer = at.Addr(), x.peer(e)
	return m, err
}

func (x *lnx) message(at inferior.Addr) (transport.Message, error) {
	p := inferior.Ptr[lnxEntry](at)
	e, err := x.Entry.Read(x.r, p)
	if err != nil {
		return transport.Message{}, err
	}
	return x.read(p, &e)
}

// claimed: a context that has claimed a message begins with where it is.
func (x *lnx) claimed(context inferior.Addr) (transport.Message, error) {
	held, err := x.r.Pointers(context, 1)
	if err != nil {
		return transport.Message{}, err
	}
	return x.message(held[0])
}

// same: an address is given once.
func (x *lnx) same(p transport.Peer) transport.Peer { return p }

// readSends reads the messages on their way, as far as those beneath are read. Whom they go to only those know.
func (x *lnx) readSends() error {
	for _, key := range x.order {
		core := x.cores[key]
		if core.err != nil {
			x.queues.SendsErr = cmp.Or(x.queues.SendsErr, core.err)
			continue
		}
		sends, err := core.in.sending()
		x.queues.Sends = append(x.queues.Sends, sends...)
		switch {
		case errors.Is(err, errNoCommand):
			x.queues.SendsErr = cmp.Or(x.queues.SendsErr, err)
		case err != nil:
			return fmt.Errorf("the messages on their way: %w", err)
		}
	}
	return nil
}
