package render

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

func TestActualValuesInText(t *testing.T) {
	known := mqs.Known[int32]
	actual := func(op mqs.PendingOperation, local, global, tag int32, length int64) mqs.PendingOperation {
		op.ActualLocalRank, op.ActualGlobalRank, op.ActualTag, op.ActualLength = known(local), known(global), known(tag), mqs.Known(length)
		return op
	}
	wild := mqs.PendingOperation{DesiredLocalRank: known(mqs.AnyRank), DesiredGlobalRank: known(mqs.AnyRank), TagWild: mqs.Known(true)}
	plain := mqs.PendingOperation{DesiredLocalRank: known(1), DesiredGlobalRank: known(2), DesiredTag: known(7), DesiredLength: mqs.Known[int64](4)}
	length := mqs.PendingOperation{ActualLength: mqs.Known[int64](4)}
	for _, c := range []struct {
		class mqs.OpClass
		op    mqs.PendingOperation
		want  string
	}{
		{mqs.PendingReceives, wild, ""},
		{mqs.PendingReceives, actual(wild, 1, 2, 7, 4), "got 4 bytes from 1 (global 2), tag 7"},
		{mqs.PendingReceives, actual(wild, 1, 1, 7, 4), "got 4 bytes from 1, tag 7"},
		{mqs.PendingReceives, actual(plain, 1, 2, 7, 4), "got 4 bytes from 1, tag 7"}, // a column has it
		{mqs.PendingReceives, length, "got 4 bytes from ?, tag ?"},
		{mqs.PendingSends, actual(plain, 1, 2, 7, 4), ""},
		{mqs.PendingSends, actual(plain, 1, 1, 7, 4), "actual: rank 1"},
		{mqs.PendingSends, actual(plain, 3, 5, 8, 9), "actual: rank 3 (global 5), tag 8, 9 bytes"},
		{mqs.UnexpectedMessages, actual(plain, 1, 2, 7, 9), "actual: 9 bytes"},
		{mqs.UnexpectedMessages, plain, ""},
	} {
		if got := remarks(c.class, &c.op); got != c.want {
			t.Errorf("of %v: %+v\n%q, want %q", c.class, c.op, got, c.want)
		}
	}
}

// A type that has no name is told from one that is not known.
func TestUnnamedDatatype(t *testing.T) {
	for want, d := range map[string]mqs.Maybe[string]{"?": {}, "unnamed": mqs.Known(""), "MPI_INT": mqs.Known("MPI_INT")} {
		op := mqs.PendingOperation{Datatype: d}
		if got := datatype(&op); got != want {
			t.Errorf("%+v is %q, want %q", d, got, want)
		}
	}
}

// Of a collective call with a root that is known it is said which.
func TestRootInText(t *testing.T) {
	p := &mqs.Process{Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{UniqueID: 1, Name: mqs.Known("halo")}}}}
	thread := &mqs.Thread{Call: "MPI_Bcast", Comm: mqs.Known[inferior.Addr](1), Root: mqs.Known[int32](2), Function: "exchange", File: "halo.c", Line: 88}
	if got, want := whereabouts(p, thread), `MPI_Bcast on "halo" with root 2, called by exchange at halo.c:88`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	thread.Callers = []mqs.Caller{{Function: "exchange", File: "halo.c", Line: 88, Object: "/lib/libhalo.so"}, {Function: "main"}}
	if got, want := whereabouts(p, thread), `MPI_Bcast on "halo" with root 2, called by exchange (libhalo) at halo.c:88 from main`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
