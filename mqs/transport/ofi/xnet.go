package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// xnet is an endpoint of the provider tcp, of datagrams (xnet_rdm, prov/tcp/src/xnet.h).
type xnet struct {
	*Endpoint
	xnetTypes
	at     inferior.Ptr[xnetRDM]
	ep     xnetRDM
	domain xnetDomain
	srx    xnetSRX
	conns  []xnetConn
	taken  map[inferior.Addr]transport.Message // by the context that has claimed it
}

func openXNet(e *Endpoint, l *layout.Layouts) (provider, error) {
	x := &xnet{Endpoint: e, at: inferior.Ptr[xnetRDM](e.at), taken: map[inferior.Addr]transport.Message{}}
	err := inferior.Bind(&x.xnetTypes, l)
	if err != nil {
		return nil, err
	}
	if err := e.r.Prefetch([]inferior.Range{inferior.RangeOf(&x.EP, x.at, 1)}); err != nil {
		return nil, err
	}
	if x.ep, err = x.EP.Read(e.r, x.at); err != nil {
		return nil, err
	}
	if x.domain, err = x.Domain.Read(e.r, x.ep.Domain); err != nil {
		return nil, err
	}
	x.srx, err = x.SRX.Read(e.r, x.ep.SRX)
	switch {
	case err != nil:
		return nil, err
	case x.srx.RDM != x.at || x.srx.Domain != x.ep.Domain:
		return nil, fmt.Errorf("the receives at %s are another endpoint's than that at %s", x.ep.SRX, x.at)
	case x.srx.Stride != uint64(e.List.Size()) || x.srx.SavedStride != uint64(x.Saved.Size()):
		return nil, fmt.Errorf("the lists at %s have %d and %d bytes", x.ep.SRX, x.srx.Stride, x.srx.SavedStride)
	}
	// All entries stand in one pool, and each is larger than a page.
	pools := pools{r: e.r}
	if err := inferior.Bind(&pools.poolTypes, l); err == nil {
		_, _ = pools.used(x.domain.Pool, x.Entry.Size()) // only so as to have them at once
	}
	return x, nil
}

// same: an address is given once.
func (x *xnet) same(p transport.Peer) transport.Peer { return p }

func (x *xnet) readPosted() error {
	return x.readPostedIn(x.srx.AnyPeer, inferior.Places(&x.SRX, x.ep.SRX).ByPeer.Addr(), x.readFrom)
}

// readFrom reads the receives of a list. Where the endpoint does not look at peers, those from each stand in that from any.
func (x *xnet) readFrom(peer uint64, l list, seen *inferior.Addrs) error {
	return each(l, seen, func(at inferior.Ptr[xnetEntry]) (inferior.Ptr[xnetEntry], error) {
		r, err := x.Entry.Read(x.r, at)
		switch {
		case err != nil:
			return 0, err
		case r.Peer != peer && peer != AnyPeer:
			return 0, fmt.Errorf("the receive at %s is from peer %#x, and stands among those from %#x", at, r.Peer, peer)
		}
		out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: peerOf(r.Peer), Sequence: r.Sequence}
		out.Addr, out.UserData, out.Length = at.Addr(), r.Context, -1
		return r.Next, x.post(out, r.Parts, r.First.Ptr())
	})
}
