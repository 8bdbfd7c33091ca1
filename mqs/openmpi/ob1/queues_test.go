package ob1

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

func TestSendSequencesWrapAround(t *testing.T) {
	const last = 40_000
	age := ageBefore(1<<16 + last)
	for posted := range 1 << 16 {
		sequence := uint64(int64(int16(last + 1 + posted))) // sign-extended, as ob1 stores it
		if got := 1<<16 - 1 - age(sequence); got != posted {
			t.Fatalf("the message posted as number %d counts as %d", posted, got)
		}
	}
}

// Of lists that can't be read the same one is told of each time, and the same receives are shown: those of the peers before it.
func TestListsInTheOrderOfRanks(t *testing.T) {
	recording := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, _ := ompitest.MustOpen(t, recording, Component)
	on := ompitest.Comm(t, p, "MPI_COMM_WORLD")
	first := ompitest.Offset(t, p, "mca_pml_ob1_comm_proc_t", "specific_receives") + ompitest.Offset(t, p, "opal_list_t", "opal_list_sentinel.opal_list_next")
	r := inferior.NewReader(t.Context(), recording)
	array, err := r.Pointers(on.PMLComm+ompitest.Offset(t, p, "mca_pml_ob1_comm_t", "procs"), 1)
	if err != nil {
		t.Fatal(err)
	}
	peers, err := r.Pointers(array[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	broken := inferiortest.Patch(recording)
	for i, peer := range peers {
		broken.PutPointer(peer+first, inferior.Addr(0x10+8*i))
	}
	const want = "opal_list_item_t at 0x10: "
	for range 20 {
		p, q := ompitest.MustOpen(t, broken, Component)
		_, err := q.(*queues).postedElsewhere(ompitest.Comm(t, p, "MPI_COMM_WORLD"))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Fatalf("%v, want %s", err, want)
		}
	}
}
