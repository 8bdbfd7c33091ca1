package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// readUnexpected reads the list of all unexpected messages.
func (p *psm) readUnexpected() error {
	count, err := p.walk(p.mq.Messages.Ptr(), p.lists()-1, func(at inferior.Ptr[psmRequest], r *psmRequest) error {
		m, isTagged, err := p.of(at, r)
		if err == nil && isTagged {
			p.queues.Unexpected = append(p.queues.Unexpected, m)
		}
		return err
	})
	if err == nil && count != int(p.mq.MessageCount) {
		err = fmt.Errorf("there are %d, and they say %d", count, p.mq.MessageCount)
	}
	if err != nil {
		return fmt.Errorf("the unexpected messages: %w", err)
	}
	return nil
}

// of is the message of a request, and whether it is a tagged one. One of data with gaps begins with where its parts are,
// which says nothing of its length.
func (p *psm) of(at inferior.Ptr[psmRequest], r *psmRequest) (m transport.Message, isTagged bool, err error) {
	if r.State != psmComplete && r.State != psmUnexpected && r.State != psmRendezvous {
		return m, false, fmt.Errorf("the message at %s has state %d", at, r.State)
	}
	flags, isTold := p.tags.flags(r)
	if !isTold {
		return m, false, fmt.Errorf("the message at %s: %w", at, errPSMTags)
	}
	if flags&psmTypeFlags != 0 {
		return m, false, nil
	}
	m = transport.Message{Addr: at.Addr(), Tag: p.tags.tag(r), Peer: p.peer(r.Peer), Beside: p.tags.beside(r, flags), Length: int64(r.Length),
		Rendezvous: r.State == psmRendezvous}
	switch {
	case flags&psmPartsFlag != 0:
		m.Length = -1
	case r.State == psmComplete:
		m.Data = r.Buffer
	}
	return m, true, nil
}

// message reads a message, which may have been claimed: then its request is in use, and in no queue.
func (p *psm) message(at inferior.Addr) (transport.Message, error) {
	req := inferior.Ptr[psmRequest](at)
	if _, isOne := p.isInUse[req]; !isOne {
		return transport.Message{}, fmt.Errorf("there is no message at %s: %w", at, transport.ErrNoMessage)
	}
	r, err := p.Request.Read(p.r, req)
	if err != nil {
		return transport.Message{}, err
	}
	// One that a receive has taken is the receive's.
	if r.MQ != p.context.MQ || r.Context != 0 || r.State == psmPosted {
		return transport.Message{}, fmt.Errorf("there is no message at %s: %w", at, transport.ErrNoMessage)
	}
	m, isTagged, err := p.of(req, &r)
	if err == nil && !isTagged {
		err = fmt.Errorf("there is no tagged message at %s: %w", at, transport.ErrNoMessage)
	}
	return m, err
}

// claimed: a context that has claimed a message begins with where it is.
func (p *psm) claimed(context inferior.Addr) (transport.Message, error) {
	held, err := p.r.Pointers(context, 1)
	if err != nil {
		return transport.Message{}, err
	}
	if p.isInUse[inferior.Ptr[psmRequest](held[0])] { // in a queue
		return transport.Message{}, errNotClaimed(context)
	}
	return p.message(held[0])
}
