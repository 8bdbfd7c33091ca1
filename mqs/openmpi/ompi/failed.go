package ompi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// failedProcs is the group of the processes that are known to have failed. It returns false where the library
// does not keep it: where it was not built to go on after failures, or not started to (mpirun --with-ft ulfm).
func (p *Process) failedProcs() (inferior.Ptr[Group], bool) {
	enabled, hasSwitch := p.Symbols[symFaultTolerant]
	root, hasGroup := p.Symbols[symFailedProcs]
	if !hasSwitch || !hasGroup {
		return 0, false
	}
	if on, err := p.R.Uint(enabled.Addr, 1); err != nil || on == 0 {
		return 0, false
	}
	at, err := p.R.Pointers(root.Addr, 1)
	if err != nil || at[0] == 0 {
		return 0, false
	}
	return inferior.Ptr[Group](at[0]), true
}

// setFailed fills in which members of communicators have failed. Nothing is known where a group can't be read.
func (p *Process) setFailed(comms []*Comm, group inferior.Ptr[Group]) {
	if ProveClass(p, &p.Group, group) != nil {
		return
	}
	procs, _, err := p.Entries(group)
	if err != nil {
		return
	}
	p.PrefetchProcs(procs)
	failed := map[procName]bool{}
	for _, e := range procs {
		name, err := p.nameOf(e)
		if err != nil {
			return
		}
		failed[name] = true
	}
	for _, c := range comms {
		c.Model.Failed = p.membersAmong(c, failed)
	}
}

// membersAmong are the local ranks of the members that some processes are, nil if the members are not known.
func (p *Process) membersAmong(c *Comm, procs map[procName]bool) []int32 {
	if c.Model.Group == nil && c.Model.Size != mqs.Known[int32](0) {
		return nil
	}
	out := []int32{}
	if len(procs) == 0 {
		return out
	}
	members, _, err := p.Entries(c.LocalGroup)
	if err != nil {
		return nil
	}
	p.PrefetchProcs(members)
	for rank, e := range members {
		name, err := p.nameOf(e)
		if err != nil {
			return nil
		}
		if procs[name] {
			out = append(out, int32(rank))
		}
	}
	return out
}
