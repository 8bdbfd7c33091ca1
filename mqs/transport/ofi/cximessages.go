package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What stands in the bits by which the network card matches (union cxip_match_bits, prov/cxi/include/cxip.h, 1.22 to 2.6).
const (
	cxiTagBits = 1<<48 - 1
	cxiHasData = 1 << 59
	cxiTagged  = 1 << 60
)

// cxiRendezvous is a bit of the byte before those, of a message whose data is with its sender.
const cxiRendezvous = 1 << 2

// cxiInSoftware has the network card match nothing.
const cxiInSoftware = "FI_CXI_RX_MATCH_MODE=software"

// errInCard means that messages may be in the network card.
var errInCard = errors.New("those that the network card holds can't be read")

// readUnexpected reads the messages that the software has. What the network card has is not known.
func (c *cxi) readUnexpected() error {
	r := &c.receives
	isAll := !r.Offloads && (r.State == cxiBySoftware || r.State == cxiDisabled)
	for _, q := range []struct {
		head  link
		at    inferior.Embedded[link]
		count int32
	}{{r.Messages, r.MessagesAt, r.Count}, {r.Coming, r.ComingAt, r.ComingCount}} {
		count := int32(0)
		err := ring(q.head, q.at.Ptr(), func(l inferior.Ptr[link]) (link, error) {
			at := inferior.ContainerOf(&c.Message, l, func(m *cxiMessage) *inferior.Embedded[link] { return &m.InList })
			m, err := c.Message.Read(c.r, at)
			if err == nil {
				count++
				err = c.take(at, &m)
			}
			return m.Links, err
		})
		if err == nil && count != q.count {
			err = fmt.Errorf("the list at %s has %d messages, and says %d", q.at, count, q.count)
		}
		if err != nil {
			return fmt.Errorf("the unexpected messages: %w", err)
		}
	}
	if !isAll {
		return errInCard
	}
	return nil
}

// take adds a message, or keeps it for the context that has claimed it.
func (c *cxi) take(at inferior.Ptr[cxiMessage], m *cxiMessage) error {
	if m.Bits&cxiTagged == 0 {
		return nil
	}
	out, err := c.of(at, m)
	switch {
	case err != nil:
		return err
	case !m.IsClaimed:
		c.queues.Unexpected = append(c.queues.Unexpected, out)
	}
	c.known[at.Addr()], c.isTaken[at.Addr()] = out, m.IsClaimed
	return nil
}

// of is the message of an entry.
func (c *cxi) of(at inferior.Ptr[cxiMessage], m *cxiMessage) (transport.Message, error) {
	before, err := c.r.Uint(m.BitsAt.Addr()-1, 1)
	if err != nil {
		return transport.Message{}, err
	}
	peer, err := c.peer(m.Initiator)
	if err != nil {
		return transport.Message{}, err
	}
	return transport.Message{Addr: at.Addr(), Tag: m.Bits & cxiTagBits, Peer: peer, Length: int64(m.Length), Rendezvous: before&cxiRendezvous != 0,
		Beside: mqs.Maybe[uint64]{Value: m.Data, Known: m.Bits&cxiHasData != 0}}, nil
}

// message finds a message that the software has.
func (c *cxi) message(at inferior.Addr) (transport.Message, error) {
	m, ok := c.known[at]
	if !ok {
		return m, fmt.Errorf("there is no message at %s: %w", at, transport.ErrNoMessage)
	}
	return m, nil
}

// claimed: a context that has claimed a message begins with where it is.
func (c *cxi) claimed(context inferior.Addr) (transport.Message, error) {
	held, err := c.r.Pointers(context, 1)
	if err != nil {
		return transport.Message{}, err
	}
	if !c.isTaken[held[0]] {
		return transport.Message{}, errNotClaimed(context)
	}
	return c.known[held[0]], nil
}
