package ompi_test

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
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
