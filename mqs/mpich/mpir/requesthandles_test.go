package mpir

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// From 4.1 the enumeration of kinds has one more, behind which the others have moved.
func TestOtherKinds(t *testing.T) {
	for kind, want := range map[uint32][2]string{ // up to 4.0, and later
		KindSend: {}, kindPersistentRecv: {}, kindPersistentCollective: {"persistent collective", "persistent collective"}, kindPartitionedSend: {}, 8: {},
		9: {"generalized", "enqueued"}, 10: {"collective", "generalized"}, 11: {"", "collective"}, 12: {"rma", ""}, 13: {"", "rma"},
	} {
		before, later := &Operation{Request: Request{Kind: kind}}, &Operation{Request: Request{Kind: kind, Enqueue: 1}}
		if got := [2]string{before.otherKind(), later.otherKind()}; got != want {
			t.Errorf("%d is %q, want %q", kind, got, want)
		}
		if got := [2]bool{before.IsTaken(), later.IsTaken()}; got != [2]bool{kind == 11, kind == 12} {
			t.Errorf("%d was taken: %t", kind, got)
		}
		isCollective := func(name string) bool { return name == "collective" || name == "persistent collective" }
		if got := [2]bool{before.IsCollective(), later.IsCollective()}; got != [2]bool{isCollective(want[0]), isCollective(want[1])} {
			t.Errorf("%d is a collective: %t", kind, got)
		}
	}
}

// What a request stands for is told as the queues tell it; of one that has no communicator, what its status has.
func TestOperationOfRequest(t *testing.T) {
	const win = 0x77
	on := comm(0x10, 8, false)
	request := func(r Request) *Operation { return &Operation{At: 0x1000, Request: r} }
	bare := func(kind string, status mqs.Status) mqs.PendingOperation {
		return mqs.PendingOperation{Status: status, Kind: kind}
	}
	received := bare("irecv", mqs.Complete)
	received.ActualLocalRank, received.ActualTag, received.ActualLength = mqs.Known[int32](2), mqs.Known[int32](7), mqs.Known[int64](40)
	for name, c := range map[string]struct {
		r      *Operation
		want   mqs.PendingOperation
		isOnIt bool // the communicator
	}{
		"a collective":                       {request(Request{Kind: kindCollective, Pending: 1, Comm: 0x10}), bare("collective", mqs.Pending), true},
		"one that is complete":               {request(Request{Kind: kindCollective, Comm: 0x10}), bare("collective", mqs.Complete), true},
		"of no communicator":                 {request(Request{Kind: kindGeneralized, Pending: 1}), bare("generalized", mqs.Pending), false},
		"of one that is not known":           {request(Request{Kind: kindGeneralized, Pending: 1, Comm: 0x20}), bare("generalized", mqs.Pending), false},
		"of a window":                        {request(Request{Kind: kindRMA, Pending: 1, Win: win}), bare("rma", mqs.Pending), true},
		"of a window that is not known":      {request(Request{Kind: kindRMA, Pending: 1, Win: win + 1}), bare("rma", mqs.Pending), false},
		"of another kind, with a window":     {request(Request{Kind: kindGeneralized, Pending: 1, Win: win}), bare("generalized", mqs.Pending), false},
		"a network's receive":                {request(Request{Kind: KindRecv, Pending: 1, Source: 2, Tag: 7, CountLo: 40}), bare("irecv", mqs.Pending), false},
		"a network's receive that is over":   {request(Request{Kind: KindRecv, Source: 2, Tag: 7, CountLo: 40}), received, false},
		"a network's receive, cancelled":     {request(Request{Kind: KindRecv, Source: 2, Tag: 7, CountLo: 40, CountHi: 1}), bare("irecv", mqs.Complete), false},
		"a network's send":                   {request(Request{Kind: KindSend, Pending: 1}), bare("", mqs.Pending), false},
		"a kind that is not known":           {request(Request{Kind: 8, Pending: 1, Comm: 0x10}), bare("", mqs.Pending), true},
		"a partitioned one of which no more": {request(Request{Kind: kindPartitionedSend, Pending: 1, Comm: 0x10}), mqs.PendingOperation{Status: mqs.Pending, Kind: mqs.KindPartitionedSend, TagWild: mqs.Known(false)}, true},
	} {
		s := made(inferiortest.New(), &scripted{}, []*Communicator{on}, c.r)
		s.communicators().windows = []*Window{{At: win - 1}, {At: win, On: on}}
		c.want.Request = mqs.Known(c.r.At.Addr())
		if got := s.operation(c.r); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got := s.communicatorOfRequest(c.r); (got == on) != c.isOnIt || got != on && got != nil {
			t.Errorf("%s: on %+v", name, got)
		}
	}
}

// A send, a receive and a persistent request are those of the queues.
func TestMessageOfRequest(t *testing.T) {
	on := comm(0x10, 8, false)
	of := func(at, kind uint32) *Operation {
		return &Operation{At: inferior.Ptr[Request](0x1000 + at), Request: Request{Kind: kind, Pending: 1, Comm: 0x10}}
	}
	send, recv, idle, active, activeRecv, own, ownRecv := of(0, KindSend), of(1, KindRecv), of(2, kindPersistentSend), of(3, kindPersistentSend), of(4, kindPersistentRecv), of(5, KindSend), of(6, KindRecv)
	own.Owner, ownRecv.Owner = active, activeRecv
	taken := of(7, kindMprobe)
	d := &scripted{arguments: map[*Operation]Arguments{}}
	for i, r := range []*Operation{send, recv, idle, active, activeRecv} {
		d.arguments[r] = Arguments{Tag: mqs.Known(int32(i)), Kind: "x"}
	}
	s := made(inferiortest.New(), d, []*Communicator{on}, send, recv, idle, active, activeRecv, own, ownRecv, taken)
	for name, c := range map[string]struct {
		r      *Operation
		status mqs.Status
		tag    int32
	}{
		"a send": {send, mqs.Pending, 0}, "a receive": {recv, mqs.Pending, 1}, "not started": {idle, mqs.Inactive, 2}, "a send that was started": {active, mqs.Pending, 3}, "a receive that was started": {activeRecv, mqs.Pending, 4},
		"a message that was taken": {taken, mqs.Matched, 5},
	} {
		if got := s.operation(c.r); got.Status != c.status || got.DesiredTag != mqs.Known(c.tag) || got.Request.Value != c.r.At.Addr() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
