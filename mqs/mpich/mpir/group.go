package mpir

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// readGroups fills in the groups of a communicator. One that can't be read is
// unknown, with a note.
func (s *Source) readGroups(c *Communicator) {
	var err error
	if c.Model.Group, err = s.groupOf(c, c.Kind == CommInter, c.LocalSize); err != nil {
		s.lib.Remarks.Notef("the group of %s can't be read: %v", c.Model.Label(), err)
	}
	if c.Kind != CommInter {
		return
	}
	if c.RemoteSize <= 0 || c.RemoteSize > MaxMembers {
		s.lib.Remarks.Notef("the remote group of %s can't be read: it has %d members", c.Model.Label(), c.RemoteSize)
		return
	}
	if c.Model.RemoteGroup, err = s.groupOf(c, false, c.RemoteSize); err != nil {
		s.lib.Remarks.Notef("the remote group of %s can't be read: %v", c.Model.Label(), err)
	}
}

// groupOf reads one group of a communicator: the group that ranks of peers
// count in, or the local one of an intercommunicator.
func (s *Source) groupOf(c *Communicator, isLocal bool, size int32) ([]mqs.Maybe[int32], error) {
	if s.lib.HasGroups() {
		return s.lib.mappedGroup(c, isLocal, size)
	}
	return s.device.Group(c, isLocal, size)
}

// mappedGroup reads a group object, from 5.0. A process's number is that of its
// world and its rank in that; the program's own world has the number 0.
func (l *Library) mappedGroup(c *Communicator, isLocal bool, size int32) ([]mqs.Maybe[int32], error) {
	at, err := l.pmapOf(c, isLocal, size)
	if err != nil {
		return nil, err
	}
	return l.mapped(at, size)
}

// Processes are the numbers of the members that ranks of peers count in, from 5.0: above 32 bits that of their world, and
// below their rank in that.
func (l *Library) Processes(c *Communicator, size int32) ([]uint64, error) {
	at, err := l.pmapOf(c, false, size)
	if err != nil {
		return nil, err
	}
	m, err := l.c.Pmap.Read(l.Reader, at)
	if err != nil {
		return nil, err
	}
	if m.UseMap {
		return l.Numbers(m.Map, int(size), 8)
	}
	if err := l.Reader.Spend(int(size) * int(unsafe.Sizeof(uint64(0)))); err != nil {
		return nil, err
	}
	out := make([]uint64, size)
	for i := range out {
		out[i] = uint64(m.Offset + int64(i)*m.Stride)
	}
	return out, nil
}

// pmapOf is where the group object of a communicator, of size members, maps ranks.
func (l *Library) pmapOf(c *Communicator, isLocal bool, size int32) (inferior.Ptr[pmap], error) {
	groups, err := l.groups.Groups.Read(l.Reader, inferior.Ptr[commGroups](c.At))
	if err != nil {
		return 0, err
	}
	at := groups.Local
	if c.Kind == CommInter && !isLocal {
		at = groups.Remote
	}
	g, err := l.groups.Group.Read(l.Reader, at)
	if err != nil {
		return 0, err
	}
	if g.Size != size {
		return 0, fmt.Errorf("it has %d members, not %d", g.Size, size)
	}
	return g.Pmap.Ptr(), nil
}

// mapped reads how a group of size members maps ranks.
func (l *Library) mapped(at inferior.Ptr[pmap], size int32) ([]mqs.Maybe[int32], error) {
	m, err := l.c.Pmap.Read(l.Reader, at)
	if err != nil {
		return nil, err
	}
	key := Membership{Size: size, Offset: m.Offset, Stride: m.Stride}
	if m.UseMap {
		key = Membership{Size: size, List: m.Map}
	}
	return l.Members(key, func(out []mqs.Maybe[int32]) error {
		if !m.UseMap {
			for i := range out {
				out[i] = l.InWorld(m.Offset + int64(i)*m.Stride)
			}
			return nil
		}
		numbers, err := l.Numbers(m.Map, len(out), 8)
		for i, number := range numbers {
			out[i] = l.InWorld(int64(number))
		}
		return err
	})
}

// membersOf reads the members of a group object.
func (l *Library) membersOf(g *GroupObject) ([]mqs.Maybe[int32], error) {
	switch {
	case g.Size < 0 || g.Size > MaxMembers:
		return nil, fmt.Errorf("it has %d members", g.Size)
	case g.Size == 0:
		return []mqs.Maybe[int32]{}, nil
	case g.Pmap != 0 && l.c.Pmap.Bound():
		return l.mapped(g.Pmap.Ptr(), g.Size)
	case g.Members == 0 || !l.o.group.Member.Bound():
		return nil, errors.New("the library's types do not tell where they stand")
	}
	return l.Members(Membership{Size: g.Size, List: g.Members.Addr()}, func(out []mqs.Maybe[int32]) error {
		if err := l.Reader.Prefetch([]inferior.Range{inferior.RangeOf(&l.o.group.Member, g.Members, len(out))}); err != nil {
			return err
		}
		for i := range out {
			m, err := l.o.group.Member.Read(l.Reader, inferior.At(&l.o.group.Member, g.Members, i))
			if err != nil {
				return err
			}
			out[i] = l.InWorld(m.Number)
		}
		return nil
	})
}

// Membership says all that a group depends on: how many members it has, and the list or
// the formula that tells who they are.
type Membership struct {
	Size                      int32
	Mode                      uint32
	Table                     int32
	Offset, Stride, BlockSize int64
	List                      inferior.Addr
}

// Members makes a group, which fill fills in; communicators whose members are the same share
// it. A formula has no memory in the process: its members are accounted for here.
func (l *Library) Members(key Membership, fill func([]mqs.Maybe[int32]) error) ([]mqs.Maybe[int32], error) {
	if g, ok := l.members[key]; ok {
		return g, nil
	}
	if err := l.Reader.Spend(int(key.Size) * int(unsafe.Sizeof(mqs.Maybe[int32]{}))); err != nil {
		return nil, err
	}
	g := make([]mqs.Maybe[int32], key.Size)
	if err := fill(g); err != nil {
		return nil, err
	}
	l.members[key] = g
	return g, nil
}

// InWorld is the global rank of a process that has this number, which is its
// rank in MPI_COMM_WORLD if that has so many.
func (l *Library) InWorld(number int64) mqs.Maybe[int32] {
	if number < 0 || number >= int64(l.Process.Size) {
		return mqs.Maybe[int32]{}
	}
	return mqs.Known(int32(number))
}

// Numbers reads an array of n unsigned integers of size bytes each.
func (l *Library) Numbers(a inferior.Addr, n, size int) ([]uint64, error) {
	if _, err := l.Reader.Bytes(a, n*size); err != nil {
		return nil, err
	}
	if err := l.Reader.Spend(n * int(unsafe.Sizeof(uint64(0)))); err != nil {
		return nil, err
	}
	out := make([]uint64, n)
	for i := range out {
		var err error
		if out[i], err = l.Reader.Uint(a+inferior.Addr(i*size), size); err != nil {
			return nil, err
		}
	}
	return out, nil
}
