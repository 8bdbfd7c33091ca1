package ompi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// groupDense marks a group that lists its processes (ompi/group/group.h); the
// other ways of storing one need --enable-sparse-groups.
const groupDense = 0x4

// MaxGroup bounds the number of members of a group that is believed.
const MaxGroup = 1 << 24

// memberCost is what a member of a group takes, in a list or a map, in bytes.
const memberCost = 32

// procName is ompi_process_name_t. Only the bits that a sentinel keeps of a
// jobid are compared.
type procName struct{ job, vpid uint32 }

const jobMask = 0xffff_7fff

// IsSentinel says whether an entry of a group is no pointer to a process but a process's name.
func IsSentinel(entry inferior.Ptr[Proc]) bool { return entry&1 != 0 }

// sentinelName reads a group entry that holds a process's name instead of a
// pointer: bit 0 is set, bits 1 to 15 are the local job id, 16 to 31 the job
// family, 32 to 63 the vpid. Where a pointer has 32 bits, all but the first are
// the vpid, of a process of the own job (ompi/proc/proc.h).
func (p *Process) sentinelName(entry inferior.Ptr[Proc]) (procName, error) {
	v := uint64(entry)
	if p.R.Info().PointerSize == 4 {
		own, err := p.ownJob()
		return procName{own, uint32(v >> 1)}, err
	}
	return procName{uint32(v>>1&0x7fff) | uint32(v&0xffff_0000), uint32(v >> 32)}, nil
}

// ownJob is the job of this process, which stands in MPI_COMM_WORLD's group as
// itself. Without that no rank is global, and which job it is is of no matter.
func (p *Process) ownJob() (uint32, error) {
	w, err := p.worldGroup()
	switch {
	case err != nil:
		return 0, err
	case w.job.Known:
		return w.job.Value, nil
	case w.rank < 0 || int(w.rank) >= len(w.entries):
		return 0, nil
	}
	own := w.entries[w.rank]
	if IsSentinel(own) {
		return 0, errors.New("which job is its own is not known")
	}
	proc, err := p.Proc.Read(p.R, own)
	return proc.JobID & jobMask, err
}

// worldGroup is what global ranks count in: MPI_COMM_WORLD's group or, with sessions alone, the process set
// mpi://WORLD.
type worldGroup struct {
	rank    int32
	entries []inferior.Ptr[Proc]
	byEntry map[inferior.Ptr[Proc]]int32
	byName  map[procName]int32
	// job is that of the process set, in which each process has its vpid for a rank
	// (ompi/instance/instance.c, 5.0 and later).
	job mqs.Maybe[uint32]
}

// rankOf is the global rank of the process of a name.
func (w *worldGroup) rankOf(name procName) mqs.Maybe[int32] {
	if w.job.Known && name.job == w.job.Value && name.vpid < MaxGroup {
		return mqs.Known(int32(name.vpid))
	}
	if rank, ok := w.byName[name]; ok {
		return mqs.Known(rank)
	}
	return mqs.Maybe[int32]{}
}

// Entries reads the entries of a group: pointers to processes, or sentinels.
func (p *Process) Entries(at inferior.Ptr[Group]) ([]inferior.Ptr[Proc], Group, error) {
	if at == 0 {
		return nil, Group{}, errors.New("it has none")
	}
	g, err := p.Group.Read(p.R, at)
	if err != nil {
		return nil, g, err
	}
	if g.ProcCount < 0 || g.ProcCount > MaxGroup {
		return nil, g, fmt.Errorf("it has %d members", g.ProcCount)
	}
	if g.ProcCount == 0 {
		return nil, g, nil
	}
	if g.Flags&groupDense == 0 {
		return nil, g, fmt.Errorf("it is stored sparsely (flags %#x)", g.Flags)
	}
	entries, err := inferior.ReadPointers(p.R, g.Procs, int(g.ProcCount))
	return entries, g, err
}

// prefetchGroups brings the groups of all communicators, and others, in two round trips.
func (p *Process) prefetchGroups(comms []*Comm, groups ...inferior.Ptr[Group]) {
	var objects, arrays []inferior.Range
	for _, c := range comms {
		groups = append(groups, c.LocalGroup, c.RemoteGroup)
	}
	for _, at := range groups {
		objects = append(objects, inferior.Range{Addr: at.Addr(), Len: p.Group.Size()})
	}
	_ = p.R.Prefetch(objects) // what fails here fails again, with a place for its error
	for _, at := range groups {
		if g, err := p.Group.Read(p.R, at); err == nil && g.ProcCount > 0 && g.ProcCount <= MaxGroup {
			arrays = append(arrays, inferior.Range{Addr: g.Procs.Addr(), Len: int(g.ProcCount) * p.R.Info().PointerSize})
		}
	}
	_ = p.R.Prefetch(arrays)
}

// groupRead is a group as global ranks, or why it can't be read.
type groupRead struct {
	ranks []mqs.Maybe[int32]
	err   error
}

// groupOf reads a group as global ranks, once: communicators that are made of one
// another share it. Ranks of other worlds are unknown.
func (p *Process) groupOf(at inferior.Ptr[Group]) ([]mqs.Maybe[int32], error) {
	g, ok := p.groups[at]
	if !ok {
		g.ranks, g.err = p.readGroup(at)
		p.groups[at] = g
	}
	return g.ranks, g.err
}

func (p *Process) readGroup(at inferior.Ptr[Group]) ([]mqs.Maybe[int32], error) {
	world, err := p.worldGroup()
	if err != nil {
		return nil, err
	}
	entries, _, err := p.Entries(at)
	if err != nil {
		return nil, err
	}
	if err := p.R.Spend(len(entries) * memberCost); err != nil {
		return nil, err
	}
	out := make([]mqs.Maybe[int32], len(entries))
	var unresolved []int
	for i, e := range entries {
		if rank, ok := world.byEntry[e]; ok {
			out[i] = mqs.Known(rank)
		} else {
			unresolved = append(unresolved, i)
		}
	}
	if unresolved == nil {
		return out, nil
	}
	// The same process can be a pointer here and a sentinel there.
	if world.byName == nil {
		world.byName = map[procName]int32{}
		p.PrefetchProcs(world.entries)
		for rank, e := range world.entries {
			if name, err := p.nameOf(e); err == nil {
				world.byName[name] = int32(rank)
			}
		}
	}
	p.PrefetchProcs(entries)
	for _, i := range unresolved {
		name, err := p.nameOf(entries[i])
		if err != nil {
			return nil, err
		}
		out[i] = world.rankOf(name)
	}
	return out, nil
}

// worldGroup reads MPI_COMM_WORLD's group, once.
func (p *Process) worldGroup() (*worldGroup, error) {
	if p.world != nil {
		return p.world, nil
	}
	comms, err := p.CommunicatorArray()
	if err != nil {
		return nil, err
	}
	if comms[0] == comms[nullIndex] {
		p.world = p.worldSet()
		return p.world, nil
	}
	c, err := p.Communicator.Read(p.R, comms[0])
	if err != nil {
		return nil, fmt.Errorf("MPI_COMM_WORLD: %w", err)
	}
	entries, g, err := p.Entries(c.LocalGroup)
	if err != nil {
		return nil, fmt.Errorf("MPI_COMM_WORLD: %w", err)
	}
	if err := p.R.Spend(len(entries) * memberCost); err != nil {
		return nil, err
	}
	w := &worldGroup{rank: g.MyRank, entries: entries, byEntry: make(map[inferior.Ptr[Proc]]int32, len(entries))}
	for rank, e := range entries {
		w.byEntry[e] = int32(rank)
	}
	p.world = w
	return w, nil
}

// worldSet is the process set mpi://WORLD: with sessions alone there is no MPI_COMM_WORLD. Ranks are unknown
// where the process's own name is.
func (p *Process) worldSet() *worldGroup {
	out := &worldGroup{rank: -1}
	at, ok := p.Symbols[symOwnProc]
	if !ok {
		return out
	}
	own, err := p.R.Pointers(at.Addr, 1)
	if err != nil || own[0] == 0 || p.proveProcClass(inferior.Ptr[Proc](own[0])) != nil {
		return out
	}
	if name, err := p.nameOf(inferior.Ptr[Proc](own[0])); err == nil && name.vpid < MaxGroup {
		out.rank, out.job = int32(name.vpid), mqs.Known(name.job)
	}
	return out
}

// PrefetchProcs brings the processes that entries of a group point to in one round trip.
func (p *Process) PrefetchProcs(entries []inferior.Ptr[Proc]) {
	var procs []inferior.Range
	for _, e := range entries {
		if !IsSentinel(e) {
			procs = append(procs, inferior.Range{Addr: e.Addr(), Len: p.Proc.Size()})
		}
	}
	_ = p.R.Prefetch(procs)
}

// nameOf returns the name of the process that a group entry stands for.
func (p *Process) nameOf(entry inferior.Ptr[Proc]) (procName, error) {
	if IsSentinel(entry) {
		return p.sentinelName(entry)
	}
	proc, err := p.Proc.Read(p.R, entry)
	return procName{proc.JobID & jobMask, proc.VPID}, err
}
