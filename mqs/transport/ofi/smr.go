package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// smr is an endpoint of the provider shm (smr_ep, prov/shm/src/smr.h): a queue, and what takes messages for that and sends.
// The provider has changed both: its queue was its own before there was one that providers share, and messages were
// copied whole before their commands stayed with their senders.
type smr struct {
	smrQueue
	beneath
	queues *transport.Queues
}

// smrQueue is where receives and messages match.
type smrQueue interface {
	readPosted() error
	readUnexpected() error
	message(at inferior.Addr) (transport.Message, error)
	claimed(context inferior.Addr) (transport.Message, error)
	same(p transport.Peer) transport.Peer
}

// smrTypes are those of the provider shm that all its releases have (prov/shm/src/smr.h, 1.17 to 2.6).
type smrTypes struct {
	EP inferior.Struct[smrEP] `c:"smr_ep"`
}

// smrEP begins with a util_ep.
type smrEP struct {
	// Queue is a util_srx_ctx, or up to 1.18 a smr_srx_ctx.
	Queue inferior.Addr       `c:"srx"`
	AV    inferior.Ptr[smrAV] `c:"util_ep.av,optional"` // begins with a util_av
}

func openSMR(e *Endpoint, l *layout.Layouts) (provider, error) {
	taker, queue, err := openSMRWith(e.r, l, e.at, openSMRPeers)
	if err != nil {
		return nil, err
	}
	s := &smr{beneath: taker, queues: &e.queues}
	if l.Find("smr_srx_ctx") != nil {
		s.smrQueue, err = openSMRQueue(e, l, inferior.Ptr[smrOwnQueue](queue), taker)
	} else {
		s.smrQueue, err = openShared(e, l, inferior.Ptr[shared](queue), taker)
	}
	return s, err
}

// openSMRTaker opens what takes messages for another's queue, who calls peers otherwise.
func openSMRTaker(r *inferior.Reader, l *layout.Layouts, at inferior.Addr) (beneath, error) {
	in, _, err := openSMRWith(r, l, at, func(*inferior.Reader, *layout.Layouts, *smrEP) *smrPeers { return &smrPeers{} })
	return in, err
}

// openSMRWith opens what takes messages for a queue, and sends to peers that have names. It returns where the queue is too.
func openSMRWith(r *inferior.Reader, l *layout.Layouts, at inferior.Addr, names func(*inferior.Reader, *layout.Layouts, *smrEP) *smrPeers) (in beneath, queue inferior.Addr, err error) {
	var types smrTypes
	if err := inferior.Bind(&types, l); err != nil {
		return nil, 0, err
	}
	ep, err := types.EP.Read(r, inferior.Ptr[smrEP](at))
	if err != nil {
		return nil, 0, err
	}
	if _, isPending := l.Field("smr_ep", "pend_pool"); isPending {
		in, err = openSMRPending(r, l, at, names(r, l, &ep))
	} else {
		in, err = openSMRCopies(r, l, at, names(r, l, &ep))
	}
	return in, ep.Queue, err
}

// readSends reads the messages on their way: those that the peer has to fetch, or to acknowledge.
func (s *smr) readSends() error {
	sends, err := s.sending()
	s.queues.Sends = sends
	switch {
	case errors.Is(err, errNoCommand):
		s.queues.SendsErr = err
	case err != nil:
		return fmt.Errorf("the messages on their way: %w", err)
	}
	return nil
}
