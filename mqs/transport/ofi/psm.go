package ofi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
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
	psmTypes
	ep      psmEP
	context psmContext
	mq      psmMQ
	tags    psmTags
	peers   map[inferior.Ptr[psmPeer]]transport.Peer
	first   map[uint64]transport.Peer         // by each address, that which the peer has first
	isInUse map[inferior.Ptr[psmRequest]]bool // of the receives and the messages; true of those in a queue
}

// What is said of requests (psm_mq_internal.h, libpsm2 11.2 and 12, and 1.17 to 2.6).
const (
	psmComplete   = 0      // MQ_STATE_COMPLETE
	psmPosted     = 1      // MQ_STATE_POSTED
	psmUnexpected = 3      // MQ_STATE_UNEXP
	psmRendezvous = 4      // MQ_STATE_UNEXP_RV
	psmIsSend     = 0x1000 // MQE_TYPE_SEND
	psmIsReceive  = 0x2000 // MQE_TYPE_RECV
)

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
	p := &psm{Endpoint: e, psmFabric: types, isInUse: map[inferior.Ptr[psmRequest]]bool{}}
	err := inferior.Bind(&p.psmTypes, l)
	if err != nil {
		return nil, err
	}
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
	if p.mq, err = p.MQ.Read(e.r, p.context.MQ); err != nil {
		return nil, err
	}
	if p.context.Domain != p.ep.Domain || p.mq.PSM != p.context.PSM || p.mq.PSM == 0 {
		return nil, fmt.Errorf("the parts of the endpoint at %s do not lead to each other", e.at)
	}
	if err := p.readBook(); err != nil {
		return nil, fmt.Errorf("the addresses: %w", err)
	}
	return p, nil
}

// lists is how many lists a request can stand in, the last of which is that of all.
func (p *psm) lists() int {
	return inferior.SizeOf(&p.Request, func(r *psmRequest) *inferior.Embedded[inferior.Ptr[psmRequest]] { return &r.Next }) / p.r.Info().PointerSize
}

// walk hands the requests of a list, which stand in it by one of their links, to take. Each knows the one before it, and
// that it stands in the list. It returns how many there are.
func (p *psm) walk(list inferior.Ptr[psmQueue], kind int, take func(inferior.Ptr[psmRequest], *psmRequest) error) (count int, err error) {
	q, err := p.Queue.Read(p.r, list)
	if err != nil {
		return 0, err
	}
	var before inferior.Ptr[psmRequest]
	next := func(at inferior.Ptr[psmRequest]) (inferior.Ptr[psmRequest], error) {
		isTwice, isOne := p.isInUse[at]
		if !isOne || isTwice {
			return 0, fmt.Errorf("the request at %s in the list at %s is not in use, or in another list", at, list)
		}
		p.isInUse[at] = true
		r, err := p.Request.Read(p.r, at)
		if err != nil {
			return 0, err
		}
		links, err := p.links(&r, kind)
		switch {
		case err != nil:
			return 0, err
		case links.prev != before || links.queue != list || r.MQ != p.context.MQ || r.Type&psmIsReceive == 0:
			return 0, fmt.Errorf("the request at %s does not follow the one before in the list at %s", at, list)
		}
		before = at
		count++
		return links.next, take(at, &r)
	}
	for _, err := range inferior.Walk(q.First, 0, maxQueued, next) {
		if err != nil {
			return count, err
		}
	}
	if q.Last != before {
		return count, fmt.Errorf("the list at %s does not end at %s", list, q.Last)
	}
	return count, nil
}

// psmLinks are the links of a request in a list.
type psmLinks struct {
	next, prev inferior.Ptr[psmRequest]
	queue      inferior.Ptr[psmQueue]
}

func (p *psm) links(r *psmRequest, kind int) (psmLinks, error) {
	var out [3]inferior.Addr
	for i, from := range []inferior.Addr{r.Next.Addr(), r.Prev.Addr(), r.Queues.Addr()} {
		held, err := p.r.Pointers(from+inferior.Addr(kind*p.r.Info().PointerSize), 1)
		if err != nil {
			return psmLinks{}, err
		}
		out[i] = held[0]
	}
	return psmLinks{inferior.Ptr[psmRequest](out[0]), inferior.Ptr[psmRequest](out[1]), inferior.Ptr[psmQueue](out[2])}, nil
}

// readPosted reads the posted receives: the list of all, and the tables.
func (p *psm) readPosted() error {
	used, free, err := p.pooled(p.mq.Receives)
	received := slices.Concat(used, free)
	for _, at := range used {
		p.isInUse[at] = false
	}
	if err == nil {
		err = p.walkPosted()
	}
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	if p.tags == psmTagsUnknown {
		if err := p.learnTags(received); err != nil {
			return err
		}
	}
	slices.SortFunc(p.queues.Posted, func(a, b transport.Receive) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return nil
}

// learnTags finds out how tags stand by all requests that there are, those received being given.
func (p *psm) learnTags(received []inferior.Ptr[psmRequest]) error {
	used, free, err := p.pooled(p.mq.Sends)
	if err == nil {
		p.tags, err = p.oldTags(slices.Concat(received, used, free))
	}
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	return nil
}

func (p *psm) walkPosted() error {
	lists := p.lists()
	size := inferior.SizeOf(&p.MQ, func(q *psmMQ) *inferior.Embedded[psmQueue] { return &q.Tables })
	tables := size / p.Queue.Size()
	if lists < 2 || tables%(lists-1) != 0 {
		return fmt.Errorf("a request stands in %d lists, and there are %d", lists, tables)
	}
	count, err := p.walk(p.mq.Posted.Ptr(), lists-1, p.takeReceive)
	if err == nil && count != int(p.mq.ListCount) {
		err = fmt.Errorf("there are %d in their list, which says %d", count, p.mq.ListCount)
	}
	if err != nil {
		return err
	}
	inTables := 0
	perTable := tables / (lists - 1)
	for i := range tables {
		count, err := p.walk(p.Queue.Index(p.mq.Tables.Ptr(), i), i/perTable, p.takeReceive)
		if err != nil {
			return err
		}
		inTables += count
	}
	if inTables != int(p.mq.TableCount) {
		return fmt.Errorf("there are %d in tables, which say %d", inTables, p.mq.TableCount)
	}
	return nil
}

// takeReceive adds a receive of tagged messages.
func (p *psm) takeReceive(at inferior.Ptr[psmRequest], r *psmRequest) error {
	if r.State != psmPosted {
		return fmt.Errorf("the receive at %s has state %d", at, r.State)
	}
	isTagged, err := p.tags.learn(at, r)
	if err != nil || !isTagged {
		return err
	}
	out := transport.Receive{Tag: p.tags.tag(r), Mask: p.tags.mask(r), Sequence: r.Time}
	if r.Peer != 0 {
		if out.Peer = p.peer(r.Peer); !out.Peer.Known {
			return fmt.Errorf("the receive at %s takes messages of %s, who is not among the endpoint's addresses", at, r.Peer)
		}
	}
	out.Addr, out.UserData, out.Length, out.Buffer = at.Addr(), r.Context, int64(r.Capacity), r.Buffer
	p.queues.Posted = append(p.queues.Posted, out)
	return nil
}

// readSends reads the sends that are not complete, in the order of their requests.
func (p *psm) readSends() error {
	all, _, err := p.pooled(p.mq.Sends)
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	for _, at := range all {
		r, err := p.Request.Read(p.r, at)
		if err == nil && (r.MQ != p.context.MQ || r.Type&psmIsSend == 0) {
			err = fmt.Errorf("the send at %s is another endpoint's", at)
		}
		if err != nil {
			return fmt.Errorf("the messages on their way: %w", err)
		}
		isTagged, isTold := p.tags.isTagged(&r)
		if r.State == psmComplete || r.Context == 0 || isTold && !isTagged {
			continue
		}
		out := transport.Send{Tag: p.tags.tag(&r), TagKept: isTold, TagLost: !isTold, Peer: p.peer(r.Peer)}
		out.Addr, out.UserData, out.Length, out.Buffer = at.Addr(), r.Context, int64(r.Length), r.Buffer
		p.queues.Sends = append(p.queues.Sends, out)
	}
	return nil
}
