package symbolless_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// What the network library's requests lead to is found by its handle, as far as MPICH's own objects can be read;
// of the rest handles' own bits tell what they can.
func TestResolve(t *testing.T) {
	for _, name := range []string{"mpich-4.2.1-stock/recv-rank-0", "mpich-4.2.1-stock/send-rank-1"} {
		tg := inferiortest.Recorded(t, name)
		s, err := mpichtest.Open(tg)
		if err != nil {
			t.Fatal(err)
		}
		resolve := func(kind mqs.HandleKind, value uint64) *mqs.Handle {
			return s.(read.Resolver).Resolve(mqs.HandleValue{Kind: kind, Value: value})
		}
		world := mpichtest.Queues(t, mpichtest.Shown(t, tg), "MPI_COMM_WORLD")
		h := resolve(mqs.CommHandle, 0x44000000)
		if h.State != mqs.PredefinedHandle || h.Name != mqs.Known("MPI_COMM_WORLD") || len(h.Notes) != 0 || !reflect.DeepEqual(h.Communicator, &world.Communicator) {
			t.Errorf("%s: %+v", name, h)
		}
		found := 0
		for _, q := range world.Queue[:mqs.UnexpectedMessages] {
			for _, op := range q.Operations {
				number, err := inferior.NewReader(context.Background(), tg).Uint(op.Request.Value, 4)
				if err != nil {
					t.Fatal(err)
				}
				found++
				if h := resolve(mqs.RequestHandle, number); h.State != mqs.LiveHandle || !reflect.DeepEqual(h.Operation, &op) || len(h.Notes) != 0 {
					t.Errorf("%s: %#x is %+v, want %+v", name, number, h.Operation, op)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing is pending", name)
		}
		for kind, value := range map[mqs.HandleKind]uint64{mqs.CommHandle: 0x84000000, mqs.RequestHandle: 0xac0fffff, mqs.WinHandle: 0xa0000000, mqs.DatatypeHandle: 0x8c000007} {
			if h := resolve(kind, value); h.State != "" || len(h.Notes) != 1 {
				t.Errorf("%s: %s %#x is %+v", name, kind, value, h)
			}
		}
		if h := resolve(mqs.CommHandle, 0); h.State != mqs.InvalidHandle {
			t.Errorf("%+v", h)
		}
	}
}

// In the library for MPI 5.0's ABI handles of C are constants and addresses, and INTEGERs MPICH's numbers.
func TestResolveABI(t *testing.T) {
	const library = "/lib/libmpi_abi_mpich.so.1"
	patched := inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.2.1-stock/recv-rank-0")).RemoveSymbols("MPI_T_PVAR_ALL_HANDLES", "MPI_UNWEIGHTED")
	tg := inferiortest.WithLibrary{Inferior: patched.SetSymbol("MPIR_fortran_true", inferior.Symbol{Addr: 0x1000, Object: library}), Path: library}
	s, err := mpichtest.Open(tg)
	if err != nil {
		t.Fatal(err)
	}
	world := mpichtest.Queues(t, mpichtest.Shown(t, tg), "MPI_COMM_WORLD")
	if world.Handle != mqs.Known[inferior.Addr](0x101) || world.FortranHandle != mqs.Known[int32](0x101) {
		t.Errorf("MPI_COMM_WORLD is %v, %v", world.Handle, world.FortranHandle)
	}
	request := world.Queue[mqs.PendingReceives].Operations[0].Request.Value
	number, err := inferior.NewReader(context.Background(), tg).Uint(request, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value mqs.HandleValue
		state mqs.HandleState
	}{
		{mqs.HandleValue{Kind: mqs.CommHandle, Value: 0x101}, mqs.PredefinedHandle},
		{mqs.HandleValue{Kind: mqs.CommHandle, Value: 0x101, Fortran: true}, mqs.PredefinedHandle},
		{mqs.HandleValue{Kind: mqs.RequestHandle, Value: uint64(request)}, mqs.LiveHandle},
		{mqs.HandleValue{Kind: mqs.RequestHandle, Value: number, Fortran: true}, mqs.LiveHandle},
	} {
		h := s.(read.Resolver).Resolve(c.value)
		if h.State != c.state || h.Communicator == nil || h.Communicator.Name != mqs.Known("MPI_COMM_WORLD") {
			t.Errorf("%+v is %+v", c.value, h)
		}
	}
	if h := s.(read.Resolver).Resolve(mqs.HandleValue{Kind: mqs.RequestHandle, Value: number}); h.State != "" {
		t.Errorf("a number in C's place is %+v", h)
	}
}

// Without symbols, types and a network library that can be read, handles tell what their own bits do.
func TestResolveBare(t *testing.T) {
	tg := inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-stock/recv-rank-0")).SetSymbol("ucp_request_mpool_ops", inferior.Symbol{Addr: 0x1000})
	values := []mqs.HandleValue{{Kind: mqs.CommHandle, Value: 0x44000000}, {Kind: mqs.CommHandle, Value: 0x84000000}}
	handles, err := mpichtest.Sources.Handles(inferior.NewReader(context.Background(), tg), values)
	if err != nil || handles[0].State != mqs.PredefinedHandle || handles[1].State != "" || len(handles[1].Notes) != 1 {
		t.Errorf("%+v, %v", handles, err)
	}
}
