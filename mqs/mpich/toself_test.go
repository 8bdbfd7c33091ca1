package mpich

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// toSelf is a process with several messages to itself on MPI_COMM_SELF: the two pending receives of a
// recorded one are made sends.
type toSelf struct {
	t        *testing.T
	s        *source
	tg       *inferiortest.Patched
	requests map[int32]inferior.Addr // by tag
}

func newToSelf(t *testing.T) *toSelf {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")
	s := mustStart(t, tg)
	own := &toSelf{t, s, inferiortest.Patch(tg).RemoveSymbols(symSelfRecvs), map[int32]inferior.Addr{}}
	q := s.allRequests()
	if _, err := s.readCommunicators(); err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Concat(q.sends, q.posted) {
		if s.device.(*ch4).isToSelf(r) && !r.complete() {
			request, err := s.device.(*ch4).Request.ReadAt(s.r, r.at)
			if err != nil {
				t.Fatal(err)
			}
			own.requests[request.SelfTag] = r.at
			own.tg.PutUint32(r.at+offset(t, s, "MPIR_Request", "kind"), kindSend)
		}
	}
	if len(own.requests) != 3 {
		t.Fatalf("%d operations", len(own.requests))
	}
	return own
}

// link makes the library's list of them, of these tags.
func (own *toSelf) link(tags ...int32) {
	head := own.s.symbols[symSelfRecvs]
	own.tg.SetSymbol(symSelfSends, head)
	at := head.Addr
	for _, tag := range tags {
		own.tg.PutPointer(at, own.requests[tag])
		at = own.requests[tag] + offset(own.t, own.s, "MPIR_Request", "next")
	}
	own.tg.PutPointer(at, 0)
}

// tags are those of a queue of MPI_COMM_SELF, with the status of each that is not pending.
func (own *toSelf) tags(class mqs.OpClass) string {
	own.t.Helper()
	var out []string
	for _, op := range queuesOf(own.t, collect(own.t, own.tg), "MPI_COMM_SELF").Queue[class].Operations {
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
	own.tg.PutUint32(held+offset(t, own.s, "MPIR_Request", "kind"), kindMprobe)
	own.tg.PutPointer(held+offset(t, own.s, "MPIR_Request", "dev.ch4.self.match_req"), own.requests[2])
	if got := own.tags(mqs.UnexpectedMessages); got != "[1 2 matched]" {
		t.Errorf("unexpected are %s", got)
	}
	if got := own.tags(mqs.PendingSends); got != "[2 1]" {
		t.Errorf("sends are %s", got)
	}
}
