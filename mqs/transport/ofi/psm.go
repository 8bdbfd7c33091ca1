package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// What the providers call themselves.
const (
	psm3Name = "psm3"
	psm2Name = "psm2"
)

// psm is an endpoint of the providers psm3 and psm2, whose messages are in the matched queues of psm: those of psm3 are its
// own, those of psm2 the library libpsm2's.
type psm struct {
	*Endpoint
	psmFabric
	ep      psmEP
	context psmContext
	mq      *mq.MQ
	tags    psmTags
	peers   map[inferior.Ptr[mq.Peer]]transport.Peer
	first   map[uint64]transport.Peer // by each address, that which the peer has first
}

func openPSM3(e *Endpoint, l *layout.Layouts) (provider, error) {
	var types psm3Fabric
	err := inferior.Bind(&types, l)
	if err != nil {
		return nil, err
	}
	return openPSM(e, l, psm3Name, psmFabric(types))
}

func openPSM2(e *Endpoint, l *layout.Layouts) (provider, error) {
	var types psm2Fabric
	err := inferior.Bind(&types, l)
	if err != nil {
		return nil, err
	}
	return openPSM(e, l, psm2Name, psmFabric(types))
}

// openPSM reads an endpoint that does not begin with a util_ep. Its domain begins with a util_domain, and its parts lead to
// each other.
func openPSM(e *Endpoint, l *layout.Layouts, name string, types psmFabric) (provider, error) {
	p := &psm{Endpoint: e, psmFabric: types}
	var err error
	if p.ep, err = p.EP.Read(e.r, inferior.Ptr[psmEP](e.at)); err != nil {
		return nil, err
	}
	if p.ep.Class != ClassEndpoint && p.ep.Class != ClassReceives {
		return nil, fmt.Errorf("the object at %s is no endpoint", e.at)
	}
	is, err := e.nameOfDomain(p.ep.Domain)
	switch {
	case err != nil:
		return nil, err
	case is != name:
		return nil, fmt.Errorf("the domain of the endpoint at %s is of the provider %s", e.at, is)
	}
	if p.context, err = p.Context.Read(e.r, p.ep.Receives); err != nil {
		return nil, err
	}
	if p.mq, err = mq.Open(e.r, l, p.context.MQ); err != nil {
		return nil, err
	}
	if p.context.Domain != p.ep.Domain || p.mq.PSM() != p.context.PSM || p.mq.PSM() == 0 {
		return nil, fmt.Errorf("the parts of the endpoint at %s do not lead to each other", e.at)
	}
	if err := p.readBook(); err != nil {
		return nil, fmt.Errorf("the addresses: %w", err)
	}
	return p, nil
}

// readPosted reads the posted receives of tagged messages.
func (p *psm) readPosted() error {
	all, err := p.mq.Posted()
	if err != nil {
		return err
	}
	for i := range all {
		if err := p.takeReceive(&all[i]); err != nil {
			return fmt.Errorf("the posted receives: %w", err)
		}
	}
	if p.tags == psmTagsUnknown {
		ever, err := p.mq.Ever()
		if err != nil {
			return err
		}
		p.tags = oldTags(ever)
	}
	return nil
}

// takeReceive adds a receive of tagged messages.
func (p *psm) takeReceive(r *mq.Found) error {
	isTagged, err := p.tags.learn(r)
	if err != nil || !isTagged {
		return err
	}
	out := transport.Receive{Tag: p.tags.tag(r), Mask: p.tags.mask(r), Sequence: r.Time}
	if r.Peer != 0 {
		if out.Peer = p.peer(r.Peer); !out.Peer.Known {
			return fmt.Errorf("the receive at %s takes messages of %s, who is not among the endpoint's addresses", r.At, r.Peer)
		}
	}
	out.Addr, out.UserData, out.Length, out.Buffer = r.At.Addr(), r.Context, int64(r.Capacity), r.Buffer
	p.queues.Posted = append(p.queues.Posted, out)
	return nil
}

// readSends reads the sends that are not complete, in the order of their requests.
func (p *psm) readSends() error {
	all, err := p.mq.Sends()
	for i := range all {
		r := &all[i]
		isTagged, isTold := p.tags.isTagged(r)
		if r.Context == 0 || r.Flags&mq.IsOfCall != 0 || isTold && !isTagged {
			continue
		}
		out := transport.Send{Tag: p.tags.tag(r), TagKept: isTold, TagLost: !isTold, Peer: p.peer(r.Peer)}
		out.Addr, out.UserData, out.Length, out.Buffer = r.At.Addr(), r.Context, int64(r.Length), r.Buffer
		p.queues.Sends = append(p.queues.Sends, out)
	}
	return err
}
