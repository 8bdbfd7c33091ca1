package openmpi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// groupDense marks a group that lists its processes (ompi/group/group.h); the
// other ways of storing one need --enable-sparse-groups.
const groupDense = 0x4

const maxGroup = 1 << 24

// memberCost is what a member of a group takes, in a list or a map, in bytes.
const memberCost = 32

// procName is ompi_process_name_t. Only the bits that a sentinel keeps of a
// jobid are compared.
type procName struct{ job, vpid uint32 }

const jobMask = 0xffff_7fff

// sentinelName reads a group entry that holds a process's name instead of a
// pointer: bit 0 is set, bits 1 to 15 are the local job id, 16 to 31 the job
// family, 32 to 63 the vpid. Where a pointer has 32 bits, all but the first are
// the vpid, of a process of the own job (ompi/proc/proc.h).
func (s *source) sentinelName(entry inferior.Addr) (procName, error) {
	v := uint64(entry)
	if s.r.Info().PointerSize == 4 {
		own, err := s.ownJob()
		return procName{own, uint32(v >> 1)}, err
	}
	return procName{uint32(v>>1&0x7fff) | uint32(v&0xffff_0000), uint32(v >> 32)}, nil
}

// ownJob is the job of this process, which stands in MPI_COMM_WORLD's group as
// itself. Without that no rank is global, and which job it is is of no matter.
func (s *source) ownJob() (uint32, error) {
	w, err := s.worldGroup()
	if err != nil || w.rank < 0 || int(w.rank) >= len(w.entries) {
		return 0, err
	}
	own := w.entries[w.rank]
	if own&1 != 0 {
		return 0, errors.New("which job is its own is not known")
	}
	p, err := s.Proc.ReadAt(s.r, own)
	return p.JobID & jobMask, err
}

// worldGroup is MPI_COMM_WORLD's group: what global ranks count in.
type worldGroup struct {
	rank    int32
	entries []inferior.Addr
	byEntry map[inferior.Addr]int32
	byName  map[procName]int32
}

// groupEntries reads the entries of the group that pick names in the communicator at a.
func (s *source) groupEntries(a inferior.Addr, pick func(communicator) inferior.Addr) ([]inferior.Addr, group, error) {
	c, err := s.Communicator.ReadAt(s.r, a)
	if err != nil {
		return nil, group{}, err
	}
	return s.entries(pick(c))
}

// entries reads the entries of the group at a: pointers to processes, or sentinels.
func (s *source) entries(a inferior.Addr) ([]inferior.Addr, group, error) {
	if a == 0 {
		return nil, group{}, errors.New("it has none")
	}
	g, err := s.Group.ReadAt(s.r, a)
	if err != nil {
		return nil, g, err
	}
	if g.ProcCount < 0 || g.ProcCount > maxGroup {
		return nil, g, fmt.Errorf("it has %d members", g.ProcCount)
	}
	if g.ProcCount == 0 {
		return nil, g, nil
	}
	if g.Flags&groupDense == 0 {
		return nil, g, fmt.Errorf("it is stored sparsely (flags %#x)", g.Flags)
	}
	entries, err := s.r.Pointers(g.Procs, int(g.ProcCount))
	return entries, g, err
}

// prefetchGroups brings the groups of all communicators in two round trips.
func (s *source) prefetchGroups(states []*commState) {
	var groups, arrays []inferior.Range
	for _, c := range states {
		for _, a := range []inferior.Addr{c.LocalGroup, c.RemoteGroup} {
			groups = append(groups, inferior.Range{Addr: a, Len: s.Group.Size()})
		}
	}
	_ = s.r.Prefetch(groups) // what fails here fails again, with a place for its error
	for _, r := range groups {
		if g, err := s.Group.ReadAt(s.r, r.Addr); err == nil && g.ProcCount > 0 && g.ProcCount <= maxGroup {
			arrays = append(arrays, inferior.Range{Addr: g.Procs, Len: int(g.ProcCount) * s.r.Info().PointerSize})
		}
	}
	_ = s.r.Prefetch(arrays)
}

// groupRead is a group as global ranks, or why it can't be read.
type groupRead struct {
	ranks []mqs.Maybe[int32]
	err   error
}

// groupOf reads the group at a as global ranks, once: communicators that are made of one
// another share it. Ranks of other worlds are unknown.
func (s *source) groupOf(a inferior.Addr) ([]mqs.Maybe[int32], error) {
	g, ok := s.groups[a]
	if !ok {
		g.ranks, g.err = s.readGroup(a)
		s.groups[a] = g
	}
	return g.ranks, g.err
}

func (s *source) readGroup(a inferior.Addr) ([]mqs.Maybe[int32], error) {
	world, err := s.worldGroup()
	if err != nil {
		return nil, err
	}
	entries, _, err := s.entries(a)
	if err != nil {
		return nil, err
	}
	if err := s.r.Spend(len(entries) * memberCost); err != nil {
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
		s.prefetchProcs(world.entries)
		for rank, e := range world.entries {
			if name, err := s.nameOf(e); err == nil {
				world.byName[name] = int32(rank)
			}
		}
	}
	s.prefetchProcs(entries)
	for _, i := range unresolved {
		name, err := s.nameOf(entries[i])
		if err != nil {
			return nil, err
		}
		if rank, ok := world.byName[name]; ok {
			out[i] = mqs.Known(rank)
		}
	}
	return out, nil
}

// worldGroup reads MPI_COMM_WORLD's group, once.
func (s *source) worldGroup() (*worldGroup, error) {
	if s.world != nil {
		return s.world, nil
	}
	_, comms, err := s.communicatorArray()
	if err != nil {
		return nil, err
	}
	if comms[0] == comms[nullIndex] {
		// Sessions alone: there is no MPI_COMM_WORLD for ranks to be global in.
		return &worldGroup{}, nil
	}
	entries, g, err := s.groupEntries(comms[0], func(c communicator) inferior.Addr { return c.LocalGroup })
	if err != nil {
		return nil, fmt.Errorf("MPI_COMM_WORLD: %w", err)
	}
	if err := s.r.Spend(len(entries) * memberCost); err != nil {
		return nil, err
	}
	w := &worldGroup{rank: g.MyRank, entries: entries, byEntry: make(map[inferior.Addr]int32, len(entries))}
	for rank, e := range entries {
		w.byEntry[e] = int32(rank)
	}
	s.world = w
	return w, nil
}

func (s *source) prefetchProcs(entries []inferior.Addr) {
	var procs []inferior.Range
	for _, e := range entries {
		if e&1 == 0 {
			procs = append(procs, inferior.Range{Addr: e, Len: s.Proc.Size()})
		}
	}
	_ = s.r.Prefetch(procs)
}

// nameOf returns the name of the process that a group entry stands for.
func (s *source) nameOf(entry inferior.Addr) (procName, error) {
	if entry&1 != 0 {
		return s.sentinelName(entry)
	}
	p, err := s.Proc.ReadAt(s.r, entry)
	return procName{p.JobID & jobMask, p.VPID}, err
}
