package ob1

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// blockingKinds finds the requests of blocking calls, once: those that a call has been shown to wait for are
// its own, see [candidates.ownOf]; of others that it holds that is not known.
func (q *queues) blockingKinds() callstack.Kinds {
	if q.kinds == nil {
		q.kinds = q.readKinds()
	}
	return q.kinds
}

func (q *queues) readKinds() callstack.Kinds {
	sends := inferior.Remember(func() candidates { return q.candidates(mqs.PendingSends) })
	receives := inferior.Remember(func() candidates { return q.candidates(mqs.PendingReceives) })
	of := func(class mqs.OpClass) candidates {
		if class == mqs.PendingSends {
			return sends()
		}
		return receives()
	}
	if !q.hasCandidates() {
		return callstack.Kinds{}
	}
	calls, err := q.Calls()
	if err != nil {
		q.Notef("blocking and non-blocking operations can't be told apart: %v", err)
		return callstack.KindsNotKnown(slices.Concat(addrs(sends().requests), addrs(receives().requests))...)
	}
	return callstack.KindsOf(calls, func(c *callstack.Call, class mqs.OpClass) callstack.OwnRequests {
		if own := of(class).ownOf(c); len(own) == 1 {
			return callstack.OwnRequests{Requests: addrs(own), Proved: true}
		}
		return callstack.OwnRequests{Requests: addrs(of(class).heldBy(c))}
	})
}

// hasCandidates says whether there is a request that a blocking call may have made.
func (q *queues) hasCandidates() bool {
	all := q.allRequests()
	for _, list := range all.sends {
		if slices.ContainsFunc(list, func(r sendAt) bool { return mayBlock(&r.Base, r.Mode) }) {
			return true
		}
	}
	for _, list := range all.recvs {
		if slices.ContainsFunc(list, func(r *recvAt) bool { return mayBlock(&r.Base, ompi.ModeStandard) }) {
			return true
		}
	}
	return false
}

// mayBlock says whether a request, of a send's mode, is one as blocking calls make.
func mayBlock(r *request, mode int32) bool {
	isPlain := r.Type == typeSend || r.Type == typeRecv
	return isPlain && !r.Persistent && !r.FreeCalled && r.Tag >= ompi.AnyTag && mode != ompi.ModeBuffered
}

// candidate is a request that a blocking call may have made.
type candidate struct {
	addr inferior.Addr
	request
	mode int32 // of a send
}

// class is which of the two kinds of requests it is.
func (c *candidate) class() mqs.OpClass {
	if c.Type == typeSend {
		return mqs.PendingSends
	}
	return mqs.PendingReceives
}

func (c *candidate) waitable() ompi.Waitable {
	return ompi.Waitable{Addr: c.addr, Class: c.class(), Comm: c.Comm, Tag: c.Tag, Complete: c.Complete}
}

func addrs(of []candidate) []inferior.Addr {
	out := make([]inferior.Addr, len(of))
	for i := range of {
		out[i] = of[i].addr
	}
	return out
}

func waitables(of []candidate) []ompi.Waitable {
	var out []ompi.Waitable
	for i := range of {
		out = append(out, of[i].waitable())
	}
	return out
}

// candidates are the requests of a class that blocking calls may have made, those that
// are complete included: a call may have something else to wait for.
type candidates struct {
	requests []candidate
	isPart   bool // true if not all could be read, so that the newest of them need not be the newest one
	// hasMarks is true if a call that waits puts its mark into its request.
	hasMarks bool
}

func (q *queues) candidates(class mqs.OpClass) candidates {
	out := candidates{hasMarks: q.HasMarks()}
	add := func(at inferior.Addr, r *request, mode int32) {
		if mayBlock(r, mode) {
			out.requests = append(out.requests, candidate{addr: at, request: *r, mode: mode})
		}
	}
	all := q.allRequests()
	if class == mqs.PendingSends {
		out.isPart = all.sendErr != nil
		for _, list := range all.sends {
			for _, r := range list {
				add(r.at.Addr(), &r.Base, r.Mode)
			}
		}
		return out
	}
	out.isPart = all.recvErr != nil
	for _, list := range all.recvs {
		for _, r := range list {
			add(r.at.Addr(), &r.Base, ompi.ModeStandard)
		}
	}
	return out
}

// heldBy are those that a call holds and can have made.
func (cs candidates) heldBy(c *callstack.Call) []candidate {
	return slices.DeleteFunc(slices.Clone(cs.requests), func(r candidate) bool { return !c.CandidatePointers[r.addr] || !isMadeBy(c.Function, r) })
}

// ownOf finds the one that a blocking call waits for: the one that has its mark. Where there are no marks,
// as without threads, it is the only one that the call holds and that may be the last of its queue, if the
// call has come to where it waits.
func (cs candidates) ownOf(c *callstack.Call) []candidate {
	held := cs.heldBy(c)
	if marked := slices.DeleteFunc(slices.Clone(held), func(r candidate) bool { return !c.OnStack(inferior.Addr(r.Complete)) }); len(marked) > 0 {
		held = marked
	} else if cs.hasMarks || !ompi.IsWaiting(c) || cs.isPart {
		return nil
	} else if c.Function != "MPI_Mrecv" { // which goes on with the number that the probe has taken
		held = cs.newest(held)
	}
	if len(held) != 1 {
		return nil
	}
	return held
}

// newest drops requests that were not the last ones of their communicator or, of sends, of
// their peer on it, as ob1 has numbered them: while a thread waits in a blocking call, no
// other one posts anything, or there were marks. It drops all if there may be others.
func (cs candidates) newest(held []candidate) []candidate {
	if cs.isPart {
		return nil
	}
	isLater := func(a, b candidate) bool { // sends are numbered as on the wire, by 16 bits
		if a.Type == typeSend {
			return a.Peer == b.Peer && int16(a.Sequence-b.Sequence) > 0
		}
		return int32(a.Sequence-b.Sequence) > 0
	}
	return slices.DeleteFunc(slices.Clone(held), func(r candidate) bool {
		return slices.ContainsFunc(cs.requests, func(other candidate) bool { return other.Comm == r.Comm && isLater(other, r) })
	})
}

// isMadeBy says whether a request can be one that a blocking call has made: a send in its own mode.
func isMadeBy(call string, r candidate) bool {
	if r.Type != typeSend {
		return true
	}
	switch call {
	case "MPI_Ssend":
		return r.mode == ompi.ModeSynchronous
	case "MPI_Rsend":
		return r.mode == ompi.ModeReady
	}
	return r.mode == ompi.ModeStandard
}
