package openmpi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// prove checks the layouts against the process before any value read by them
// is believed. Every object of Open MPI points at its class, which has the
// type's name and size; lists agree with themselves in both directions; the
// predefined objects have names that no program can change.
func (s *source) prove() error {
	for _, proof := range []func() error{s.proveCommunicators, s.provePML, s.proveDatatype} {
		if err := proof(); err != nil {
			return err
		}
	}
	return nil
}

// proveClass checks that the object at a is of the type, and as large as the layout says.
func (s *source) proveClass(a inferior.Addr, name string, size int) error {
	c, err := s.classOf(a)
	if err != nil {
		return err
	}
	got, err := c.Name.Read(s.r, 64)
	if err != nil {
		return fmt.Errorf("the class of the object at %s: %w", a, err)
	}
	if got != name {
		return fmt.Errorf("the object at %s is a %q, not a %s", a, got, name)
	}
	if c.SizeOf != uint64(size) {
		return fmt.Errorf("a %s has %d bytes, not %d", name, c.SizeOf, size)
	}
	return nil
}

// classOf reads the class of the object at a.
func (s *source) classOf(a inferior.Addr) (class, error) {
	o, err := s.Object.ReadAt(s.r, a)
	if err != nil {
		return class{}, err
	}
	return s.class(o.Class)
}

// class reads a class, once.
func (s *source) class(a inferior.Addr) (class, error) {
	if c, ok := s.classes[a]; ok {
		return c, nil
	}
	c, err := s.Class.ReadAt(s.r, a)
	if err == nil {
		s.classes[a] = c
	}
	return c, err
}

// proveCommunicators checks the array of communicators, the three predefined
// ones, their group and a process in it.
func (s *source) proveCommunicators() error {
	array, comms, err := s.communicatorArray()
	if err != nil {
		return err
	}
	if err := s.proveClass(array, s.PointerArray.Name(), s.PointerArray.Size()); err != nil {
		return err
	}
	// A program can rename MPI_COMM_WORLD and MPI_COMM_SELF, but not MPI_COMM_NULL.
	// With sessions alone, all three places hold MPI_COMM_NULL.
	names := []string{"MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL"}
	if len(comms) < len(names) || comms[nullIndex] == 0 {
		return fmt.Errorf("%s lacks the predefined communicators", symCommunicators)
	}
	named := false
	for i, want := range names {
		if comms[i] == 0 {
			continue
		}
		if err := s.proveClass(comms[i], s.Communicator.Name(), s.Communicator.Size()); err != nil {
			return err
		}
		c, err := s.Communicator.ReadAt(s.r, comms[i])
		if err != nil {
			return err
		}
		name, _ := c.Name.Read(s.r, maxCommName)
		named = named || name == want
		if c.LocalGroup == 0 {
			continue
		}
		if err := s.proveClass(c.LocalGroup, s.Group.Name(), s.Group.Size()); err != nil {
			return err
		}
		g, err := s.Group.ReadAt(s.r, c.LocalGroup)
		if err != nil {
			return err
		}
		if comms[i] != comms[nullIndex] && (c.MyRank != g.MyRank || c.MyRank >= g.ProcCount) {
			return fmt.Errorf("%s has rank %d of %d, its group %d", want, c.MyRank, g.ProcCount, g.MyRank)
		}
	}
	if !named {
		return fmt.Errorf("no predefined communicator has its name")
	}
	return s.proveProc(comms[0])
}

// proveProc checks the process objects that the world's group points at, if any.
func (s *source) proveProc(world inferior.Addr) error {
	entries, _, err := s.groupEntries(world, func(c communicator) inferior.Addr { return c.LocalGroup })
	if err != nil {
		return nil // not dense: said when the group is read
	}
	for _, e := range entries {
		if e != 0 && e&1 == 0 {
			return s.proveClass(e, s.Proc.Name(), s.Proc.Size())
		}
	}
	return nil
}

// provePML finds out which pml is selected, and checks ob1's objects if it is ob1.
func (s *source) provePML() error {
	_, comms, err := s.communicatorArray()
	if err != nil {
		return err
	}
	s.pml = "of an unknown name"
	if sym, ok := s.symbols[symPML]; ok {
		c, err := s.Component.ReadAt(s.r, sym.Addr)
		if err != nil {
			return err
		}
		if s.pml, err = c.Name.Read(s.r, 64); err != nil {
			return err
		}
	}
	for _, a := range comms {
		if a == 0 {
			continue
		}
		c, err := s.Communicator.ReadAt(s.r, a)
		if err != nil {
			return err
		}
		if c.PMLComm == 0 {
			continue // MPI_COMM_NULL
		}
		// What ob1 made says more than the component's name: others, such as
		// monitoring, put themselves in front of it.
		class, err := s.classOf(c.PMLComm)
		if err != nil {
			break
		}
		if name, err := class.Name.Read(s.r, 64); err != nil || name != obComm {
			break
		}
		s.pml = ob1
		return s.proveOB1(c.PMLComm)
	}
	if s.pml == ob1 {
		// With sessions there may be no communicator yet, but nor is there anything else.
		for i, a := range comms {
			if a != 0 && a != comms[nullIndex] {
				return fmt.Errorf("pml ob1 is selected, but communicator %d has no %s", i, obComm)
			}
		}
	}
	return nil
}

// ob1 is the pml whose queues are read.
const ob1 = "ob1"

const obComm = "mca_pml_ob1_comm_t"

func (s *source) proveOB1(pmlComm inferior.Addr) error {
	var missing []error
	for _, t := range []struct {
		name  string
		bound bool
	}{
		{"mca_pml_ob1_send_request_t", s.SendRequest.Bound()},
		{"mca_pml_ob1_recv_request_t", s.RecvRequest.Bound()},
		{"mca_pml_ob1_recv_frag_t", s.RecvFrag.Bound()},
		{"mca_btl_base_segment_t", s.Segment.Bound()},
		{"mca_pml_ob1_hdr_t", s.Header.Bound()},
		{obComm, s.Comm.Bound()},
		{"mca_pml_ob1_comm_proc_t", s.CommProc.Bound()},
	} {
		if !t.bound {
			missing = append(missing, fmt.Errorf("no type %s", t.name))
		}
	}
	if missing != nil {
		return errors.Join(missing...)
	}
	if err := s.proveClass(pmlComm, obComm, s.Comm.Size()); err != nil {
		return err
	}
	c, err := s.Comm.ReadAt(s.r, pmlComm)
	if err != nil {
		return err
	}
	if c.WildReceives != 0 {
		if err := s.proveList(inferior.Addr(c.WildReceives)); err != nil {
			return err
		}
	}
	if err := s.proveFreeList(s.symbols[symSendRequests].Addr, s.SendRequest.Name(), s.SendRequest.Size()); err != nil {
		return err
	}
	return s.proveFreeList(s.symbols[symRecvRequests].Addr, s.RecvRequest.Name(), s.RecvRequest.Size())
}

// proveList checks an opal_list_t: its class, and that the first element's
// predecessor and the last one's successor are the list's sentinel.
func (s *source) proveList(a inferior.Addr) error {
	if err := s.proveClass(a, s.List.Name(), s.List.Size()); err != nil {
		return err
	}
	l, err := s.List.ReadAt(s.r, a)
	if err != nil {
		return err
	}
	first, err := s.ListItem.ReadAt(s.r, l.First)
	if err != nil {
		return err
	}
	last, err := s.ListItem.ReadAt(s.r, l.Last)
	if err != nil {
		return err
	}
	if first.Prev != inferior.Addr(l.Sentinel) || last.Next != inferior.Addr(l.Sentinel) {
		return fmt.Errorf("the list at %s is not closed", a)
	}
	return nil
}

// proveFreeList checks a list of requests and the class of what it holds.
func (s *source) proveFreeList(a inferior.Addr, element string, size int) error {
	if err := s.proveClass(a, s.FreeList.Name(), s.FreeList.Size()); err != nil {
		return err
	}
	f, err := s.FreeList.ReadAt(s.r, a)
	if err != nil {
		return err
	}
	c, err := s.class(f.FragClass)
	if err != nil {
		return err
	}
	name, err := c.Name.Read(s.r, 64)
	if err != nil {
		return err
	}
	if name != element || c.SizeOf != uint64(size) {
		return fmt.Errorf("the free list at %s holds %q of %d bytes, not %s of %d", a, name, c.SizeOf, element, size)
	}
	return nil
}

// proveDatatype checks the name and the size of a predefined datatype.
func (s *source) proveDatatype() error {
	sym, ok := s.symbols[symInt]
	if !ok {
		return nil
	}
	// Its class says opal_datatype_t, which ompi_datatype_t starts with.
	d, err := s.Datatype.ReadAt(s.r, sym.Addr)
	if err != nil {
		return err
	}
	if name, err := d.Name.Read(s.r, maxTypeName); err != nil || name != "MPI_INT" || d.Size != 4 {
		return fmt.Errorf("the datatype at %s is %q of %d bytes, not MPI_INT", sym.Addr, name, d.Size)
	}
	return nil
}
