package ob1

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// RequestAt describes a request that the program has a handle of, without reading any queue: no blocking call
// has made it.
func (q *queues) RequestAt(at inferior.Addr, class string) (op mqs.PendingOperation, comm inferior.Ptr[ompi.Communicator], ok bool) {
	switch class {
	case q.SendRequest.Name():
		r, err := q.SendRequest.Read(q.R, inferior.Ptr[sendRequest](at))
		if err != nil {
			return op, 0, false
		}
		op = q.describeSend(q.modelOf(r.Base.Comm), sendAt{inferior.Ptr[sendRequest](at), r}, nil)
		return started(op, r.Base, isBuffered(r)), r.Base.Comm, true
	case q.RecvRequest.Name():
		r, err := q.RecvRequest.Read(q.R, inferior.Ptr[recvRequest](at))
		if err != nil {
			return op, 0, false
		}
		op = q.describeReceive(q.modelOf(r.Base.Comm), &recvAt{at: inferior.Ptr[recvRequest](at), recvRequest: r}, nil)
		return started(op, r.Base, false), r.Base.Comm, true
	}
	return op, 0, false
}

// MessageAt describes a message that the request of a probe stands for.
func (q *queues) MessageAt(at inferior.Addr, comm *ompi.Comm) (op mqs.PendingOperation, ok bool) {
	p := &recvAt{at: inferior.Ptr[recvRequest](at)}
	if ompi.ProveClass(q.Process, &q.RecvRequest, p.at) != nil {
		return op, false
	}
	r, err := q.RecvRequest.Read(q.R, p.at)
	if p.recvRequest = r; err != nil || r.Base.Comm != comm.At || !isTaken(p) {
		return op, false
	}
	return q.taken(comm.Model, p), true
}

// modelOf is the communicator at an address, an empty one if there is none.
func (q *queues) modelOf(at inferior.Ptr[ompi.Communicator]) *mqs.Communicator {
	if c := q.CommAt(at); c != nil {
		return c.Model
	}
	return &mqs.Communicator{}
}

// started takes from the operation of a persistent request that is not started what a former start has left.
func started(op mqs.PendingOperation, r request, isBuffered bool) mqs.PendingOperation {
	if r.State != ompi.RequestInactive || isBuffered {
		return op
	}
	ompi.SetInactive(&op)
	return op
}
