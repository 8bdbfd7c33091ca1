package mpich

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// prove checks the layouts against the process before any value read by them
// is believed. MPICH's objects name themselves: each starts with its handle,
// whose bits say what it is and where it stands in its pool; pools know the
// size of their objects; predefined datatypes have the size in the handle, and
// names that no program can change before it has initialised MPI.
func (s *source) prove() error {
	if s.process.State == stateUninitialized {
		return nil // there is nothing yet to prove with, or to read
	}
	for _, proof := range []func() error{s.proveDatatypes, s.provePools, s.proveWorld} {
		if err := proof(); err != nil {
			return err
		}
	}
	return nil
}

// Kinds of objects, in bits 26 to 29 of a handle (MPII_Object_kind).
const (
	objectComm      = 1
	objectDatatype  = 3
	objectRequest   = 11
	objectKindShift = 26
	objectKindMask  = 0xf
)

// proveHandle checks that a handle is of a kind of object in a kind of storage.
func proveHandle(handle, storedHow, kind uint32, what string) error {
	if storage(handle) != storedHow || handle>>objectKindShift&objectKindMask != kind {
		return fmt.Errorf("%s has the handle 0x%x", what, handle)
	}
	return nil
}

const proveTypes = 4 // how many predefined datatypes are looked at

// proveDatatypes checks some predefined datatypes, which the library has to
// itself: up to 4.3 they are those of MPI.
func (s *source) proveDatatypes() error {
	seen := 0
	for i := range 64 {
		at := s.symbols[symDatatypes].Addr + inferior.Addr(i*s.Datatype.Size())
		d, err := s.Datatype.ReadAt(s.r, at)
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

// provePools checks the pools and the first object of each.
func (s *source) provePools() error {
	for _, p := range []struct {
		name     string
		size     int
		kind     uint32
		optional bool // not in use from the start
	}{
		{symRequestPools, s.Request.Size(), objectRequest, true},
		{symCommPool, s.Comm.Size(), objectComm, true},
	} {
		pool, err := s.openPool(s.symbols[p.name].Addr, p.name, p.size)
		if err != nil {
			return err
		}
		if len(pool.blocks) == 0 || pool.blocks[0].n == 0 {
			continue
		}
		// Every object starts with its handle, a free one too.
		handle, err := s.r.Uint(pool.blocks[0].at, 4)
		if err != nil {
			return err
		}
		if err := proveHandle(uint32(handle), handleDirect, p.kind, p.name); err != nil {
			return err
		}
	}
	return nil
}

// proveWorld checks MPI_COMM_WORLD, if the program has it.
func (s *source) proveWorld() error {
	if s.process.World == 0 {
		return nil // inside MPI_Init, or with sessions alone
	}
	w, err := s.Comm.ReadAt(s.r, s.process.World)
	if err != nil {
		return err
	}
	if err := proveHandle(w.Handle, handleBuiltin, objectComm, "MPI_COMM_WORLD"); err != nil {
		return err
	}
	if w.Rank != s.process.Rank || w.LocalSize != s.process.Size || w.RemoteSize != s.process.Size {
		return fmt.Errorf("MPI_COMM_WORLD has rank %d of %d and %d, the process %d of %d", w.Rank, w.LocalSize, w.RemoteSize, s.process.Rank, s.process.Size)
	}
	return nil
}
