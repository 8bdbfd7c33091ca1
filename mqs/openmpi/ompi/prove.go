package ompi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// proveCommunicators checks the array of communicators, the three predefined
// ones, their group and a process in it.
func (p *Process) proveCommunicators() error {
	comms, err := p.CommunicatorArray()
	if err != nil {
		return err
	}
	if err := ProveClass(p, &p.PointerArray, p.communicators()); err != nil {
		return err
	}
	// A program can rename MPI_COMM_WORLD and MPI_COMM_SELF, but not MPI_COMM_NULL.
	// With sessions alone, all three places hold MPI_COMM_NULL.
	names := []string{"MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL"}
	if len(comms) < len(names) || comms[nullIndex] == 0 {
		return fmt.Errorf("%s lacks the predefined communicators", SymCommunicators)
	}
	named := false
	for i, want := range names {
		if comms[i] == 0 {
			continue
		}
		if err := ProveClass(p, &p.Communicator, comms[i]); err != nil {
			return err
		}
		c, err := p.Communicator.Read(p.R, comms[i])
		if err != nil {
			return err
		}
		name, _ := c.Name.Read(p.R, maxCommName)
		named = named || name == want
		if c.LocalGroup == 0 {
			continue
		}
		if err := ProveClass(p, &p.Group, c.LocalGroup); err != nil {
			return err
		}
		g, err := p.Group.Read(p.R, c.LocalGroup)
		if err != nil {
			return err
		}
		if comms[i] != comms[nullIndex] && (c.MyRank != g.MyRank || c.MyRank >= g.ProcCount) {
			return fmt.Errorf("%s has rank %d of %d, its group %d", want, c.MyRank, g.ProcCount, g.MyRank)
		}
	}
	if !named {
		return errors.New("no predefined communicator has its name")
	}
	return p.proveProc(comms[0])
}

// proveProc checks the process objects that the world's group points at, if any.
func (p *Process) proveProc(world inferior.Ptr[Communicator]) error {
	c, err := p.Communicator.Read(p.R, world)
	if err != nil {
		return nil // said when the group is read
	}
	entries, _, err := p.Entries(c.LocalGroup)
	if err != nil {
		return nil // not dense: said when the group is read
	}
	for _, e := range entries {
		if e != 0 && !IsSentinel(e) {
			return p.proveProcClass(e)
		}
	}
	return nil
}

// readPML reads which pml is selected.
func (p *Process) readPML() error {
	sym, ok := p.Symbols[symPML]
	if !ok {
		return nil
	}
	c, err := p.MCAComponent.Read(p.R, inferior.Ptr[mcaComponent](sym.Addr))
	if err != nil {
		return err
	}
	const maxName = 64 // bytes; MCA_BASE_MAX_COMPONENT_NAME_LEN
	p.PML, err = c.Name.Read(p.R, maxName)
	return err
}
