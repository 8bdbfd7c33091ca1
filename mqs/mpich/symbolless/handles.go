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
	if h.State == mqs.NullHandle || h.State == mqs.InvalidHandle {
		return h
	}
	number, isNumber := mpir.Number(v)
	isAddress := mpir.IsABI(s.lib.Root.Object) && !v.Fortran
	switch {
	case !isNumber && !isAddress:
	case v.Kind == mqs.CommHandle:
		s.resolveComm(h, func(c *mqs.Communicator) bool {
			if isAddress {
				return c.Handle == mqs.Known(inferior.Addr(v.Value))
			}
			return c.FortranHandle == mqs.Known(int32(number))
		})
	case v.Kind == mqs.RequestHandle && h.State == "":
		s.resolveRequest(h, func(at inferior.Ptr[mpir.Request], q *request) bool {
			if isAddress {
				return uint64(at) == v.Value
			}
			return q.Handle == number
		})
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

func (s *Source) resolveComm(h *mqs.Handle, is func(*mqs.Communicator) bool) {
	for id := range s.comms {
		if c := s.model(id); is(&c) {
			found(h)
			h.Communicator = &c
			if h.Name = c.Name; id == worldContext {
				h.Name = mqs.Known(worldName)
			}
			return
		}
	}
}

// resolveRequest looks for a request among those that the network library's lead to.
func (s *Source) resolveRequest(h *mqs.Handle, isMeant func(inferior.Ptr[mpir.Request], *request) bool) {
	if s.objects == nil {
		return
	}
	is := func(at inferior.Ptr[mpir.Request]) bool {
		q, err := s.objects.c.Request.Read(s.r, inferior.Ptr[request](at))
		return err == nil && q.RefCount > 0 && isMeant(at, &q)
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
