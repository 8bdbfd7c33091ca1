package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// RequestAt finds the operation of a request among those of the queues: what a request of the transport's is to
// MPI is not known from itself alone. A persistent one that is not started is in none of them, and says all.
func (q *queues) RequestAt(at inferior.Addr, class string) (op mqs.PendingOperation, comm inferior.Ptr[ompi.Communicator], ok bool) {
	all, err := q.contents()
	if err != nil {
		return op, 0, false
	}
	for id, c := range q.Comms {
		for i := range all.sends[id] {
			if all.sends[id][i].handle == at {
				return q.describeSend(c.Model, &all.sends[id][i]), c.At, true
			}
		}
		for i := range all.receives[id] {
			if all.receives[id][i].handle == at {
				return q.describeReceive(c.Model, &all.receives[id][i]), c.At, true
			}
		}
	}
	if p, isPersistent := q.pml.persistentAt(at, class); isPersistent {
		return q.describeInactive(&p)
	}
	return op, 0, false
}

// MessageAt describes a message that has left the transport's queues.
func (q *queues) MessageAt(at inferior.Addr, comm *ompi.Comm) (op mqs.PendingOperation, ok bool) {
	all, err := q.contents()
	if err != nil {
		return op, false
	}
	m, err := all.matcher.MessageAt(at)
	if err != nil || q.tags.Context.Truncate(comm.Index) != q.tags.Envelope(m.Tag).Context {
		return op, false
	}
	return q.tags.Message(comm.Model, &m, true), true
}

// describeInactive describes a persistent request that is not started, as one of which nothing is left but that it
// is complete.
func (q *queues) describeInactive(p *ownRequest) (op mqs.PendingOperation, comm inferior.Ptr[ompi.Communicator], ok bool) {
	c := q.CommAt(p.comm)
	if c == nil { // as far as the tag tells
		c = q.Comms[inferior.Addr(q.tags.Envelope(p.tag).Context)]
	}
	if c == nil {
		return op, 0, false
	}
	by := owner{handle: p.at.Addr(), own: p}
	request := transport.Request{State: transport.Complete, Length: -1}
	if p.isSend {
		op = q.describeSend(c.Model, &send{Send: transport.Send{Request: request, Tag: p.tag}, owner: by, peer: q.rankOf(c, p.peer)})
	} else {
		op = q.describeReceive(c.Model, &receive{p.asks(request), by})
	}
	ompi.SetInactive(&op)
	return op, c.At, true
}
