package mpir_test

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// handlesOf are the handles of a process by their kind, at most so many of each.
func handlesOf(t *testing.T, tg inferior.Inferior, most int) map[mqs.HandleKind][]uint64 {
	t.Helper()
	s, err := mpichtest.Open(tg)
	if err != nil {
		t.Fatal(err)
	}
	out := map[mqs.HandleKind][]uint64{}
	for _, h := range s.(read.Enumerator).Handles(most) {
		if !h.Fortran {
			t.Errorf("%+v is none of Fortran's", h)
		}
		out[h.Kind] = append(out[h.Kind], h.Value)
	}
	return out
}

// The handles of a process are those of the objects in use of all pools, of what is predefined, and of Fortran's files.
func TestHandles(t *testing.T) {
	m := mpichtest.Make(t)
	world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
	one := mpichtest.Members{}
	m.Pool("MPIR_Group_mem", "MPIR_Group", 0x88000000, one, nil, one)
	m.Pool("MPIR_Op_mem", "MPIR_Op", 0x98000000, nil, one)
	m.Pool("MPIR_Errhandler_mem", "MPIR_Errhandler", 0x94000000, one)
	m.Pool("MPIR_Info_mem", "MPIR_Info", 0x9c000000, one)
	m.Pool("MPIR_Session_mem", "MPIR_Session", 0xb8000000, one)
	m.Pool("MPIR_Win_mem", "MPIR_Win", 0xa0000000, mpichtest.Members{"comm_ptr": uint64(world.UniqueID)})
	m.SetSymbol("ADIOI_Ftable_ptr", inferior.Symbol{Addr: m.Ints(3)})
	got := handlesOf(t, m, 1<<16)
	for kind, want := range map[mqs.HandleKind][]uint64{
		mqs.GroupHandle: {0x88000000, 0x88000002}, mqs.OpHandle: {0x98000001}, mqs.ErrhandlerHandle: {0x94000000}, mqs.InfoHandle: {0x9c000000},
		mqs.SessionHandle: {0xb8000000}, mqs.WinHandle: {0xa0000000}, mqs.FileHandle: {1, 2, 3},
	} {
		if !slices.Equal(got[kind], want) {
			t.Errorf("%s: %#x, want %#x", kind, got[kind], want)
		}
	}
	s, err := mpichtest.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []mqs.HandleKind{mqs.CommHandle, mqs.DatatypeHandle, mqs.RequestHandle} {
		for _, value := range got[kind] {
			if h := s.(read.Resolver).Resolve(mqs.HandleValue{Kind: kind, Value: value}); h.State != mqs.LiveHandle && h.State != mqs.PredefinedHandle && h.State != mqs.NullHandle {
				t.Errorf("%s %#x is %q", kind, value, h.State)
			}
		}
	}
	if comms := got[mqs.CommHandle]; !slices.Contains(comms, 0x44000000) || !slices.Contains(comms, 0x04000000) || slices.Contains(comms, 0x4c000405) {
		t.Errorf("communicators: %#x", comms)
	}
	if types := got[mqs.DatatypeHandle]; !slices.Contains(types, 0x4c000405) || !slices.Contains(types, 0x8c000005) || slices.Contains(types, 0) {
		t.Errorf("datatypes: %#x", types)
	}
	for kind, list := range handlesOf(t, m, 1) {
		if len(list) != 1 || list[0] != got[kind][0] {
			t.Errorf("at most one: %s %#x of %#x", kind, list, got[kind])
		}
	}
	if files := handlesOf(t, m.RemoveSymbols("ADIOI_Ftable_ptr"), 1<<16)[mqs.FileHandle]; files != nil {
		t.Errorf("files: %d", files)
	}
	if files := handlesOf(t, m.SetSymbol("ADIOI_Ftable_ptr", inferior.Symbol{Addr: 8}), 1<<16)[mqs.FileHandle]; files != nil {
		t.Errorf("files that can't be read: %d", files)
	}
}

// Each request in use has its handle among those of requests, or of messages if MPI_Mprobe has taken one.
func TestHandlesOfRequests(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4-debug/requests-rank-0")
	r := inferior.NewReader(t.Context(), tg)
	got := handlesOf(t, tg, 1<<16)
	there := map[bool]int{}
	for _, q := range mpichtest.Collect(t, tg).Communicators {
		for class, queue := range q.Queue {
			for _, op := range queue.Operations {
				number, err := r.Uint(op.Request.Value, 4)
				if err != nil {
					t.Fatal(err)
				}
				isMessage := mqs.OpClass(class) == mqs.UnexpectedMessages && op.Status == mqs.Matched
				if isMessage {
					there[true]++
				} else {
					there[false]++
				}
				if slices.Contains(got[mqs.MessageHandle], number) != isMessage || slices.Contains(got[mqs.RequestHandle], number) == isMessage {
					t.Errorf("request %#x is among %#x and %#x", number, got[mqs.RequestHandle], got[mqs.MessageHandle])
				}
			}
		}
	}
	if there[false] == 0 || there[true] == 0 {
		t.Errorf("there are %v", there)
	}
}
