package ompi

import (
	"slices"

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
	for _, c := range comms {
		if c.Model.Group != nil || c.Model.Size == mqs.Known[int32](0) {
			c.Model.Failed = p.membersAmong(c, procs)
		}
	}
}

// membersAmong are the local ranks of the members that some processes are, nil if that can't be told.
func (p *Process) membersAmong(c *Comm, procs []inferior.Ptr[Proc]) []int32 {
	out := []int32{}
	if len(procs) == 0 {
		return out
	}
	members, _, err := p.Entries(c.LocalGroup)
	if err != nil {
		return nil
	}
	if slices.ContainsFunc(members, IsSentinel) || slices.ContainsFunc(procs, IsSentinel) {
		// The same process can be a pointer here and a sentinel there.
		names, err := p.namesOf(members)
		others, otherErr := p.namesOf(procs)
		if err != nil || otherErr != nil {
			return nil
		}
		return ranksAmong(names, others)
	}
	return ranksAmong(members, procs)
}

// ranksAmong are the places of the members that are among others.
func ranksAmong[T comparable](members, others []T) []int32 {
	among := map[T]bool{}
	for _, other := range others {
		among[other] = true
	}
	out := []int32{}
	for rank, member := range members {
		if among[member] {
			out = append(out, int32(rank))
		}
	}
	return out
}

// namesOf are the names of the processes that entries of a group stand for.
func (p *Process) namesOf(entries []inferior.Ptr[Proc]) ([]procName, error) {
	p.PrefetchProcs(entries)
	out := make([]procName, len(entries))
	for i, e := range entries {
		var err error
		if out[i], err = p.nameOf(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}
