package waitfor

import (
	"cmp"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

// Clauses that say for whom the calls wait that make and part worlds. Who that is stands with the
// launcher, and in no process of the job.
const (
	spawnUnknown   = "the processes that it starts have yet to call MPI_Init, or to finish it"
	acceptUnknown  = "nobody has connected to its port yet, and who will can't be told"
	connectUnknown = "nobody has accepted at the port yet, and who will can't be told"
	joinUnknown    = "the process at the other end of its socket has yet to join"
	sessionUnknown = "which processes have yet to come can't be told"
	bufferUnknown  = "which buffered sends still hold the buffer is not known"
)

// waitInDynamic is the wait of a call that makes a communicator of some processes only, or parts with
// one. It waits for the library's messages, if it is known to wait for messages at all. Else it may
// wait for the launcher.
func (j *job) waitInDynamic(r *rank, t *mqs.Thread) wait {
	ops, found := r.operations(t.Requests)
	switch {
	case len(t.Requests) == 0:
		return wait{thread: t, unknown: cmp.Or(lackingIn[t.Call], forWhomUnknown)}
	case r.arriving():
		return wait{thread: t, unknown: arrivingUnknown}
	}
	// Its own message is among these. Others may be the program's, or a non-blocking collective's. One that has
	// just come is in no queue any more, so that only a call that stays is known to wait for what is left.
	if !found || !r.confirmed {
		return wait{thread: t, unknown: progressUnknown}
	}
	return j.waitForOperations(wait{thread: t, someOf: len(ops) > 1}, ops, true)
}

// lackingIn says for each call what is not known of it if no message of the library's shows.
var lackingIn = map[string]string{
	"MPI_Comm_spawn":                   spawnUnknown,
	"MPI_Comm_spawn_multiple":          spawnUnknown,
	"MPI_Comm_accept":                  acceptUnknown,
	"MPI_Comm_connect":                 connectUnknown,
	"MPI_Comm_join":                    joinUnknown,
	"MPI_Session_init":                 sessionUnknown,
	"MPI_Session_finalize":             sessionUnknown,
	"MPI_Comm_create_from_group":       sessionUnknown,
	"MPI_Intercomm_create_from_groups": sessionUnknown,
}

// whoIs is the clause on a peer of which no rank is known. Nobody in the other group of an intercommunicator has
// one in this job where that group has an MPI_COMM_WORLD of its own, as what MPI_Comm_spawn has started.
func (m *member) whoIs(local int32) string {
	group := m.peers().group
	if !m.comm.known || !m.comm.inter || local < 0 || int(local) >= len(group) || len(knownRanks(group)) > 0 {
		return peerUnknown
	}
	return fmt.Sprintf("its peer, rank %d of %s, is not known as a rank of this job, and may be of another, as MPI_Comm_spawn starts", local, m.comm.label())
}

// waitForBuffer is the wait of a call that takes the buffer of buffered sends back: for those whose data is
// still in it. A communicator or a session may have a buffer of its own (MPI 4.1), and how a send was started
// may not be known. So it is a wait for some of the sends that may be in it, if the call stays.
func (j *job) waitForBuffer(r *rank, t *mqs.Thread) wait {
	var sends []dependency
	for _, m := range r.members {
		if !m.readable(mqs.PendingSends) || m.cut(mqs.PendingSends) {
			return wait{thread: t, unknown: bufferUnknown}
		}
		ops := m.queued(mqs.PendingSends)
		for i := range ops {
			switch op := &ops[i]; {
			case isBuffered(op) && op.Status == mqs.Complete: // for the program only
				return wait{thread: t, unknown: bufferUnknown}
			case !op.Internal && op.Status != mqs.Complete && (isBuffered(op) || op.Kind == callstack.KindNotKnown):
				sends = append(sends, dependency{op: op, member: m, class: mqs.PendingSends})
			}
		}
	}
	switch {
	case len(sends) == 0:
		return wait{thread: t, unknown: bufferUnknown}
	case !r.confirmed:
		return wait{thread: t, unknown: progressUnknown}
	}
	return j.waitForOperations(wait{thread: t, someOf: len(sends) > 1}, sends, true)
}
