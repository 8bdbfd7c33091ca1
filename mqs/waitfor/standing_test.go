package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// TestKeepCalls checks that what an earlier sample has shown of a call is kept while the process stays in it, and only then.
func TestKeepCalls(t *testing.T) {
	const request = inferior.Addr(0x40)
	sample := func(isSeen bool) *mqs.Process {
		receive := mqs.PendingOperation{Status: mqs.Pending, Kind: "recv", Request: mqs.Known(request), DesiredTag: mqs.Known[int32](7)}
		q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 0x10}, Traffic: []mqs.Traffic{{Peer: 1, Sent: 3, Arrived: 4}}}
		for class := range q.Queue {
			q.Queue[class] = &mqs.Queue{}
		}
		q.Queue[mqs.PendingReceives].Operations = []mqs.PendingOperation{receive}
		p := &mqs.Process{Phase: mqs.Active, Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv", Function: "main", File: "a.c", Line: 10}},
			Communicators: []*mqs.Queues{q}}
		if isSeen {
			t := &p.Threads[0]
			t.Requests, t.AllRequests, t.Comm = []inferior.Addr{request}, true, mqs.Known[inferior.Addr](0x10)
		}
		return p
	}
	for name, c := range map[string]struct {
		change func(now, before *mqs.Process)
		want   bool
	}{
		"it stands":          {func(_, _ *mqs.Process) {}, true},
		"a message has come": {func(now, _ *mqs.Process) { now.Communicators[0].Traffic[0].Arrived++ }, false},
		"its MPI does not count": {func(now, before *mqs.Process) {
			now.Communicators[0].Traffic, before.Communicators[0].Traffic = nil, nil
		}, false},
		"it is in another call":   {func(now, _ *mqs.Process) { now.Threads[0].Line++ }, false},
		"another thread is in it": {func(now, _ *mqs.Process) { now.Threads[0].Number++ }, false},
		"the operation is gone":   {func(now, _ *mqs.Process) { now.Communicators[0].Queue[mqs.PendingReceives].Operations = nil }, false},
		"it is complete": {func(now, _ *mqs.Process) {
			now.Communicators[0].Queue[mqs.PendingReceives].Operations[0].Status = mqs.Complete
		}, false},
		"it is another one": {func(now, _ *mqs.Process) {
			now.Communicators[0].Queue[mqs.PendingReceives].Operations[0].DesiredTag.Value++
		}, false},
		"nothing was seen before":   {func(_, before *mqs.Process) { before.Threads[0].Requests, before.Threads[0].AllRequests = nil, false }, false},
		"its requests are seen now": {func(now, _ *mqs.Process) { now.Threads[0].Requests = []inferior.Addr{0x50} }, false},
	} {
		now, before := sample(false), sample(true)
		c.change(now, before)
		got := KeepCalls(now, before)
		if kept := got.Threads[0].AllRequests; kept != c.want || (got == now) == c.want {
			t.Errorf("%s: %+v", name, got.Threads[0])
		}
		if now.Threads[0].AllRequests {
			t.Errorf("%s: the new sample was changed", name)
		}
	}
}
