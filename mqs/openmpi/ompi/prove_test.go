package ompi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// TestNamesOfPredefined checks that a layout is refused by which none of the predefined communicators has its name: a program
// can't rename MPI_COMM_NULL.
func TestNamesOfPredefined(t *testing.T) {
	tg := inferiortest.Recorded(t, queuesOf414)
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	comms, err := p.CommunicatorArray()
	if err != nil {
		t.Fatal(err)
	}
	renamed := inferiortest.Patch(tg)
	for i, want := range []string{"", "", "no predefined communicator has its name"} {
		renamed.PutBytes(comms[i].Addr()+ompitest.Offset(t, p, "ompi_communicator_t", "c_name"), []byte("x"))
		if _, _, err := ompitest.Open(t, renamed, ob1.Component); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d are renamed: %v", i+1, err)
		}
	}
}

// TestEndpoints checks that a process object may end with as many endpoints as some configuration gives it, and that any other size
// refuses the layout.
func TestEndpoints(t *testing.T) {
	tg := inferiortest.Recorded(t, queuesOf414)
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	world := ompitest.Comm(t, p, "MPI_COMM_WORLD")
	entries, _, err := p.Entries(world.Peers())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(entries, func(e inferior.Ptr[ompi.Proc]) bool { return e != 0 && !ompi.IsSentinel(e) })
	o, err := p.Object.Read(p.R, inferior.Ptr[ompi.Object](entries[at]))
	if err != nil {
		t.Fatal(err)
	}
	size := o.Class.Addr() + ompitest.Offset(t, p, "opal_class_t", "cls_sizeof")
	endpoints := uint64(ompitest.Offset(t, p, "ompi_proc_t", "proc_endpoints"))
	for has, want := range map[uint64]bool{endpoints: false, endpoints + 8: true, endpoints + 24: true, endpoints + 28: false, endpoints + 64: true, endpoints + 72: false, 0: false} {
		got, _, err := ompitest.Open(t, inferiortest.Patch(tg).PutUint64(size, has), ob1.Component)
		if (err == nil) != want || err == nil && got.Proc.Size() != int(has) || err != nil && !strings.Contains(err.Error(), "ompi_proc_t has") {
			t.Errorf("%d bytes: %v", has, err)
		}
	}
}
