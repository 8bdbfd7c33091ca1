package tagged

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// ofiMatcher is an endpoint of libfabric with what pml cm and mtl ofi know besides: libfabric forgets a receive
// that has matched, and a send that the peer has been handed.
type ofiMatcher struct {
	*ofi.Endpoint
	of     *mtlOFI
	queues transport.Queues
}

func (m *ofiMatcher) Queues() *transport.Queues { return &m.queues }

// join puts the two together. What libfabric has of an operation leads to the mtl's request by its context, and
// that to the pml's.
func (m *ofiMatcher) join() error {
	has := m.Endpoint.Queues()
	m.queues = *has
	m.queues.Posted, m.queues.Matched, m.queues.Sends = nil, nil, nil
	waits := map[inferior.Ptr[ofiRequest]]*transport.Receive{} // for an answer, by the synchronous send
	posted := map[inferior.Ptr[mtlRequest]]bool{}
	for _, r := range has.Posted {
		at, of, err := m.of.requestOf(r.UserData)
		if err != nil {
			return err
		}
		if r.Tag&m.of.module.SyncAnswer != 0 {
			waits[of.Parent] = &r
			continue
		}
		if of.Match != r.Tag {
			return fmt.Errorf("the receive at %s has tag %#x, and the mtl's request at %s has %#x", r.Addr, r.Tag, at, of.Match)
		}
		if r.Peer.Value == m.of.module.AnyPeer {
			r.Peer = transport.Peer{}
		}
		own := inferior.Ptr[mtlRequest](at)
		posted[own] = true
		m.queues.Posted = append(m.queues.Posted, m.of.owned(r, own, of.Request, of.Data))
	}
	m.queues.Matched = m.of.forgotten(posted)
	m.joinSends(has.Sends, waits)
	return nil
}

// requestOf is the mtl's request that has given libfabric a context.
func (u *mtlOFI) requestOf(context inferior.Addr) (inferior.Ptr[ofiRequest], ofiRequest, error) {
	at := inferior.ContainerOf(&u.OFI, inferior.Ptr[ofiOperation](context), func(r *ofiRequest) *inferior.Embedded[ofiOperation] { return &r.Context })
	r, err := u.OFI.Read(u.R, at)
	return at, r, err
}

// joinSends puts the pml's sends to what libfabric has of their messages, and adds those of blocking calls, which
// stand on stacks: their message is on its way, or they wait for an answer.
func (m *ofiMatcher) joinSends(sends []transport.Send, waits map[inferior.Ptr[ofiRequest]]*transport.Receive) {
	under := map[inferior.Ptr[mtlRequest]]transport.Send{}
	var order []inferior.Ptr[mtlRequest]
	note := func(at inferior.Ptr[mtlRequest], s transport.Send) {
		if _, ok := under[at]; !ok {
			order = append(order, at)
		}
		s.Addr, s.User, s.UserData, s.Buffer = at.Addr(), 0, 0, 0
		under[at] = s
	}
	for _, s := range sends {
		if at, _, err := m.of.requestOf(s.UserData); err == nil {
			note(inferior.Ptr[mtlRequest](at), s)
		}
	}
	for parent, answer := range waits {
		at := inferior.Ptr[mtlRequest](parent)
		s, ok := under[at]
		if !ok {
			s = transport.Send{Request: transport.Request{Length: -1}, Tag: answer.Tag}
		}
		if length := m.of.lengthOf(at); length >= 0 {
			s.Length = length
		}
		s.Sync, s.Peer, s.Tag, s.TagLost, s.TagKept = true, answer.Peer, answer.Tag, false, true
		note(at, s)
	}
	m.queues.Sends = m.of.held(under)
	for _, at := range order {
		if s, isLeft := under[at]; isLeft {
			s.Tag &^= m.of.module.SyncSend | m.of.module.SyncAnswer
			m.queues.Sends = append(m.queues.Sends, s)
		}
	}
}

// MessageAt reads a message that MPI_Mprobe has taken: the mtl's request of the probe has it.
func (m *ofiMatcher) MessageAt(a inferior.Addr) (transport.Message, error) {
	at := inferior.Ptr[ofiRequest](a)
	r, err := m.of.OFI.Read(m.of.R, at)
	switch {
	case err != nil:
		return transport.Message{}, err
	case r.Type != ofiProbe || r.Matched != 1:
		return transport.Message{}, fmt.Errorf("the mtl's request at %s is not one of a probe that has found a message: %w", a, transport.ErrNoMessage)
	}
	out, err := m.Claimed(r.Context.Addr())
	if err == nil && out.Tag != r.Match {
		err = fmt.Errorf("the probe at %s has found tag %#x, and the message at %s has %#x", a, r.Match, out.Addr, out.Tag)
	}
	return out, err
}
