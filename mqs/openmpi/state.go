package openmpi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Global symbols, both of them in .dynsym of stripped libraries too.
const (
	symState     = "ompi_mpi_state"      // enum ompi_mpi_state_t, 4 bytes
	symInstances = "ompi_instance_count" // int, from 5.0: sessions that are open
)

var stateSymbols = []string{symState, symInstances}

// The values of ompi_mpi_state (ompi/runtime/mpiruntime.h, 4.0 to 6.0).
const (
	stateNotInitialized    = 0
	stateInitStarted       = 1
	stateInitCompleted     = 2
	stateFinalizeCompleted = 5
)

// checkState tells the programs that can't have queues now from those that can.
func checkState(r *inferior.Reader, symbols map[string]inferior.Symbol) error {
	s, ok := symbols[symState]
	if !ok {
		return nil
	}
	if err := r.Prefetch(roots(symbols)); err != nil {
		return err
	}
	state, err := r.Int(s.Addr, 4)
	if err != nil {
		return read.Unreadable(ompi.Name, "the state of Open MPI (%s) can't be read: %v", symState, err)
	}
	if s, ok := symbols[symInstances]; ok && state != stateInitStarted {
		// A program may use sessions without MPI_Init, or after MPI_Finalize.
		if n, err := r.Int(s.Addr, 4); err == nil && n > 0 {
			return nil
		}
	}
	switch {
	case state == stateNotInitialized:
		return read.Nothing(ompi.Name, mqs.Starting, "the program has not called MPI_Init yet, so it has no message queues")
	case state == stateInitStarted:
		return read.Nothing(ompi.Name, mqs.Starting, "the program is inside MPI_Init, so it has no message queues yet")
	case state >= stateFinalizeCompleted:
		return read.Nothing(ompi.Name, mqs.Finished, "the program has called MPI_Finalize, so it has no message queues any more")
	}
	return nil
}

// isFinalizing tells a program in the midst of MPI_Finalize.
func isFinalizing(r *inferior.Reader, symbols map[string]inferior.Symbol) bool {
	s, ok := symbols[symState]
	if !ok {
		return false
	}
	state, err := r.Int(s.Addr, 4)
	return err == nil && state > stateInitCompleted && state < stateFinalizeCompleted
}

// roots are the objects that the symbols name, with room for their sizes.
func roots(symbols map[string]inferior.Symbol) []inferior.Range {
	var out []inferior.Range
	for _, s := range symbols {
		out = append(out, inferior.Range{Addr: s.Addr, Len: 512})
	}
	return out
}
