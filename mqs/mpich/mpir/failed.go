package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Symbols of device ch3, which MPICH hides: ch4 keeps nothing of failures (src/mpid/ch4/src/ch4_comm.c, 4.0 to 5.0).
const (
	symLastFailed  = "MPIDI_last_known_failed"  // int: a rank, or MPI_PROC_NULL
	symFailedProcs = "MPIDI_Failed_procs_group" // MPIR_Group *, of ranks in MPI_COMM_WORLD
)

// failed are the global ranks of the processes that the library knows to have failed; false if it does not say.
func (l *Library) failed() (map[mqs.Maybe[int32]]bool, bool) {
	last, hasLast := l.Symbols[symLastFailed]
	root, hasGroup := l.Symbols[symFailedProcs]
	if !hasLast || !hasGroup || !l.o.group.Group.Bound() {
		return nil, false
	}
	rank, err := l.Reader.Int(last.Addr, 4)
	if err != nil || rank == ProcNull {
		return nil, err == nil
	}
	at, err := l.Reader.Pointers(root.Addr, 1)
	if err != nil {
		return nil, false
	}
	group, err := l.o.group.Group.Read(l.Reader, inferior.Ptr[GroupObject](at[0]))
	if err != nil || !IsHandle(group.Handle, objectGroup) {
		return nil, false
	}
	members, err := l.membersOf(&group)
	if err != nil {
		return nil, false
	}
	out := map[mqs.Maybe[int32]]bool{}
	for _, member := range members {
		out[member] = member.Known
	}
	return out, true
}

// setFailed fills in which members of communicators have failed.
func (l *Library) setFailed(comms []*Communicator) {
	failed, isKnown := l.failed()
	for _, c := range comms {
		if !isKnown || c.Model.Group == nil {
			continue
		}
		c.Model.Failed = []int32{}
		for rank, member := range c.Model.Group {
			if failed[member] {
				c.Model.Failed = append(c.Model.Failed, int32(rank))
			}
		}
	}
}
