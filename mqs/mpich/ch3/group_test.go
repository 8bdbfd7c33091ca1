package ch3_test

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// A communicator with fewer connections than members has a group that is not known.
func TestGroupTooSmall(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	world := mpichtest.Queues(t, mpichtest.Collect(t, tg), "MPI_COMM_WORLD")
	if len(world.Group) != 3 || world.Group[2].Value != 2 {
		t.Fatalf("the group is %v", world.Group)
	}
	table := mpichtest.Pointer(t, tg, world.UniqueID+mpichtest.Offset(t, tg, "MPIR_Comm", "dev.vcrt"))
	p := mpichtest.Collect(t, inferiortest.Patch(tg).PutUint32(table+mpichtest.Offset(t, tg, "MPIDI_VCRT", "size"), 2))
	if got := mpichtest.Queues(t, p, "MPI_COMM_WORLD").Group; got != nil {
		t.Errorf("the group is %v", got)
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "3 members, and 2 connections") {
		t.Errorf("notes: %s", notes)
	}
}
