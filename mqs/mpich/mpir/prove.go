package mpir

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Values of mpich_state (src/include/mpichconfconst.h, 4.0 to 5.0).
const (
	stateUninitialized = 0
	stateInitialized   = 2
)

// CheckState tells the programs that can't have queues now from those that can.
func (l *Library) CheckState() error {
	switch {
	case l.Process.State == stateUninitialized:
		phase := mqs.Starting
		if l.Process.Size > 0 { // MPI_Finalize leaves it
			phase = mqs.Finished
		}
		return read.Nothing(l.MPI, phase, "the program has no message queues: it has not called MPI_Init yet, or has called MPI_Finalize")
	case l.Process.State != stateInitialized && l.Process.World == 0:
		return read.Nothing(l.MPI, mqs.Starting, "the program is inside MPI_Init, so it has no message queues yet")
	}
	return nil
}

// Prove checks the layouts against the process before any value read by them
// is believed. MPICH's objects name themselves: each starts with its handle,
// whose bits say what it is and where it stands in its pool; pools know the
// size of their objects; predefined datatypes have the size in the handle, and
// names that no program can change before it has initialised MPI.
func (l *Library) Prove() error {
	err := l.prefetchRoots()
	if err != nil {
		return err
	}
	if l.Process, err = l.c.Process.Read(l.Reader, inferior.Ptr[Process](l.Symbols[symProcess].Addr)); err != nil {
		return err
	}
	if l.Process.State == stateUninitialized {
		return nil // there is nothing yet to prove with, or to read
	}
	for _, proof := range []func() error{l.proveDatatypes, l.provePools, l.proveWorld} {
		if err := proof(); err != nil {
			return err
		}
	}
	return nil
}

// prefetchRoots brings what every command reads of the library's own data in one round trip.
func (l *Library) prefetchRoots() error {
	var ranges []inferior.Range
	for name, bytes := range map[string]int{
		symProcess: l.c.Process.Size(), symBuiltinComms: maxBuiltinComms * l.c.Comm.Size(), symDatatypes: proveTypes * l.c.Datatype.Size(),
		SymRequestPools: requestPools * l.c.Pool.Size(), symCommPool: l.c.Pool.Size(), symDatatypePool: l.c.Pool.Size(),
		symWinPool: l.c.Pool.Size(), symTopologyKeyval: 4, symThreads: 4, SymCommunicators: pointers, symSendq: pointers,
	} {
		if at, ok := l.Symbols[name]; ok {
			ranges = append(ranges, inferior.Range{Addr: at.Addr, Len: bytes})
		}
	}
	return l.Reader.Prefetch(ranges)
}

const (
	proveTypes = 4  // how many predefined datatypes are looked at
	pointers   = 16 // bytes, of a pointer or two
)

// proveDatatypes checks some predefined datatypes, which the library has to
// itself: up to 4.3 they are those of MPI.
func (l *Library) proveDatatypes() error {
	seen := 0
	for i := range 64 {
		d, err := l.c.Datatype.Read(l.Reader, l.builtinDatatype(i))
		if err != nil {
			return err
		}
		if d.Handle == 0 || d.Handle>>24 != 0x4c {
			continue // one that this build does not have
		}
		if int(d.Handle&0xff) != i || d.Size != int64(d.Handle>>8&0xff) {
			return fmt.Errorf("predefined datatype %d has the handle 0x%x and %d bytes", i, d.Handle, d.Size)
		}
		if seen++; seen == proveTypes {
			return nil
		}
	}
	return fmt.Errorf("%s has no predefined datatypes", symDatatypes)
}

// provePools checks the pools of requests and communicators, neither of which need be in use, and the first
// object of each.
func (l *Library) provePools() error {
	if err := provePool(l, SymRequestPools, &l.c.Request, ObjectRequest); err != nil {
		return err
	}
	return provePool(l, symCommPool, &l.c.Comm, ObjectComm)
}

func provePool[T any](l *Library, name string, of *inferior.Struct[T], kind uint32) error {
	p, err := readPool(l, inferior.Ptr[pool](l.Symbols[name].Addr), name, of)
	if err != nil {
		return err
	}
	if p.Size == 0 && l.Process.State == stateInitialized {
		return fmt.Errorf("%s holds objects of no size", name)
	}
	if len(p.blocks) == 0 || p.blocks[0].n == 0 {
		return nil
	}
	// Every object starts with its handle, a free one too.
	handle, err := l.Reader.Uint(p.blocks[0].at.Addr(), 4)
	if err != nil {
		return err
	}
	return proveHandle(uint32(handle), handleDirect, kind, name)
}

// proveWorld checks MPI_COMM_WORLD, if the program has it.
func (l *Library) proveWorld() error {
	if l.Process.World == 0 {
		return nil // inside MPI_Init, or with sessions alone
	}
	w, err := l.c.Comm.Read(l.Reader, l.Process.World)
	if err != nil {
		return err
	}
	if err := proveHandle(w.Handle, handleBuiltin, ObjectComm, "MPI_COMM_WORLD"); err != nil {
		return err
	}
	if w.Rank != l.Process.Rank || w.LocalSize != l.Process.Size || w.RemoteSize != l.Process.Size {
		return fmt.Errorf("MPI_COMM_WORLD has rank %d of %d and %d, the process %d of %d", w.Rank, w.LocalSize, w.RemoteSize, l.Process.Rank, l.Process.Size)
	}
	return nil
}
