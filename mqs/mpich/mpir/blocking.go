package mpir

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// inCalls is what the calls that threads are in say of requests.
type inCalls struct {
	// kinds are those of the requests of blocking calls.
	kinds callstack.Kinds
	// inCollective are the other calls that hold requests, which may be parts of these.
	inCollective map[inferior.Addr]string
	// err is why it is not known what calls hold.
	err error
}

// readInCalls finds out what the calls that threads are in say of requests. If a call holds the addresses of
// several or has not come to where it waits, which of them is its own is not known.
func (s *Source) readInCalls() *inCalls {
	out := &inCalls{inCollective: map[inferior.Addr]string{}}
	may := s.mayBlock()
	all := slices.Concat(may[mqs.PendingSends], may[mqs.PendingReceives])
	if len(all) == 0 {
		return out
	}
	calls, err := s.calls()
	if err != nil {
		s.lib.Remarks.Notef("blocking and non-blocking operations can't be told apart: %v", err)
		out.err, out.kinds = err, callstack.KindsNotKnown(all...)
		return out
	}
	out.kinds = callstack.KindsOf(calls, func(c *callstack.Call, class mqs.OpClass) callstack.OwnRequests { return s.ownOf(c, may[class]) })
	for _, c := range calls {
		if callstack.IsPointToPoint(c.Function) {
			continue
		}
		for _, a := range all {
			if c.CandidatePointers[a] {
				out.inCollective[a] = c.Function
			}
		}
	}
	return out
}

// ownOf returns the candidates that a blocking call may have made: those that it holds or, where it
// holds several, the one that its function for waiting was given.
func (s *Source) ownOf(c *callstack.Call, candidates []inferior.Addr) callstack.OwnRequests {
	var held []inferior.Addr
	for _, a := range candidates {
		if c.CandidatePointers[a] {
			held = append(held, a)
		}
	}
	isAll := s.requests().err == nil
	if at, ok := c.InnermostArgument("request_ptr"); ok && !isExchange(c) && slices.Contains(held, inferior.Addr(at)) {
		held, isAll = []inferior.Addr{inferior.Addr(at)}, true
	}
	return callstack.OwnRequests{Requests: held, Proved: len(held) == 1 && isAll && s.isWaiting(c)}
}

// isExchange tells the calls that may have made a send and a receive.
func isExchange(c *callstack.Call) bool {
	_, sends := callstack.BlockingSends[c.Function]
	_, receives := callstack.BlockingRecvs[c.Function]
	return sends && receives
}

// isWaiting says whether a call is in one of the library's functions for waiting (src/mpi/request
// and src/mpid, 4.0 to 5.0): before, it has no request yet, or has only made it.
func isWaiting(c *callstack.Call) bool {
	return slices.ContainsFunc(c.Frames, func(f inferior.Frame) bool {
		for _, name := range []string{"MPID_Wait", "MPIR_Wait", "MPID_Progress_wait", "MPIDI_CH3I_Progress", "MPIDI_CH3_Progress"} {
			if strings.HasPrefix(f.Function, name) {
				return true
			}
		}
		return false
	})
}

// mayBlock are the sends and receives that a blocking call may have made, by their class, those that
// are complete included: the call may have something else to wait for. A send
// that 4.0 has noted for debuggers is none.
func (s *Source) mayBlock() [2][]inferior.Addr {
	var out [2][]inferior.Addr
	q := s.requests()
	for _, r := range q.sends {
		if r.Owner == nil && (r.Noted == nil || !s.lib.Sendq.IsUsers) {
			out[mqs.PendingSends] = append(out[mqs.PendingSends], r.At.Addr())
		}
	}
	for _, r := range q.receives {
		if r.Owner == nil && r.Comm != 0 {
			out[mqs.PendingReceives] = append(out[mqs.PendingReceives], r.At.Addr())
		}
	}
	return out
}

// passed completes what a device has not kept of a blocking send by what the
// program has passed to the call.
func (s *Source) passed(c *callstack.Call, r *Operation, a *Arguments) {
	if c == nil || r.IsComplete() {
		return
	}
	if v, ok := c.CallArgument("dest"); ok && !a.Peer.Known {
		a.Peer = mqs.Known(int32(v))
	}
	if v, ok := c.CallArgument("tag"); ok && !a.Tag.Known {
		a.Tag = mqs.Known(int32(v))
	}
	if v, ok := c.CallArgument("buf"); ok && !a.Buffer.Known {
		a.Buffer = mqs.Known(inferior.Addr(v))
	}
	count, isCount := c.CallArgument("count")
	datatype, isDatatype := c.CallArgument("datatype")
	if own, ok := s.given(mqs.DatatypeHandle, datatype); ok && isCount && isDatatype && !a.Count.Known && !a.Datatype.Known {
		a.Count, a.Datatype = mqs.Known(count), mqs.Known(own)
	}
}
