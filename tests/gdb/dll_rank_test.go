//go:build live

package gdb

import (
	"fmt"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A DLL may compute ranks from the one that the debugger gives the process, as MPICH 1's
// does. Of an MPI without a decoder the launcher has said it.
func TestRankForDLL(t *testing.T) {
	t.Parallel()
	dll := dlls().Reference(t, "-DRANK_OF_DEBUGGER")
	job := work.Start(t, "tests/dll/toy.c", 3, nil, dll)
	for rank, account := range job.Accounts {
		process := readJSON(t, live.Process(account.PID), trusting("")...)
		world := expect.Communicators(process)[0]
		if got := show(world["local_rank"]); got != fmt.Sprint(rank) || world["name"] != "toy world" {
			t.Errorf("of rank %d the DLL says that it is rank %s in %s", rank, got, show(world["name"]))
		}
		if got := show(process["global_rank"]); got != fmt.Sprint(rank) {
			t.Errorf("rank %d is said to be rank %s", rank, got)
		}
	}
	// One that nobody has launched is alone in its MPI_COMM_WORLD only if MPI says so.
	alone := startToy(t, "toy", dll)
	world := expect.Communicators(readJSON(t, live.Process(alone.Accounts[0].PID), trusting("")...))[0]
	if world["local_rank"] != nil {
		t.Errorf("without a launcher the DLL says that it is rank %s", show(world["local_rank"]))
	}
}
