package mpir_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// In the library for MPI 5.0's ABI a handle is a constant of the standard's or the address of an object, which is the
// one that its own number leads to.
func TestABI(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	at := mpichtest.Symbol(t, tg, "MPIR_Request_mem")
	abi := inferiortest.Patch(tg).SetSymbol("MPIR_Request_mem", inferior.Symbol{Addr: at, Object: "/opt/lib/libmpi_abi.so.0"})
	wild := mpichtest.Queues(t, mpichtest.Shown(t, tg), "wild")
	request := wild.Queue[mqs.PendingReceives].Operations[0].Request.Value
	const copied = 0x10_0000_0000 // where a number stands that is a communicator's elsewhere
	abi.AddMemory(copied, make([]byte, inferiortest.Page)).PutUint32(copied, uint32(wild.Handle.Value))
	for _, c := range []struct {
		kind  mqs.HandleKind
		value uint64
		want  state
	}{
		{mqs.CommHandle, 0x100, state{mqs.NullHandle, "MPI_COMM_NULL"}},
		{mqs.CommHandle, 0x101, state{mqs.PredefinedHandle, "MPI_COMM_WORLD"}},
		{mqs.CommHandle, 0x209, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0x44000000, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, uint64(wild.UniqueID), state{mqs.LiveHandle, "wild"}},
		{mqs.CommHandle, uint64(wild.UniqueID) + 4, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, copied, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, uint64(request), state{mqs.InvalidHandle, ""}},
		{mqs.RequestHandle, uint64(request), state{mqs.LiveHandle, ""}},
		{mqs.RequestHandle, 0x180, state{mqs.NullHandle, "MPI_REQUEST_NULL"}},
		{mqs.DatatypeHandle, 0x209, state{mqs.PredefinedHandle, "MPI_INT"}},
		{mqs.OpHandle, 0x21, state{mqs.PredefinedHandle, "MPI_SUM"}},
		{mqs.FileHandle, 0x118, state{mqs.NullHandle, "MPI_FILE_NULL"}},
	} {
		h := resolve(t, abi, c.kind, c.value)
		if got := (state{h.State, h.Name.Value}); got != c.want || h.Value != c.value {
			t.Errorf("%s %#x is %v, want %v", c.kind, c.value, got, c.want)
		}
	}
	if h := resolve(t, abi, mqs.CommHandle, 0x101); h.Communicator == nil || h.Communicator.Name.Value != "MPI_COMM_WORLD" {
		t.Errorf("%+v", h)
	}
	if h := resolve(t, abi, mqs.DatatypeHandle, 0x209); h.Datatype == nil || h.Datatype.Size != mqs.Known[int64](4) {
		t.Errorf("%+v", h)
	}
	if h := resolve(t, abi, mqs.CommHandle, uint64(wild.UniqueID)); !reflect.DeepEqual(h.Communicator, &wild.Communicator) {
		t.Errorf("%+v", h)
	}
	bare := mpir.NewBare(inferior.NewReader(context.Background(), tg), inferior.Symbol{Object: "/opt/lib/libmpi_abi.so.0"})
	if h := bare.Resolve(mqs.HandleValue{Kind: mqs.CommHandle, Value: 0x102}); h.Name != mqs.Known("MPI_COMM_SELF") {
		t.Errorf("%+v", h)
	}
	if h := bare.Resolve(mqs.HandleValue{Kind: mqs.StatusHandle, Data: []byte{2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0}}); h.Status == nil || h.Status.Source.Value != 2 || h.Status.Tag.Value != 7 || h.Status.Length.Known {
		t.Errorf("%+v", h.Status)
	}
}

// In Fortran, handles of the ABI's library are MPICH's own numbers, and its constants are the ABI's.
func TestABIInFortran(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	at := mpichtest.Symbol(t, tg, "MPIR_Request_mem")
	abi := inferiortest.Patch(tg).SetSymbol("MPIR_Request_mem", inferior.Symbol{Addr: at, Object: "/opt/lib/libmpi_abi.so.0"})
	wild := mpichtest.Queues(t, mpichtest.Shown(t, tg), "wild")
	s, err := mpichtest.Open(abi)
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[uint64]state{0x101: {mqs.PredefinedHandle, "MPI_COMM_WORLD"}, uint64(wild.Handle.Value): {mqs.LiveHandle, "wild"}, uint64(wild.UniqueID): {mqs.InvalidHandle, ""}} {
		h := s.(read.Resolver).Resolve(mqs.HandleValue{Kind: mqs.CommHandle, Fortran: true, Value: value})
		if got := (state{h.State, h.Name.Value}); got != want {
			t.Errorf("%#x is %v, want %v", value, got, want)
		}
	}
}
