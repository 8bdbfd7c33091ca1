package symbolless

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// worldHandle is MPI_COMM_WORLD's.
const worldHandle = 0x44000000

// Resolve says what a handle stands for: what its own bits tell, and what the network library's requests lead to
// (read.Resolver).
func (s *Source) Resolve(v mqs.HandleValue) *mqs.Handle {
	h := mpir.NewBare(s.r, s.lib.Root).Resolve(v)
	number, isNumber := mpir.Number(v)
	switch {
	case !isNumber || h.State == mqs.NullHandle || h.State == mqs.InvalidHandle:
	case v.Kind == mqs.CommHandle:
		s.resolveComm(h, number)
	case v.Kind == mqs.RequestHandle && h.State == "":
		s.resolveRequest(h, number)
	}
	return h
}

// found turns a handle into one whose object is there.
func found(h *mqs.Handle) {
	h.Notes = nil
	if h.State == "" {
		h.State = mqs.LiveHandle
	}
}

func (s *Source) resolveComm(h *mqs.Handle, number uint32) {
	for id := range s.comms {
		c := s.model(id)
		if c.Handle == mqs.Known(inferior.Addr(number)) {
			found(h)
			h.Communicator = &c
			if h.Name = c.Name; number == worldHandle {
				h.Name = mqs.Known(worldName)
			}
			return
		}
	}
}

// resolveRequest looks for a request among those that the network library's lead to.
func (s *Source) resolveRequest(h *mqs.Handle, number uint32) {
	if s.objects == nil {
		return
	}
	is := func(at inferior.Ptr[mpir.Request]) bool {
		q, err := s.objects.c.Request.Read(s.r, inferior.Ptr[request](at))
		return err == nil && q.Handle == number && q.RefCount > 0
	}
	show := func(c mqs.Communicator, op mqs.PendingOperation) {
		found(h)
		h.Communicator, h.Operation = &c, &op
	}
	for id, q := range s.comms {
		for _, r := range q.sends {
			if is(s.network.Sender(r)) {
				c := s.model(id)
				show(c, s.send(&c, r))
				return
			}
		}
		for _, r := range q.receives {
			if is(s.network.Receiver(r)) {
				c := s.model(id)
				show(c, inWorld(&c, s.receive(&c, r)))
				return
			}
		}
	}
}
