package callstack

import (
	"math"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Wait is what a call waits for, as [mqs.Thread] has it.
type Wait struct {
	// Comm is the unique id of the communicator that the call was given. If that is not known, the one on
	// which all of its requests are counts.
	Comm mqs.Maybe[inferior.Addr]
	// Root is the local rank of the root of a collective call.
	Root mqs.Maybe[int32]
	// Length is how many bytes of data a collective call was given, and Datatype the name of their type, where all
	// members have to give the same; Operation is the name of a reduction's.
	Length              mqs.Maybe[int64]
	Datatype, Operation mqs.Maybe[string]
	// Source and Tag are what a probe asks for, if no queue has the probe.
	Source, Tag mqs.Maybe[int32]
	// Window and File are the handles of the window and the file that the call works on, and Target is the
	// local rank whose memory it locks, unlocks or flushes.
	Window, File mqs.Maybe[inferior.Addr]
	Target       mqs.Maybe[int32]
	// Requests are the requests for which it waits; All is true if there are no others. Some is true if it waits
	// for one or more of these, and for no others.
	Requests  []Request
	All, Some bool
	// Flags are those in shared memory that it waits for.
	Flags []mqs.Flag
}

// Request is a request for which a call waits.
type Request struct {
	// Addr is what [mqs.PendingOperation.Request] has.
	Addr inferior.Addr
	// Comm is the unique id of its communicator.
	Comm mqs.Maybe[inferior.Addr]
}

// SetWaits fills in what the threads in the calls wait for. of returns that of one call.
func SetWaits(threads []mqs.Thread, calls []Call, of func(c *Call) Wait) {
	for i := range calls {
		at := slices.IndexFunc(threads, func(t mqs.Thread) bool { return t.Number == calls[i].Thread })
		if at < 0 {
			continue
		}
		t, w := &threads[at], of(&calls[i])
		t.Root, t.Source, t.Tag, t.AllRequests, t.SomeRequests = w.Root, w.Source, w.Tag, w.All, w.Some
		t.Length, t.Datatype, t.Operation = w.Length, w.Datatype, w.Operation
		t.Window, t.Target, t.OpenFile, t.Flags = w.Window, w.Target, w.File, w.Flags
		for _, r := range w.Requests {
			t.Requests = append(t.Requests, r.Addr)
		}
		if t.Comm = w.Comm; !t.Comm.Known {
			t.Comm = commOf(w.Requests)
		}
	}
}

// SetData fills in what data a collective call was given: so many elements of a type with a name and a size in
// bytes.
func (w *Wait) SetData(count int64, name mqs.Maybe[string], size mqs.Maybe[int64]) {
	w.Datatype = name
	if size.Known && size.Value >= 0 && (size.Value == 0 || count <= math.MaxInt64/size.Value) {
		w.Length = mqs.Known(count * size.Value)
	}
}

// commOf returns the communicator on which all requests are; it is unknown if they are on several.
func commOf(requests []Request) mqs.Maybe[inferior.Addr] {
	if len(requests) == 0 || slices.ContainsFunc(requests, func(r Request) bool { return r.Comm != requests[0].Comm }) {
		return mqs.Maybe[inferior.Addr]{}
	}
	return requests[0].Comm
}
