package ch4_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// Symbols of the lists of receives from oneself, and of sends.
const (
	selfRecvs = "self_recv_queue"
	selfSends = "self_send_queue"
)

// Kinds of requests.
const (
	kindSend   = 1
	kindMprobe = 11
)

// toSelf is a process with several messages to itself on MPI_COMM_SELF: the two pending receives of a
// recorded one are made sends.
type toSelf struct {
	t        *testing.T
	tg       *inferiortest.Patched
	requests map[int32]inferior.Addr // by tag
}

func newToSelf(t *testing.T) *toSelf {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")
	own := &toSelf{t, inferiortest.Patch(tg).RemoveSymbols(selfRecvs), map[int32]inferior.Addr{}}
	queues := mpichtest.Queues(t, mpichtest.Collect(t, tg), "MPI_COMM_SELF")
	for _, op := range slices.Concat(queues.Queue[mqs.PendingSends].Operations, queues.Queue[mqs.PendingReceives].Operations) {
		if op.Status != mqs.Pending {
			continue
		}
		r := op.Request.Value
		tag, err := inferior.NewReader(t.Context(), tg).Int(own.member(r, "dev.ch4.self.tag"), 4)
		if err != nil {
			t.Fatal(err)
		}
		own.requests[int32(tag)] = r
		own.tg.PutUint32(own.member(r, "kind"), kindSend)
	}
	if len(own.requests) != 3 {
		t.Fatalf("%d operations", len(own.requests))
	}
	return own
}

// member is where a member of a request is.
func (own *toSelf) member(request inferior.Addr, path string) inferior.Addr {
	own.t.Helper()
	return request + mpichtest.Offset(own.t, own.tg, "MPIR_Request", path)
}

// link makes the library's list of them, of these tags.
func (own *toSelf) link(tags ...int32) {
	at := mpichtest.Symbol(own.t, own.tg.Inferior, selfRecvs)
	own.tg.SetSymbol(selfSends, inferior.Symbol{Addr: at})
	for _, tag := range tags {
		own.tg.PutPointer(at, own.requests[tag])
		at = own.member(own.requests[tag], "next")
	}
	own.tg.PutPointer(at, 0)
}

// tags are those of a queue of MPI_COMM_SELF, with the status of each that is not pending.
func (own *toSelf) tags(class mqs.OpClass) string {
	own.t.Helper()
	var out []string
	for _, op := range mpichtest.Queues(own.t, mpichtest.Collect(own.t, own.tg), "MPI_COMM_SELF").Queue[class].Operations {
		line := fmt.Sprint(op.DesiredTag.Value)
		if op.Status != mqs.Pending {
			line += " " + string(op.Status)
		}
		out = append(out, line)
	}
	return fmt.Sprint(out)
}

// Messages to oneself stand in the order of the library's list of them, and not of its pool.
func TestSentToSelf(t *testing.T) {
	for _, order := range [][]int32{{1, 2, 3}, {3, 1, 2}, {2, 3, 1}} {
		own := newToSelf(t)
		own.link(order...)
		for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.UnexpectedMessages} {
			if got := own.tags(class); got != fmt.Sprint(order) {
				t.Errorf("%v: %v are %s", order, class, got)
			}
		}
	}
}

// A message to oneself that MPI_Mprobe has taken is no longer unexpected, and its envelope is in its send.
func TestHeldToSelf(t *testing.T) {
	own := newToSelf(t)
	own.link(1)
	held := own.requests[3]
	own.tg.PutUint32(own.member(held, "kind"), kindMprobe)
	own.tg.PutPointer(own.member(held, "dev.ch4.self.match_req"), own.requests[2])
	if got := own.tags(mqs.UnexpectedMessages); got != "[1 2 matched]" {
		t.Errorf("unexpected are %s", got)
	}
	if got := own.tags(mqs.PendingSends); got != "[2 1]" {
		t.Errorf("sends are %s", got)
	}
}

// Of a message to oneself that MPI_Mprobe has taken, nothing is known if its send is gone.
func TestHeldToSelfWithoutSend(t *testing.T) {
	own := newToSelf(t)
	own.link(1)
	held := own.requests[3]
	own.tg.PutUint32(own.member(held, "kind"), kindMprobe)
	own.tg.PutPointer(own.member(held, "dev.ch4.self.match_req"), 0)
	operations := mpichtest.Queues(t, mpichtest.Collect(t, own.tg), "MPI_COMM_SELF").Queue[mqs.UnexpectedMessages].Operations
	at := slices.IndexFunc(operations, func(op mqs.PendingOperation) bool { return op.Request == mqs.Known(held) })
	if at < 0 || operations[at].Status != mqs.Matched || operations[at].DesiredTag.Known || operations[at].DesiredLocalRank.Known {
		t.Errorf("%+v", operations)
	}
}

// A complete send to oneself has left nothing but its entry in the debugger's queue: where that has the program's
// sends alone, it is the program's own.
func TestCompleteToSelf(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4-debug/queues-rank-0")
	operations := mpichtest.Queues(t, mpichtest.Shown(t, tg), "MPI_COMM_SELF").Queue[mqs.PendingSends].Operations
	if len(operations) == 0 || operations[0].Status != mqs.Pending {
		t.Fatalf("%+v", operations)
	}
	sent := operations[0]
	pending := sent.Request.Value + mpichtest.Offset(t, tg, "MPIR_Request", "cc")
	again := mpichtest.Queues(t, mpichtest.Shown(t, inferiortest.Patch(tg).PutUint32(pending, 0)), "MPI_COMM_SELF").Queue[mqs.PendingSends].Operations
	if len(again) != len(operations) {
		t.Fatalf("it is not shown: %+v", again)
	}
	at := slices.IndexFunc(again, func(op mqs.PendingOperation) bool { return op.Request == sent.Request })
	if got := again[at]; got.Status != mqs.Complete || got.DesiredTag != sent.DesiredTag || got.DesiredLocalRank != sent.DesiredLocalRank || got.Buffer.Known {
		t.Errorf("%+v", got)
	}
}
