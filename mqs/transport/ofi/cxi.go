package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// cxiName is what the provider calls itself.
const cxiName = "cxi"

// cxi is an endpoint of the provider cxi, of Slingshot's network cards. Such a card matches messages by itself until the
// provider takes that over.
type cxi struct {
	*Endpoint
	cxiTypes
	objectAt inferior.Ptr[cxiObject]
	object   cxiObject
	receives cxiReceives
	sends    cxiSends
	book     cxiBook
	pools    pools
	peers    map[uint32]transport.Peer           // by what they call themselves, nil before it was read
	known    map[inferior.Addr]transport.Message // the unexpected messages, those that were claimed too
	isTaken  map[inferior.Addr]bool              // of these
}

// What is said of requests and of endpoints (prov/cxi/include/cxip.h, include/rdma/fabric.h, 1.22 to 2.6).
const (
	cxiProtocol   = 24            // FI_PROTO_CXI
	cxiDisabled   = 0             // RXC_DISABLED
	cxiBySoftware = 3             // RXC_ENABLED_SOFTWARE
	cxiReceived   = 3             // CXIP_REQ_RECV
	cxiSent       = 4             // CXIP_REQ_SEND
	cxiPeeks      = 1<<19 | 1<<59 // FI_PEEK, FI_CLAIM
)

// openCXI reads an endpoint of the provider. It does not begin with a util_ep, but its domain does with a util_domain, and
// its parts lead to each other.
func openCXI(e *Endpoint, l *layout.Layouts) (provider, error) {
	c := &cxi{Endpoint: e, pools: pools{r: e.r}, known: map[inferior.Addr]transport.Message{}, isTaken: map[inferior.Addr]bool{}}
	err := inferior.Bind(&c.cxiTypes, l)
	if err == nil {
		err = inferior.Bind(&c.pools.poolTypes, l)
	}
	if err != nil {
		return nil, err
	}
	ep, err := c.EP.Read(e.r, inferior.Ptr[cxiEP](e.at))
	switch {
	case err != nil:
		return nil, err
	case ep.Class != ClassEndpoint:
		return nil, fmt.Errorf("the object at %s is no endpoint", e.at)
	}
	c.objectAt = ep.Object
	if c.object, err = c.Object.Read(e.r, c.objectAt); err != nil {
		return nil, err
	}
	name, err := e.nameOfDomain(c.object.Domain)
	switch {
	case err != nil:
		return nil, err
	case name != cxiName:
		return nil, fmt.Errorf("the domain of the endpoint at %s is of the provider %s", e.at, name)
	case c.object.Protocol != cxiProtocol:
		return nil, fmt.Errorf("the endpoint at %s has protocol %d of the provider cxi, which is not read", e.at, c.object.Protocol)
	case c.object.Owner != 0:
		return nil, fmt.Errorf("the receives of the endpoint at %s are another provider's", e.at)
	}
	return c, c.readParts()
}

// readParts reads both halves of the endpoint, and its addresses.
func (c *cxi) readParts() (err error) {
	if c.receives, err = c.Receives.Read(c.r, c.object.Receives); err != nil {
		return err
	}
	if c.sends, err = c.Sends.Read(c.r, c.object.Sends); err != nil {
		return err
	}
	if c.book, err = c.Book.Read(c.r, c.object.Book); err != nil {
		return err
	}
	isOf := c.receives.Object == c.objectAt && c.sends.Object == c.objectAt
	isSo := c.receives.Domain == c.object.Domain && c.sends.Domain == c.object.Domain && c.book.Domain == c.object.Domain
	if !isOf || !isSo {
		return fmt.Errorf("the parts of the endpoint at %s do not lead to each other", c.at)
	}
	if c.receives.PIDBits == 0 || c.receives.PIDBits > cxiPIDBits {
		return fmt.Errorf("of the endpoint at %s, %d bits of an address are the process", c.at, c.receives.PIDBits)
	}
	return nil
}

// requests walks a list of requests and hands those that a half of the endpoint has to take.
func (c *cxi) requests(head link, at inferior.Ptr[link], of inferior.Ptr[pool], owner inferior.Addr, take func(inferior.Ptr[cxiRequest], *cxiRequest) error) error {
	_, _ = c.pools.used(of, c.Request.Size()) // only so as to have them at once
	return ring(head, at, func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&c.Request, l, func(q *cxiRequest) *inferior.Embedded[link] { return &q.InList })
		q, err := c.Request.Read(c.r, at)
		if err == nil && q.Owner == owner {
			err = take(at, &q)
		}
		return q.Links, err
	})
}

// queued are the receives that stand in one of the software's own queues, which are false until they are met among all.
func (c *cxi) queued() (map[inferior.Ptr[cxiRequest]]bool, error) {
	out := map[inferior.Ptr[cxiRequest]]bool{}
	r := &c.receives
	for _, q := range []struct {
		head link
		at   inferior.Embedded[link]
	}{{r.Posted, r.PostedAt}, {r.Refused, r.RefusedAt}} {
		err := ring(q.head, q.at.Ptr(), func(l inferior.Ptr[link]) (link, error) {
			at := inferior.ContainerOf(&c.Request, l, func(q *cxiRequest) *inferior.Embedded[link] { return &q.InQueue })
			q, err := c.Request.Read(c.r, at)
			out[at] = false
			return q.Receive.Links, err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readPosted reads the receives that have not matched: all requests stand in a list in the order of posting, wherever their
// messages are looked for.
func (c *cxi) readPosted() error {
	if c.receives.Offloads {
		c.queues.Offload = transport.OffloadNote(cxiInSoftware)
	}
	if c.receives.State == cxiDisabled {
		return nil
	}
	queued, err := c.queued()
	if err == nil {
		err = c.requests(c.receives.Requests, c.receives.RequestsAt.Ptr(), c.receives.Pool, c.object.Receives.Addr(), func(at inferior.Ptr[cxiRequest], q *cxiRequest) error {
			_, isQueued := queued[at]
			if isQueued {
				queued[at] = true
			}
			if q.Kind != cxiReceived || !q.Receive.IsTagged {
				return nil
			}
			return c.takeReceive(at, q, isQueued)
		})
	}
	for at, isMet := range queued {
		if err == nil && !isMet {
			err = fmt.Errorf("the receive at %s is not among the endpoint's requests", at)
		}
	}
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	return nil
}

// takeReceive adds a receive, unless it has matched, or only asks for a message.
func (c *cxi) takeReceive(at inferior.Ptr[cxiRequest], q *cxiRequest, isQueued bool) error {
	r := &q.Receive
	if r.Receives != c.object.Receives {
		return fmt.Errorf("the receive at %s is another endpoint's", at)
	}
	if r.HasMatched || r.Parent != 0 || r.Flags&cxiPeeks != 0 || !r.IsWithCard && !isQueued {
		return nil
	}
	peer, err := c.source(at, r.Match)
	if err != nil {
		return err
	}
	out := transport.Receive{Tag: r.Tag, Mask: ^r.Ignore, Peer: peer, Sequence: uint64(len(c.queues.Posted)), Offloaded: r.IsWithCard}
	out.Addr, out.UserData, out.Length, out.Buffer = at.Addr(), q.Context, int64(r.Length), r.Buffer
	c.queues.Posted = append(c.queues.Posted, out)
	return nil
}

// readSends reads the sends whose messages the peer has not taken, in the order of sending.
func (c *cxi) readSends() error {
	err := c.requests(c.sends.Requests, c.sends.RequestsAt.Ptr(), c.sends.Pool, c.object.Sends.Addr(), func(at inferior.Ptr[cxiRequest], q *cxiRequest) error {
		switch {
		case q.Kind != cxiSent || !q.Send.IsTagged || q.Context == 0:
			return nil
		case q.Send.Sends != c.object.Sends:
			return fmt.Errorf("the send at %s is another endpoint's", at)
		}
		out := transport.Send{Tag: q.Send.Tag, TagKept: true, Peer: peerOf(q.Send.Peer)}
		out.Addr, out.UserData, out.Length, out.Buffer = at.Addr(), q.Context, length(q.Send.Length), q.Send.Buffer
		c.queues.Sends = append(c.queues.Sends, out)
		return nil
	})
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	return nil
}
