package symbolless

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// inCalls is what the calls that threads are in say of requests.
type inCalls struct {
	calls []callstack.Call
	// own are the requests that calls have made for themselves, as far as that is known.
	own map[*callstack.Call]inferior.Addr
	// kinds are those of these requests. No others are known: a persistent operation has a request like any other.
	kinds callstack.Kinds
}

// readInCalls reads the calls that threads are in; nothing is known of them if they can't be read.
func (s *Source) readInCalls() *inCalls {
	calls, err := callstack.Calls(s.r)
	if err != nil {
		return &inCalls{}
	}
	out := &inCalls{calls: calls, own: s.ownOf(calls)}
	out.kinds = callstack.KindsOf(calls, func(c *callstack.Call, _ mqs.OpClass) callstack.OwnRequests {
		if request, ok := out.own[c]; ok {
			return callstack.OwnRequests{Requests: []inferior.Addr{request}, Proved: true}
		}
		return callstack.OwnRequests{}
	})
	return out
}

// ownOf finds the requests that blocking calls have made for themselves. The stack keeps old values, so a call
// whose request is complete may hold that of another thread's call: of several calls they are known only if
// each has one.
func (s *Source) ownOf(calls []callstack.Call) map[*callstack.Call]inferior.Addr {
	out := map[*callstack.Call]inferior.Addr{}
	isTaken := map[inferior.Addr]bool{}
	for i := range calls {
		held := s.heldBy(&calls[i])
		isOwn := len(held) == 1 && !isTaken[held[0]]
		if len(calls) > 1 && !isOwn {
			return nil
		}
		if isOwn {
			out[&calls[i]], isTaken[held[0]] = held[0], true
		}
	}
	return out
}

// heldBy are the incomplete requests that a call holds which it may have made for itself, as a call that waits for
// a send or for a receive. MPI_Sendrecv may have one of each.
func (s *Source) heldBy(c *callstack.Call) []inferior.Addr {
	_, sends := callstack.BlockingSends[c.Function]
	_, receives := callstack.BlockingRecvs[c.Function]
	if sends == receives || !mpir.MayWait(c) {
		return nil
	}
	return s.held(c, sends, receives)
}

// held are the incomplete requests that a call holds, of the classes that are asked for.
func (s *Source) held(c *callstack.Call, sends, receives bool) []inferior.Addr {
	var out []inferior.Addr
	add := func(state transport.State, request inferior.Addr) {
		if state != transport.Complete && c.CandidatePointers[request] {
			out = append(out, request)
		}
	}
	for i := range s.network.Sends {
		if q := &s.network.Sends[i]; sends {
			add(q.State, s.network.Sender(q).Addr())
		}
	}
	for i := range s.network.Receives {
		if q := &s.network.Receives[i]; receives {
			add(q.State, s.network.Receiver(q).Addr())
		}
	}
	return out
}

// maxHeld bounds the requests among which the one is that a call waits for.
const maxHeld = 64

// withProgramsTag are the requests that a call holds which makes a communicator by messages of its own, with the
// tag that the program has passed: among them is the one that it waits for (src/mpi/comm/comm_impl.c, 4.0 to 5.0).
func (s *Source) withProgramsTag(c *callstack.Call) (out []callstack.Request) {
	if c.Function != "MPI_Intercomm_create" && c.Function != "MPI_Comm_create_group" || !mpir.MayWait(c) {
		return nil
	}
	held := s.held(c, true, true)
	if len(held) > maxHeld {
		return nil
	}
	for _, a := range held {
		out = append(out, callstack.Request{Addr: a, Comm: s.commWith(a)})
	}
	return out
}

// Waits finds out which request each blocking call waits for.
func (s *Source) Waits(threads []mqs.Thread) {
	known := s.inCalls()
	callstack.SetWaits(threads, known.calls, func(c *callstack.Call) callstack.Wait {
		request, ok := known.own[c]
		if !ok {
			return callstack.Wait{Requests: s.withProgramsTag(c)}
		}
		return callstack.Wait{Requests: []callstack.Request{{Addr: request, Comm: s.commWith(request)}}, All: true}
	})
}

// commWith is the id of the communicator that a request is on.
func (s *Source) commWith(request inferior.Addr) mqs.Maybe[inferior.Addr] {
	for id, c := range s.comms {
		if slices.ContainsFunc(c.sends, func(q *transport.Send) bool { return s.network.Sender(q).Addr() == request }) ||
			slices.ContainsFunc(c.receives, func(q *transport.Receive) bool { return s.network.Receiver(q).Addr() == request }) {
			return mqs.Known(id)
		}
	}
	return mqs.Maybe[inferior.Addr]{}
}
