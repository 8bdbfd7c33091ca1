package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// readUnexpected reads the unexpected messages that are tagged.
func (p *psm) readUnexpected() error {
	all, err := p.mq.Messages()
	for i := range all {
		m, isTagged, bad := p.of(&all[i])
		if bad != nil {
			return fmt.Errorf("the unexpected messages: %w", bad)
		}
		if isTagged {
			p.queues.Unexpected = append(p.queues.Unexpected, m)
		}
	}
	return err
}

// of is the message of a request, and whether it is a tagged one. One of data with gaps begins with where its parts are,
// which says nothing of its length.
func (p *psm) of(r *mq.Found) (m transport.Message, isTagged bool, err error) {
	flags, isTold := p.tags.flags(r)
	if !isTold {
		return m, false, fmt.Errorf("the message at %s: %w", r.At, errPSMTags)
	}
	if flags&psmTypeFlags != 0 {
		return m, false, nil
	}
	m = transport.Message{Addr: r.At.Addr(), Tag: p.tags.tag(r), Peer: p.peer(r.Peer), Beside: p.tags.beside(r, flags), Length: int64(r.Length),
		Rendezvous: r.State == mq.Rendezvous}
	switch {
	case flags&psmPartsFlag != 0:
		m.Length = -1
	case r.State == mq.Complete:
		m.Data = r.Buffer
	}
	return m, true, nil
}

// message reads a message, which may have been claimed.
func (p *psm) message(at inferior.Addr) (transport.Message, error) {
	m, _, err := p.messageAt(at)
	return m, err
}

func (p *psm) messageAt(at inferior.Addr) (m transport.Message, isClaimed bool, err error) {
	r, isClaimed, err := p.mq.MessageAt(inferior.Ptr[mq.Request](at))
	if err != nil {
		return m, false, err
	}
	m, isTagged, err := p.of(&r)
	if err == nil && !isTagged {
		err = fmt.Errorf("there is no tagged message at %s: %w", at, transport.ErrNoMessage)
	}
	return m, isClaimed, err
}

// claimed: a context that has claimed a message begins with where it is.
func (p *psm) claimed(context inferior.Addr) (transport.Message, error) {
	held, err := p.r.Pointers(context, 1)
	if err != nil {
		return transport.Message{}, err
	}
	m, isClaimed, err := p.messageAt(held[0])
	if err == nil && !isClaimed {
		err = errNotClaimed(context)
	}
	return m, err
}
