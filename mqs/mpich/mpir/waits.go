package mpir

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// maxHandles bounds the arrays of request handles that are read.
const maxHandles = 1 << 20

// nullRequest is MPI_REQUEST_NULL (src/include/mpi.h.in).
const nullRequest = 0x2c000000

// Waits finds out what each call waits for: from its arguments, which the debug
// information of a library that can be read at all describes, and from the
// requests whose addresses it holds.
func (s *Source) Waits(threads []mqs.Thread) {
	calls, err := s.calls()
	if err != nil {
		return
	}
	callstack.SetWaits(threads, calls, func(c *callstack.Call) callstack.Wait { return s.waitOf(c, len(calls) == 1) })
}

// waitOf is what a call waits for. It is alone if no other thread is in one.
func (s *Source) waitOf(c *callstack.Call, isAlone bool) callstack.Wait {
	requests, isAll := s.waitedFor(c, isAlone)
	out := callstack.Wait{All: isAll, Some: !isAll && len(requests) > 0 && s.lib.IsStripped && isWaitForRequests(c)}
	isByParts := s.lib.IsStripped && !callstack.IsPointToPoint(c.Function) && !isWaitForRequests(c)
	waits := requests
	if isByParts && s.device.MayRefuse() {
		waits = nil // what it tries to send goes before, and is not known
	}
	for _, r := range waits {
		of := callstack.Request{Addr: r.user().At.Addr()}
		if comm := s.communicator(r.Comm.Addr()); comm != nil && !isByParts {
			of.Comm = mqs.Known(comm.Model.UniqueID)
		}
		out.Requests = append(out.Requests, of)
	}
	comm := s.commOfCall(c)
	switch {
	case comm != nil:
	case s.lib.IsStripped && isBlockingProbe(c):
		comm = s.commHeld(c)
	case isByParts:
		if comm = s.commOfParts(c, requests); len(requests) == 0 {
			comm = s.commOfCollective(c)
		}
	}
	if len(requests) == 0 {
		var on *Communicator
		if out.Flags, on = s.awaitedFlags(c, comm, isAlone); comm == nil && on != nil && !on.Model.Internal {
			comm = on
		}
	}
	if comm != nil {
		out.Comm = mqs.Known(comm.Model.UniqueID)
	}
	s.setObjects(c, &out)
	if root, ok := c.Argument("root"); ok && root >= 0 && (!takesComm[c.Function] || takesRoot[c.Function]) {
		out.Root = mqs.Known(int32(root))
	}
	if count, handle, ok := c.Data(); ok {
		of := s.datatypeGiven(handle)
		out.SetData(count, of.Name, of.Size)
	}
	if handle, ok := c.Reduction(); ok {
		out.Operation = s.operationGiven(handle)
	}
	if slices.Contains([]string{"MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"}, c.Function) {
		out.Source, out.Tag = s.probed(c)
	}
	return out
}

// awaitedFlags returns the flags in shared memory that a collective call without pending messages waits for, and their communicator. If
// other threads are in calls too, flags on another communicator than comm may belong to those.
func (s *Source) awaitedFlags(c *callstack.Call, comm *Communicator, isAlone bool) (out []mqs.Flag, on *Communicator) {
	if callstack.IsPointToPoint(c.Function) || isWaitForRequests(c) || s.requests().err != nil || s.requests().postedErr != nil || s.lib.IsStripped && !isAlone {
		return nil, nil
	}
	call := innermostCollective(c)
	for _, may := range s.communicators().all {
		if may != comm && !isAlone {
			continue
		}
		flags := s.device.AwaitedFlags(may, call, may == comm)
		switch {
		case len(flags) == 0:
		case on != nil:
			return nil, nil // it waits on one of them
		default:
			out, on = flags, may
		}
	}
	return out, on
}

// innermostCollective is the collective that a call is in: itself, or one that it has called in turn.
func innermostCollective(c *callstack.Call) string {
	for _, f := range c.Frames {
		if name := strings.TrimPrefix(f.Function, "P"); takesComm[name] {
			return name
		}
	}
	return c.Function
}

// operationName is the name of a reduction's operation, empty of one that the program has made.
func operationName(handle uint32) mqs.Maybe[string] {
	if name, isConstant := constants[constant{mqs.OpHandle, handle}]; isConstant {
		return mqs.Known(name)
	}
	return mqs.Maybe[string]{Known: IsHandle(handle, objectOp)}
}

// isBlockingProbe says whether a call waits for a message without receiving it.
func isBlockingProbe(c *callstack.Call) bool {
	return c.Function == "MPI_Probe" || c.Function == "MPI_Mprobe"
}

// isWaitForRequests says whether a call waits for requests that the program has passed to it.
func isWaitForRequests(c *callstack.Call) bool { return strings.HasPrefix(c.Function, "MPI_Wait") }

// probed is what a blocking probe looks for, which no queue has.
func (s *Source) probed(c *callstack.Call) (source, tag mqs.Maybe[int32]) {
	negatives := s.lib.Negatives()
	if v, ok := c.Argument("source"); ok {
		source = negatives.source(int32(v))
	}
	if v, ok := c.Argument("tag"); ok {
		tag = mqs.Known(negatives.tag(int32(v)))
	}
	return source, tag
}

// waitedFor returns the incomplete requests that a call waits for, and whether
// they are all.
func (s *Source) waitedFor(c *callstack.Call, isAlone bool) (out []*Operation, isAll bool) {
	q := s.requests()
	_, send := callstack.BlockingSends[c.Function]
	_, recv := callstack.BlockingRecvs[c.Function]
	switch {
	case isWaitForRequests(c) && s.lib.IsStripped:
		if !isAlone {
			return nil, false
		}
		may := s.mayAwait(c)
		return may, len(may) == 1
	case isWaitForRequests(c), strings.HasPrefix(c.Function, "MPI_Test") && c.Function != "MPI_Test_cancelled",
		strings.HasPrefix(c.Function, "MPI_Request_get_status_"): // of several requests (MPI 4.1, 3.7.6)
		return s.handles(c)
	case c.Function == "MPI_Request_get_status", c.Function == "MPI_Parrived":
		return s.handle(c)
	case (send || recv) && !s.isWaiting(c):
		return nil, false
	case q.err != nil && (send || recv):
		return nil, false // its own may be one that can't be read
	case send && recv && s.lib.IsStripped:
		return s.exchangedUnseen(c), false
	case send && recv:
		return s.exchanged(c), false
	case send || recv:
		list := q.receives
		if send {
			list = q.sends
		}
		// The stack keeps old values, so of several it is not known which. What is complete is none
		// of them, unless there are other calls: then it may be this one's, and the rest theirs.
		out = s.heldBy(c, list)
		if isAlone {
			out = slices.DeleteFunc(out, (*Operation).IsComplete)
		}
		if len(out) != 1 || out[0].IsComplete() {
			return nil, false
		}
		return out, true
	}
	if s.lib.IsStripped {
		return s.partsOf(c, isAlone), false
	}
	return s.ownMessages(c), false
}

// exchanged are the incomplete requests of MPI_Sendrecv's own. It waits until its send and its receive
// are complete, and for none that is with MPI_PROC_NULL (src/mpi/pt2pt/sendrecv.c, 4.0 to 5.0), so that
// its arguments tell whether it has either; or that it has to wait for one of them tells so of the other.
func (s *Source) exchanged(c *callstack.Call) (out []*Operation) {
	send, isSendKnown := s.half(c, "dest", s.requests().sends)
	recv, isRecvKnown := s.half(c, "source", s.requests().receives)
	if send != nil && (isSendKnown || isRecvKnown && recv == nil) {
		out = append(out, send)
	}
	if recv != nil && (isRecvKnown || isSendKnown && send == nil) {
		out = append(out, recv)
	}
	return out
}

// half is the send or the receive that MPI_Sendrecv may wait for, nil if it waits for none or may hold
// several; known if whether it waits for that one is.
func (s *Source) half(c *callstack.Call, argument string, list []*Operation) (r *Operation, isKnown bool) {
	peer, isKnown := c.CallArgument(argument)
	if isKnown && int32(peer) == s.lib.Negatives().ProcNull {
		return nil, true
	}
	held := s.heldBy(c, list)
	if len(held) != 1 {
		return nil, false
	}
	if held[0].IsComplete() {
		return nil, isKnown
	}
	return held[0], isKnown
}

// heldBy are the requests in a list that a blocking call holds and may have made, complete ones included.
func (s *Source) heldBy(c *callstack.Call, list []*Operation) []*Operation {
	return slices.DeleteFunc(slices.Clone(list), func(r *Operation) bool {
		_, may := s.inCalls().kinds[r.At.Addr()]
		return !may || !c.CandidatePointers[r.At.Addr()] || r.Owner != nil
	})
}

// ownMessages are the requests that a collective waits for, one or several at a
// time, as it has passed them to the library's functions for that.
func (s *Source) ownMessages(c *callstack.Call) (out []*Operation) {
	added := map[*Operation]bool{}
	add := func(a inferior.Ptr[Request]) {
		if r := s.requests().byAddr[a]; r != nil && !r.IsComplete() && !added[r] {
			added[r] = true
			out = append(out, r)
		}
	}
	if a, ok := c.InnermostArgument("request_ptr"); ok {
		add(inferior.Ptr[Request](a))
		return out
	}
	for _, names := range [][2]string{{"request_ptrs", "count"}, {"requests", "numreq"}} {
		for _, f := range c.Frames {
			at, ok := f.Variables[names[0]]
			count, isCount := f.Variables[names[1]]
			if !ok || !isCount || count < 0 || count > maxHandles {
				continue
			}
			requests, err := inferior.ReadPointers(s.lib.Reader, inferior.Ptr[inferior.Ptr[Request]](at), int(count))
			if err != nil {
				continue
			}
			for _, a := range requests {
				add(a)
			}
			return out
		}
	}
	return out
}

// handles are the requests that the program has passed to a call that waits.
func (s *Source) handles(c *callstack.Call) (out []*Operation, isAll bool) {
	at, ok := c.Argument("request", "array_of_requests")
	count := int64(1)
	if ok && c.Function != "MPI_Wait" && c.Function != "MPI_Test" {
		count, ok = c.Argument("count", "incount")
	}
	if !ok || count < 0 || count > maxHandles {
		return nil, false
	}
	var over []*Operation
	byHandle := map[uint32]*Operation{}
	for _, r := range s.requests().byAddr {
		byHandle[r.Handle] = r
	}
	isAll = true
	given, isRead := s.requestsGiven(inferior.Addr(at), count)
	for _, h := range given {
		r := byHandle[h]
		switch {
		case r != nil && r.Owner != nil: // the library's own part of a persistent one
			isAll = false
		case r == nil && h != nullRequest:
			isAll = false
		case r != nil && !s.started(r).IsComplete():
			out = append(out, r)
		case r != nil && (r.Kind == KindSend || r.Kind == KindRecv):
			over = append(over, r)
		}
	}
	isAll = isAll && isRead
	if isWaitForRequests(c) && s.isWaiting(c) && isAll && len(out) == 0 {
		out = over // it is about to return, or its library has lost the wake-up
	}
	return out, isAll
}

// handle is the request that the program has passed by its handle.
func (s *Source) handle(c *callstack.Call) ([]*Operation, bool) {
	value, ok := c.CallArgument("request")
	if !ok {
		return nil, false
	}
	h, ok := s.given(mqs.RequestHandle, value)
	if !ok {
		return nil, false
	}
	for _, r := range s.requests().byAddr {
		if r.Handle == h && r.Owner == nil && !s.started(r).IsComplete() {
			return []*Operation{r}, true
		}
	}
	return nil, false
}

// started is the request that a persistent one has started, or the request itself.
func (s *Source) started(r *Operation) *Operation {
	for _, at := range []inferior.Ptr[Request]{r.Real, r.Started} {
		if real := s.requests().byAddr[at]; real != nil && real.Owner == r {
			return real
		}
	}
	return r
}

// commOfCall is the communicator that a call was given, nil if that is not known: a handle, or inside of the
// library a pointer.
func (s *Source) commOfCall(c *callstack.Call) *Communicator {
	v, ok := c.Argument("comm", "comm_ptr")
	if !ok {
		return nil
	}
	return s.commGiven(v)
}
