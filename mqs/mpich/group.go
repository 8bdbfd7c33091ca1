package mpich

import (
	"fmt"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// readGroups fills in the groups of a communicator. One that can't be read is
// unknown, with a note.
func (s *source) readGroups(c *commState) {
	var err error
	if c.model.Group, err = s.groupOf(c, c.Kind == commInter, c.LocalSize); err != nil {
		s.notef("the group of %s can't be read: %v", c.model.Label(), err)
	}
	if c.Kind != commInter {
		return
	}
	if c.RemoteSize <= 0 || c.RemoteSize > maxMembers {
		s.notef("the remote group of %s can't be read: it has %d members", c.model.Label(), c.RemoteSize)
		return
	}
	if c.model.RemoteGroup, err = s.groupOf(c, false, c.RemoteSize); err != nil {
		s.notef("the remote group of %s can't be read: %v", c.model.Label(), err)
	}
}

// groupOf reads one group of a communicator: the group that ranks of peers
// count in, or the local one of an intercommunicator.
func (s *source) groupOf(c *commState, local bool, size int32) ([]mqs.Maybe[int32], error) {
	if s.Pmap.Bound() {
		return s.mappedGroup(c, local, size)
	}
	return s.device.group(c.addr, local, size)
}

// mappedGroup reads a group object, from 5.0. A process's number is that of its
// world and its rank in that; the program's own world has the number 0.
func (s *source) mappedGroup(c *commState, local bool, size int32) ([]mqs.Maybe[int32], error) {
	groups, err := s.groups.Comm.ReadAt(s.r, c.addr)
	if err != nil {
		return nil, err
	}
	at := groups.Local
	if c.Kind == commInter && !local {
		at = groups.Remote
	}
	g, err := s.groups.Group.ReadAt(s.r, at)
	if err != nil {
		return nil, err
	}
	if g.Size != size {
		return nil, fmt.Errorf("it has %d members, not %d", g.Size, size)
	}
	m, err := s.Pmap.ReadAt(s.r, inferior.Addr(g.Pmap))
	if err != nil {
		return nil, err
	}
	key := membership{size: size, offset: m.Offset, stride: m.Stride}
	if m.UseMap {
		key = membership{size: size, at: m.Map}
	}
	return s.once(key, func(out []mqs.Maybe[int32]) error {
		if !m.UseMap {
			for i := range out {
				out[i] = s.inWorld(m.Offset + int64(i)*m.Stride)
			}
			return nil
		}
		numbers, err := s.words(m.Map, len(out), 8)
		for i, number := range numbers {
			out[i] = s.inWorld(int64(number))
		}
		return err
	})
}

// membership says all that a group depends on: how many members it has, and the list or
// the formula that tells who they are.
type membership struct {
	size                      int32
	mode                      uint32
	table                     int32
	offset, stride, blockSize int64
	at                        inferior.Addr
}

// once makes a group, which fill fills in; communicators whose members are the same share
// it. A formula has no memory in the process: its members are accounted for here.
func (s *source) once(key membership, fill func([]mqs.Maybe[int32]) error) ([]mqs.Maybe[int32], error) {
	if g, ok := s.members[key]; ok {
		return g, nil
	}
	if err := s.r.Spend(int(key.size) * int(unsafe.Sizeof(mqs.Maybe[int32]{}))); err != nil {
		return nil, err
	}
	g := make([]mqs.Maybe[int32], key.size)
	if err := fill(g); err != nil {
		return nil, err
	}
	s.members[key] = g
	return g, nil
}

// inWorld is the global rank of a process that has this number, which is its
// rank in MPI_COMM_WORLD if that has so many.
func (s *source) inWorld(number int64) mqs.Maybe[int32] {
	if number < 0 || number >= int64(s.process.Size) {
		return mqs.Maybe[int32]{}
	}
	return mqs.Known(int32(number))
}

// words reads an array of n unsigned integers of size bytes each.
func (s *source) words(a inferior.Addr, n, size int) ([]inferior.Addr, error) {
	if _, err := s.r.Bytes(a, n*size); err != nil {
		return nil, err
	}
	if err := s.r.Spend(n * int(unsafe.Sizeof(a))); err != nil {
		return nil, err
	}
	out := make([]inferior.Addr, n)
	for i := range out {
		v, err := s.r.Uint(a+inferior.Addr(i*size), size)
		if err != nil {
			return nil, err
		}
		out[i] = inferior.Addr(v)
	}
	return out, nil
}
