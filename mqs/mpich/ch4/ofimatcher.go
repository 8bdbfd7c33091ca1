package ch4

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// ofiMatcher is an endpoint of libfabric with what the module knows besides: a synchronous send waits for an answer,
// which it receives as any message, and of which libfabric knows no more than of another receive.
type ofiMatcher struct {
	transport.Matcher
	endpoint *ofi.Endpoint
	of       *ofiNetmod
	queues   transport.Queues
}

func (m *ofiMatcher) Queues() *transport.Queues { return &m.queues }

// MessageAt reads the message that a request has taken, by the context of that.
func (m *ofiMatcher) MessageAt(context inferior.Addr) (transport.Message, error) {
	return m.endpoint.Claimed(context)
}

// join puts the receives of answers to the sends that wait for them.
func (m *ofiMatcher) join() error {
	has := m.Matcher.Queues()
	m.queues = *has
	m.queues.Posted, m.queues.Sends = nil, append([]transport.Send(nil), has.Sends...)
	m.queues.Unexpected = slices.Clone(has.Unexpected)
	for i := range m.queues.Unexpected {
		if u := &m.queues.Unexpected[i]; m.of.bits.isLong(u.Tag) {
			u.Length, u.Data = -1, 0
		}
	}
	at := map[inferior.Ptr[mpir.Request]]int{} // the sends by their requests
	for i := range m.queues.Sends {
		s := &m.queues.Sends[i]
		at[m.of.requestOf(s.UserData)] = i
		if !s.TagLost && m.of.bits.isLong(s.Tag) {
			s.Length = -1
		}
	}
	for _, r := range has.Posted {
		if r.Tag&m.of.bits.of(ofiAnswered) == 0 {
			if !m.of.bits.isApart(r.Tag) {
				if err := m.of.proveRequest(m.of.requestOf(r.UserData)); err != nil {
					return fmt.Errorf("the receive at %s: %w", r.Addr, err)
				}
			}
			m.queues.Posted = append(m.queues.Posted, r)
			continue
		}
		send, isSync, err := m.waitsFor(&r)
		if err == nil {
			err = m.of.proveRequest(send)
		}
		if err != nil {
			return err
		}
		i, ok := at[send]
		if !ok {
			i, at[send] = len(m.queues.Sends), len(m.queues.Sends)
			// Its data has left, or its message can't be told from others.
			m.queues.Sends = append(m.queues.Sends, transport.Send{Request: transport.Request{Addr: send.Addr(), UserData: m.of.contextOf(send), Length: -1}})
		}
		s := &m.queues.Sends[i]
		s.SourceLost = true // an answer's tag has none
		s.Sync, s.Peer, s.Tag, s.TagLost, s.TagKept = isSync, r.Peer, r.Tag&^m.of.bits.of(ofiAnswered), false, true
	}
	return nil
}

// proveRequest checks that there is a request where libfabric's receive leads to: that proves where requests have what
// the module gives to libfabric, and so the layout.
func (o *ofiNetmod) proveRequest(at inferior.Ptr[mpir.Request]) error {
	const width = 4
	handle, err := o.lib.Reader.Uint(at.Addr(), width)
	if err == nil && (!mpir.IsHandle(uint32(handle), mpir.ObjectRequest) || !mpir.IsStored(uint32(handle))) {
		err = fmt.Errorf("it leads to %s, where the handle is %#x and no request's", at.Addr(), handle)
	}
	return err
}

// waitsFor leads to the send that waits for the answer that a receive is for, and says whether it is a synchronous one.
func (m *ofiMatcher) waitsFor(r *transport.Receive) (send inferior.Ptr[mpir.Request], isSync bool, err error) {
	if r.Mask != ^uint64(0) {
		return 0, false, fmt.Errorf("the receive at %s is for an answer, and looks at the bits %#x only", r.Addr, r.Mask)
	}
	c := &m.of.c.Answer
	isNewer := !c.Bound()
	if isNewer {
		c = &m.of.c.Ack
	}
	at := inferior.ContainerOf(c, inferior.Ptr[ofiOperation](r.UserData), func(a *ofiAnswer) *inferior.Embedded[ofiOperation] { return &a.Context })
	a, err := c.Read(m.of.lib.Reader, at)
	if err != nil || !isNewer {
		return a.Send, true, err
	}
	h, err := m.of.c.Header.Read(m.of.lib.Reader, inferior.Ptr[ofiHeader](at))
	return a.Send, h.Header == 0, err
}
