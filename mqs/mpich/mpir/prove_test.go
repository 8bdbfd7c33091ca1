package mpir_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

func TestBeforeInit(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	at := mpichtest.Symbol(t, tg, "MPIR_Process") + mpichtest.Offset(t, tg, "MPIR_Process_t", "mpich_state")
	_, err := mpichtest.Open(inferiortest.Patch(tg).PutUint32(at, 0))
	var u *read.UnreadableError
	if !errors.As(err, &u) || !u.Final || !strings.Contains(u.Reason, "MPI_Init") {
		t.Errorf("%v", err)
	}
}

// What MPI_COMM_WORLD says and what the process says of itself must agree.
func TestProofOfWorld(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	world := mpichtest.Queues(t, mpichtest.Collect(t, tg), "MPI_COMM_WORLD").UniqueID
	at := world + mpichtest.Offset(t, tg, "MPIR_Comm", "local_size")
	if _, err := mpichtest.Open(inferiortest.Patch(tg).PutUint32(at, 4)); err == nil || !strings.Contains(err.Error(), "MPI_COMM_WORLD") {
		t.Errorf("%v", err)
	}
}

// TestNoDatatypes checks that a library whose predefined datatypes are all missing is not read: its layout is another one.
func TestNoDatatypes(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	const elsewhere = 0x10_0000_0000
	none := inferiortest.Patch(tg).AddMemory(elsewhere, make([]byte, 1<<16)).SetSymbol("MPIR_Datatype_builtin", inferior.Symbol{Addr: elsewhere})
	if _, err := mpichtest.Open(none); err == nil || !strings.Contains(err.Error(), "has no predefined datatypes") {
		t.Error(err)
	}
}
