package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// RequestAt finds the operation of a request among those of the queues: what a request of the transport's is to
// MPI is not known from itself alone. A persistent one that is not started is in none of them.
func (q *queues) RequestAt(at inferior.Addr, _ string) (op mqs.PendingOperation, comm inferior.Ptr[ompi.Communicator], ok bool) {
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
	return op, 0, false
}
