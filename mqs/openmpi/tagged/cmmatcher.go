package tagged

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// cmMatcher is an endpoint of libfabric with what pml cm and mtl ofi know besides: libfabric forgets a receive
// that has matched, and a send that the peer has been handed.
type cmMatcher struct {
	*ofi.Endpoint
	of     *pmlCM
	queues transport.Queues
}

func (m *cmMatcher) Queues() *transport.Queues { return &m.queues }

// join puts the two together. What libfabric has of an operation leads to the mtl's request by its context, and
// that to the pml's.
func (m *cmMatcher) join() error {
	has := m.Endpoint.Queues()
	m.queues = *has
	m.queues.Posted, m.queues.Matched, m.queues.Sends = nil, nil, nil
	waits := map[inferior.Ptr[ofiRequest]]*transport.Receive{} // for an answer, by the synchronous send
	posted := map[inferior.Ptr[ofiRequest]]bool{}
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
		posted[at] = true
		m.queues.Posted = append(m.queues.Posted, m.receive(r, at, of))
	}
	for _, r := range m.of.requests.receives {
		if r.Complete == ompi.RequestCompleted || posted[r.mtl] {
			continue
		}
		k := m.of.requests.by[inferior.Ptr[ompi.Request](r.at)]
		out := k.asks(transport.Request{Addr: r.at.Addr(), User: r.at.Addr(), Length: -1, State: transport.Matched, Released: r.FreeCalled})
		out.MessageLost, out.Received = true, -1
		m.queues.Matched = append(m.queues.Matched, out)
	}
	m.joinSends(has.Sends, waits)
	return nil
}

// requestOf is the mtl's request that has given libfabric a context.
func (u *pmlCM) requestOf(context inferior.Addr) (inferior.Ptr[ofiRequest], ofiRequest, error) {
	at := inferior.ContainerOf(&u.OFI, inferior.Ptr[ofiOperation](context), func(r *ofiRequest) *inferior.Embedded[ofiOperation] { return &r.Context })
	r, err := u.OFI.Read(u.R, at)
	return at, r, err
}

// receive is a posted receive with its owner: a request of the pml's, or that of a blocking call on its stack.
func (m *cmMatcher) receive(r transport.Receive, at inferior.Ptr[ofiRequest], of ofiRequest) transport.Receive {
	if r.Peer.Value == m.of.module.AnyPeer {
		r.Peer = transport.Peer{}
	}
	r.Addr = at.Addr()
	if k := m.of.requests.by[inferior.Ptr[ompi.Request](of.Request)]; k != nil && !k.isSend {
		r.Addr, r.User = of.Request.Addr(), of.Request.Addr()
		return r
	}
	r.Generic = of.Data.Addr()
	return r
}

// joinSends puts the pml's sends to what libfabric has of their messages, and adds those of blocking calls, which
// stand on stacks: their message is on its way, or they wait for an answer.
func (m *cmMatcher) joinSends(sends []transport.Send, waits map[inferior.Ptr[ofiRequest]]*transport.Receive) {
	under := map[inferior.Ptr[ofiRequest]]transport.Send{}
	var order []inferior.Ptr[ofiRequest]
	note := func(at inferior.Ptr[ofiRequest], s transport.Send) {
		if _, ok := under[at]; !ok {
			order = append(order, at)
		}
		s.Addr, s.User, s.UserData, s.Buffer = at.Addr(), 0, 0, 0
		under[at] = s
	}
	for _, s := range sends {
		if at, _, err := m.of.requestOf(s.UserData); err == nil {
			note(at, s)
		}
	}
	for at, answer := range waits {
		s, ok := under[at]
		if !ok {
			s = transport.Send{Request: transport.Request{Length: -1}, Tag: answer.Tag}
		}
		if of, err := m.of.OFI.Read(m.of.R, at); err == nil {
			s.Length = int64(of.Length)
		}
		s.Sync, s.Peer, s.Tag, s.TagLost, s.TagKept = true, answer.Peer, answer.Tag, false, true
		note(at, s)
	}
	known := map[inferior.Ptr[ofiRequest]]bool{}
	for _, r := range m.of.requests.sends {
		known[r.mtl] = true
		isHeld := r.Complete != ompi.RequestCompleted || !r.PMLDone // a buffered send goes on
		if !isHeld || r.Complete == ompi.RequestCompleted && !r.FreeCalled {
			continue
		}
		s, ok := under[r.mtl]
		if !ok {
			s = transport.Send{Request: transport.Request{Length: -1}, TagLost: true}
			if of, err := m.of.OFI.Read(m.of.R, r.mtl); err == nil {
				s.Length = int64(of.Length)
			}
		}
		s.Addr, s.User, s.Released = r.at.Addr(), r.at.Addr(), r.FreeCalled
		m.queues.Sends = append(m.queues.Sends, s)
	}
	for _, at := range order {
		if s := under[at]; !known[at] {
			s.Tag &^= m.of.module.SyncSend | m.of.module.SyncAnswer
			m.queues.Sends = append(m.queues.Sends, s)
		}
	}
}

// MessageAt reads a message that MPI_Mprobe has taken: the mtl's request of the probe has it.
func (m *cmMatcher) MessageAt(a inferior.Addr) (transport.Message, error) {
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
