package mpir

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// symFailedProcs is the group of those that have failed, of ranks in MPI_COMM_WORLD: an MPIR_Group * of device ch3,
// which MPICH hides. ch4 keeps nothing of failures (src/mpid/ch4/src/ch4_comm.c, 4.0 to 5.0). It is looked for where
// a communicator says that a member has failed, which hardly any does.
const symFailedProcs = "MPIDI_Failed_procs_group"

// noneAcked is the last failed process that a communicator's program knows of, if there is none
// (src/mpid/ch3/src/ch3u_comm.c, 4.0 to 5.0).
const noneAcked = -1

// hasFailures says whether a member of a communicator is known to have failed, or to have been so.
func (c *Comm) hasFailures() bool { return c.AnySource == 0 || c.Acked != noneAcked }

// failed are the global ranks of the processes that the library knows to have failed; false if it does not say.
func (l *Library) failed(comms []*Communicator) (map[mqs.Maybe[int32]]bool, bool) {
	if !hasMember(&l.c.Comm, func(c *Comm) *int32 { return &c.AnySource }) || !hasMember(&l.c.Comm, func(c *Comm) *int32 { return &c.Acked }) {
		return nil, false
	}
	if !slices.ContainsFunc(comms, func(c *Communicator) bool { return c.hasFailures() }) {
		return nil, true
	}
	symbols, err := l.Reader.Symbols(symFailedProcs)
	root, ok := symbols[symFailedProcs]
	if err != nil || !ok || !l.o.group.Group.Bound() {
		return nil, false
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
	failed, isKnown := l.failed(comms)
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
