package callstack

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Wait is what a call waits for, as [mqs.Thread] has it.
type Wait struct {
	// Comm is the unique id of the communicator that the call was given. Where that is not known, the
	// one that all of its requests are on counts.
	Comm mqs.Maybe[inferior.Addr]
	// Root is the local rank of the root of a collective call.
	Root mqs.Maybe[int32]
	// Source and Tag are what a probe looks for, where no queue has it.
	Source, Tag mqs.Maybe[int32]
	// Requests are those that it waits for, and All is true if they are all of them.
	Requests []Request
	All      bool
}

// Request is a request that a call waits for.
type Request struct {
	// Addr is what [mqs.PendingOperation.Request] has.
	Addr inferior.Addr
	// Comm is the unique id of its communicator.
	Comm mqs.Maybe[inferior.Addr]
}

// SetWaits fills in what the threads wait for that are in one of the calls, as of says of each.
func SetWaits(threads []mqs.Thread, calls []Call, of func(c *Call) Wait) {
	for i := range calls {
		at := slices.IndexFunc(threads, func(t mqs.Thread) bool { return t.Number == calls[i].Thread })
		if at < 0 {
			continue
		}
		t, w := &threads[at], of(&calls[i])
		t.Root, t.Source, t.Tag, t.AllRequests = w.Root, w.Source, w.Tag, w.All
		for _, r := range w.Requests {
			t.Requests = append(t.Requests, r.Addr)
		}
		if t.Comm = w.Comm; !t.Comm.Known {
			t.Comm = commOf(w.Requests)
		}
	}
}

// commOf is the communicator that all requests are on, unknown if there is none such.
func commOf(requests []Request) mqs.Maybe[inferior.Addr] {
	if len(requests) == 0 || slices.ContainsFunc(requests, func(r Request) bool { return r.Comm != requests[0].Comm }) {
		return mqs.Maybe[inferior.Addr]{}
	}
	return requests[0].Comm
}
