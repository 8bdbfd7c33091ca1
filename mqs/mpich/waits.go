package mpich

import (
	"fmt"
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
func (s *source) Waits(threads []mqs.Thread) {
	calls, err := callstack.Calls(s.r)
	if err != nil {
		return
	}
	s.allRequests()
	s.blockingKinds()
	for _, c := range calls {
		at := slices.IndexFunc(threads, func(t mqs.Thread) bool { return t.Number == c.Thread })
		if at < 0 {
			continue
		}
		t := &threads[at]
		var waited []*requestAt
		waited, t.AllRequests = s.waitedFor(&c, len(calls) == 1)
		for _, r := range waited {
			t.Requests = append(t.Requests, r.user().at)
		}
		if comm := s.commOfCall(&c, waited); comm != nil {
			t.Comm = mqs.Known(comm.model.UniqueID)
		}
		if root, ok := c.Argument("root"); ok && root >= 0 {
			t.Root = mqs.Known(int32(root))
		}
		if c.Function == "MPI_Probe" || c.Function == "MPI_Mprobe" {
			probe(&c, t)
		}
	}
}

// probe says what a blocking probe looks for, which no queue has.
func probe(c *callstack.Call, t *mqs.Thread) {
	if source, ok := c.Argument("source"); ok {
		t.Source = mqs.Known(int32(source))
		if source == anySource {
			t.Source = mqs.Known(int32(mqs.AnyRank))
		}
	}
	if tag, ok := c.Argument("tag"); ok {
		t.Tag = mqs.Known(int32(tag))
	}
}

// waitedFor returns the incomplete requests that a call waits for, and whether
// they are all. The call is alone if no other thread is in one.
func (s *source) waitedFor(c *callstack.Call, isAlone bool) (out []*requestAt, all bool) {
	_, send := callstack.BlockingSends[c.Function]
	_, recv := callstack.BlockingRecvs[c.Function]
	switch {
	case strings.HasPrefix(c.Function, "MPI_Wait"):
		return s.handles(c)
	case (send || recv) && !isWaiting(c):
		return nil, false
	case s.requests.err != nil && (send || recv):
		return nil, false // its own may be one that can't be read
	case send && recv:
		return s.exchanged(c), false
	case send || recv:
		list := s.requests.recvs
		if send {
			list = s.requests.sends
		}
		// The stack keeps old values, so of several it is not known which. What is complete is none
		// of them, unless there are other calls: then it may be this one's, and the rest theirs.
		out = s.heldBy(c, list)
		if isAlone {
			out = slices.DeleteFunc(out, (*requestAt).complete)
		}
		if len(out) != 1 || out[0].complete() {
			return nil, false
		}
		return out, true
	}
	return s.ownMessages(c), false
}

// exchanged are the incomplete requests of MPI_Sendrecv's own. It waits until its send and its receive
// are complete, and for none that is with MPI_PROC_NULL (src/mpi/pt2pt/sendrecv.c, 4.0 to 5.0), so that
// its arguments tell whether it has either; or that it has to wait for one of them tells so of the other.
func (s *source) exchanged(c *callstack.Call) (out []*requestAt) {
	send, isSendKnown := s.half(c, "dest", s.requests.sends)
	recv, isRecvKnown := s.half(c, "source", s.requests.recvs)
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
func (s *source) half(c *callstack.Call, argument string, list []*requestAt) (r *requestAt, isKnown bool) {
	peer, isKnown := c.CallArgument(argument)
	if isKnown && int32(peer) == procNull {
		return nil, true
	}
	held := s.heldBy(c, list)
	if len(held) != 1 {
		return nil, false
	}
	if held[0].complete() {
		return nil, isKnown
	}
	return held[0], isKnown
}

// heldBy are the requests in a list that a blocking call holds and may have made, complete ones included.
func (s *source) heldBy(c *callstack.Call, list []*requestAt) []*requestAt {
	return slices.DeleteFunc(slices.Clone(list), func(r *requestAt) bool {
		_, may := s.blocking[r.at]
		return !may && !s.mayBeBlocking[r.at] || !c.CandidatePointers[r.at] || r.owner != nil
	})
}

// ownMessages are the requests that a collective waits for, one or several at a
// time, as it has passed them to the library's functions for that.
func (s *source) ownMessages(c *callstack.Call) (out []*requestAt) {
	added := map[*requestAt]bool{}
	add := func(a inferior.Addr) {
		if r := s.byAddr[a]; r != nil && !r.complete() && !added[r] {
			added[r] = true
			out = append(out, r)
		}
	}
	if a, ok := c.InnermostArgument("request_ptr"); ok {
		add(inferior.Addr(a))
		return out
	}
	for _, names := range [][2]string{{"request_ptrs", "count"}, {"requests", "numreq"}} {
		for _, f := range c.Frames {
			at, ok := f.Variables[names[0]]
			count, isCount := f.Variables[names[1]]
			if !ok || !isCount || count < 0 || count > maxHandles {
				continue
			}
			requests, err := s.r.Pointers(inferior.Addr(at), int(count))
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
func (s *source) handles(c *callstack.Call) (out []*requestAt, all bool) {
	at, ok := c.Argument("request", "array_of_requests")
	count := int64(1)
	if ok && c.Function != "MPI_Wait" {
		count, ok = c.Argument("count", "incount")
	}
	if !ok || count < 0 || count > maxHandles {
		return nil, false
	}
	byHandle := map[uint32]*requestAt{}
	for _, r := range s.byAddr {
		byHandle[r.Handle] = r
	}
	all = true
	for i := range count {
		h, err := s.r.Uint(inferior.Addr(at)+inferior.Addr(4*i), 4)
		if err != nil {
			return out, false
		}
		r := byHandle[uint32(h)]
		switch {
		case r != nil && r.owner != nil: // the library's own part of a persistent one
			all = false
		case r == nil && h != nullRequest:
			all = false
		case r != nil && !s.real(r).complete():
			out = append(out, r)
		}
	}
	return out, all
}

// real is the request that a persistent one has started, or the request itself.
func (s *source) real(r *requestAt) *requestAt {
	if real := s.byAddr[r.Real]; real != nil && real.owner == r {
		return real
	}
	return r
}

// commOfCall is the communicator that a call was given or, if that is not
// known, that all of its requests are on.
func (s *source) commOfCall(c *callstack.Call, waited []*requestAt) *commState {
	if v, ok := c.Argument("comm", "comm_ptr"); ok {
		for _, state := range s.comms {
			if state.addr == inferior.Addr(v) || state.Handle == uint32(v) && (v < 0 || v>>32 == 0) {
				return state
			}
		}
	}
	if len(waited) == 0 || slices.ContainsFunc(waited, func(r *requestAt) bool { return r.Comm != waited[0].Comm }) {
		return nil
	}
	return s.comms[waited[0].Comm]
}

// contextOf is what all members of a communicator call it. An intercommunicator
// has one id for each direction.
func contextOf(c *comm) string {
	if c.Kind != commInter {
		return fmt.Sprint(c.Context)
	}
	return fmt.Sprintf("%d/%d", min(c.Context, c.RecvContext), max(c.Context, c.RecvContext))
}
