package mpir

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Kinds of requests that no queue has (MPIR_Request_kind_t in src/include/mpir_request.h).
const (
	kindPersistentCollective = 5
	kindEnqueued             = 9 // from 4.1, with a place in the enumeration of its own
	kindGeneralized          = 9
	kindCollective           = 10
	kindRMA                  = 12
)

// builtinRequests are complete from the start, by the kinds that they stand for (MPIR_REQUEST_BUILTIN_COUNT in
// src/include/mpir_request.h, 4.0).
const builtinRequests = 0x11

// mostBuiltins is more than there are predefined objects of a kind that is no datatype's.
const mostBuiltins = 0x40

// otherKinds are what these are called, by their places up to 4.0.
var otherKinds = map[uint32]string{
	kindPersistentCollective: "persistent collective", kindGeneralized: "generalized", kindCollective: "collective", kindRMA: "rma",
}

// otherKind is what a request is called that is no message's.
func (r *Operation) otherKind() string {
	kind := r.Kind
	if r.Enqueue != 0 && kind >= kindEnqueued {
		if kind == kindEnqueued {
			return "enqueued"
		}
		kind--
	}
	return otherKinds[kind]
}

// requestObjects is how many objects the pools of requests have, in use or not.
func (l *Library) requestObjects() int {
	n := 0
	for i := range requestPools {
		p, err := readPool(l, inferior.At(&l.c.Pool, inferior.Ptr[pool](l.Symbols[SymRequestPools].Addr), i), SymRequestPools, &l.c.Request)
		if err != nil {
			break
		}
		for _, b := range p.blocks {
			n += b.n
		}
	}
	return n
}

// findRequest looks for the request of a handle, as [objects.find] does for other objects. How a handle tells its
// pool differs between releases, so it is looked for among all.
func (l *Library) findRequest(handle uint32) (inferior.Ptr[Request], mqs.HandleState, error) {
	heads := inferior.Ptr[pool](l.Symbols[SymRequestPools].Addr)
	if err := l.Reader.Prefetch([]inferior.Range{inferior.RangeOf(&l.c.Pool, heads, requestPools)}); err != nil {
		return 0, "", err
	}
	for i := range requestPools {
		p, err := readPool(l, inferior.At(&l.c.Pool, heads, i), fmt.Sprintf("%s[%d]", SymRequestPools, i), &l.c.Request)
		if err != nil {
			return 0, "", err
		}
		for _, b := range p.blocks {
			for i := range b.n {
				at := inferior.At(p.of, b.at, i)
				// Every object starts with its handle.
				own, err := l.Reader.Uint(at.Addr(), 4)
				if err != nil {
					return 0, "", err
				}
				if uint32(own) != handle {
					continue
				}
				if p.free()[at] {
					return at, mqs.FreedHandle, nil
				}
				r, err := l.c.Request.Read(l.Reader, at)
				if err != nil {
					return 0, "", err
				}
				if r.RefCount <= 0 {
					return at, mqs.FreedHandle, nil
				}
				return at, mqs.LiveHandle, nil
			}
		}
	}
	return 0, mqs.InvalidHandle, nil
}

// resolveRequest describes the operation of a request, or the message of one that MPI_Mprobe has made.
func (s *Source) resolveRequest(h *mqs.Handle, number uint32) {
	if h.State == mqs.PredefinedHandle {
		return
	}
	if IsBuiltin(number) {
		resolveBuiltinRequest(h, number)
		return
	}
	at, state, err := s.lib.findRequest(number)
	if h.State = state; err != nil {
		unknown(h, err)
	}
	if state != mqs.LiveHandle {
		return
	}
	q := s.requests()
	r := q.byAddr[at]
	switch {
	case r == nil && q.err != nil:
		h.State = ""
		unknown(h, q.err)
		return
	case r == nil || r.IsTaken() != (h.Kind == mqs.MessageHandle):
		h.State = mqs.InvalidHandle
		return
	}
	op := s.operation(r)
	h.Operation = &op
	if c := s.communicatorOfRequest(r); c != nil {
		h.Communicator = communicatorOf(c)
	}
}

// resolveBuiltinRequest tells the library's own requests, none of which is a message's, from none.
func resolveBuiltinRequest(h *mqs.Handle, number uint32) {
	switch index := number & handleIndex; {
	case h.Kind == mqs.MessageHandle || index >= mostBuiltins:
		h.State = mqs.InvalidHandle
	case index < builtinRequests:
		h.State, h.Operation = mqs.LiveHandle, completeRequest()
	default:
		h.Notes = append(h.Notes, "whether the library has a request of its own with this number is not known")
	}
}

// completeRequest is one of those of the library's that are complete from the start.
func completeRequest() *mqs.PendingOperation { return &mqs.PendingOperation{Status: mqs.Complete} }

// communicatorOfRequest is the communicator that an operation is on, or that serves its window; nil if it is not
// known.
func (s *Source) communicatorOfRequest(r *Operation) *Communicator {
	there := s.communicators()
	if c := there.byID[r.Comm.Addr()]; c != nil && r.Comm != 0 {
		return c
	}
	if r.otherKind() == otherKinds[kindRMA] {
		for _, w := range there.windows {
			if w.At == r.Win {
				return w.On
			}
		}
	}
	return nil
}

// operation describes any request of the program, as the queues do where they have it.
func (s *Source) operation(r *Operation) mqs.PendingOperation {
	c := s.communicatorOfRequest(r)
	bare := mqs.PendingOperation{Status: mqs.Pending, Kind: r.otherKind(), Request: mqs.Known(r.At.Addr())}
	if r.IsComplete() {
		bare.Status = mqs.Complete
	}
	if s.lib.isInactive(r) {
		bare.Status = mqs.Inactive
	}
	if c == nil && r.Kind == KindRecv {
		bare.Kind = "irecv" // a network library's, which has forgotten its communicator
		if r.IsComplete() && !r.IsCancelled() {
			bare.ActualLocalRank, bare.ActualTag, bare.ActualLength = mqs.Known(r.Source), mqs.Known(r.Tag), mqs.Known(r.Bytes())
		}
	}
	if c == nil || bare.Kind != "" {
		return bare
	}
	switch {
	case r.Kind == KindSend:
		return s.send(c, r)
	case r.Kind == KindRecv:
		return s.receive(c, r)
	case r.Kind == kindPersistentSend || r.Kind == kindPersistentRecv:
		return s.persistent(c, r)
	case isPartitioned(r):
		op, _ := s.partitioned(c, r)
		return op
	case r.IsTaken():
		for _, t := range s.taken(c) {
			if t.request == r {
				return t.operation(c)
			}
		}
	}
	return bare
}

// persistent describes a persistent request: what it has started or, of one that is not active, what it would.
func (s *Source) persistent(c *Communicator, owner *Operation) mqs.PendingOperation {
	q := s.requests()
	for _, r := range q.sends {
		if r.Owner == owner {
			return s.send(c, r)
		}
	}
	for _, r := range q.receives {
		if r.Owner == owner {
			return s.receive(c, r)
		}
	}
	op := s.lib.common(c.Model, owner, s.device.Persistent(owner))
	op.Status = mqs.Inactive
	return op
}
