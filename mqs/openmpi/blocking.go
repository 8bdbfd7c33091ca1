package openmpi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// blockingKinds finds the requests of blocking calls. Nothing in a request
// tells MPI_Recv from MPI_Irecv, so those that a call has been shown to wait for are its
// own, see [source.ownRequest]; of others that it holds that is not known.
func (s *source) blockingKinds() map[inferior.Addr]string {
	if s.blocking != nil {
		return s.blocking
	}
	s.blocking = map[inferior.Addr]string{}
	sends, recvs := s.candidates(typeSend), s.candidates(typeRecv)
	if len(sends.requests)+len(recvs.requests) == 0 {
		return s.blocking
	}
	calls, err := callstack.Calls(s.r)
	if err != nil {
		s.notef("blocking and non-blocking operations can't be told apart: %v", err)
		for _, w := range slices.Concat(sends.requests, recvs.requests) {
			s.blocking[w.addr] = callstack.KindNotKnown
		}
		return s.blocking
	}
	for i := range calls {
		c := &calls[i]
		if kind, ok := callstack.BlockingSends[c.Function]; ok {
			s.nameKinds(c, kind, sends)
		}
		if kind, ok := callstack.BlockingRecvs[c.Function]; ok {
			s.nameKinds(c, kind, recvs)
		}
	}
	return s.blocking
}

// nameKinds gives the kind to the one candidate that is the call's own, and none to those that may be.
func (s *source) nameKinds(c *callstack.Call, kind string, of candidates) {
	named := of.heldBy(c)
	if own := of.ownOf(c); len(own) == 1 {
		named = own
	} else {
		kind = callstack.KindNotKnown
	}
	for _, w := range named {
		s.blocking[w.addr] = kind
	}
}

// ownRequest returns the request that a blocking call waits for, none if that is not proved.
func (s *source) ownRequest(c *callstack.Call) []waiting {
	class := int32(typeRecv)
	if _, ok := callstack.BlockingSends[c.Function]; ok {
		class = typeSend
	}
	return s.candidates(class).ownOf(c)
}

// exchanged keeps, of requests that MPI_Sendrecv holds, its own, and says whether they are all that
// it waits for. It posts its receive, waits for its send and then, by the function of MPI_Wait, for
// its receive (ompi/mpi/c/sendrecv.c, 4.1 to 6.0). It makes no request for MPI_PROC_NULL: while it
// waits for its send, only its argument tells whether it has a receive.
func (s *source) exchanged(c *callstack.Call, held []waiting) (own []waiting, all bool) {
	inside, _ := waitsIn(c)
	if slices.ContainsFunc(inside, func(f inferior.Frame) bool { return f.Function == "ompi_request_default_wait" }) {
		own = s.exchangedOf(c, typeRecv, held)
		return own, len(own) == 1
	}
	own = s.exchangedOf(c, typeSend, held)
	from, isKnown := c.Own("source")
	if !isKnown || int32(from) == procNull {
		return own, isKnown && len(own) == 1
	}
	own = append(own, s.exchangedOf(c, typeRecv, held)...)
	return own, len(own) == 2
}

// exchangedOf returns the send or the receive of MPI_Sendrecv, which has one; none if it may be any of several.
func (s *source) exchangedOf(c *callstack.Call, class int32, held []waiting) []waiting {
	of := candidates{}
	if s.pml == ob1 {
		of = s.candidates(class)
		held = of.heldBy(c)
	}
	words := s.ownWords(c)
	may := slices.DeleteFunc(slices.Clone(held), func(w waiting) bool {
		isItsReceive := class == typeRecv && words[w.addr]
		isItsSend := class == typeSend && s.pml == ob1
		return w.Type != class || !w.own && !isItsReceive && !isItsSend
	})
	if may = of.newest(may); len(may) != 1 {
		return nil
	}
	return may
}

// ownWords are those of a call's own frame, in which MPI_Sendrecv has the handle of its receive,
// and of the part of it that compilers put aside (6.0): a function without a name.
func (s *source) ownWords(c *callstack.Call) map[inferior.Addr]bool {
	own := len(c.Frames) - 1
	for own > 0 && c.Frames[own-1].Function == "" {
		own--
	}
	frame := c.Frames[own].StackPointer
	words, err := s.r.Pointers(frame, int(c.Stack.Addr+inferior.Addr(c.Stack.Len)-frame)/s.r.Info().PointerSize)
	if err != nil {
		return nil
	}
	out := make(map[inferior.Addr]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

// candidates are the requests of a class that blocking calls may have made, those that
// are complete included: a call may have something else to wait for.
type candidates struct {
	requests []waiting
	isPart   bool // true if not all could be read, so that the newest of them need not be the newest one
	// marks is true if a call that waits puts its mark into its request.
	marks bool
}

// marks says whether a call that waits puts its mark into its request, as it does where several threads
// may call MPI (ompi/request/request.h, 4.1 to 6.0). The mark is gone once the request is complete. Without
// it the call has nothing more to wait for, or has not begun: what it holds may be another one's.
func (s *source) marks() bool {
	if multiple := s.threadMultiple(); multiple.Known {
		return multiple.Value
	}
	calls, err := callstack.Calls(s.r)
	return err != nil || len(calls) > 1
}

func (s *source) candidates(class int32) candidates {
	out := candidates{marks: s.marks()}
	add := func(a inferior.Addr, r request, mode int32) {
		if r.Type == class && !r.Persistent && !r.FreeCalled && r.Tag >= anyTag && mode != modeBuffered {
			out.requests = append(out.requests, waiting{addr: a, request: r, mode: mode})
		}
	}
	all := s.allRequests()
	if class == typeSend {
		out.isPart = all.sendErr != nil
		for _, list := range all.sends {
			for _, q := range list {
				add(q.addr, q.Base, q.Mode)
			}
		}
		return out
	}
	out.isPart = all.recvErr != nil
	for _, list := range all.recvs {
		for _, q := range list {
			add(q.addr, q.Base, modeStandard)
		}
	}
	return out
}

// heldBy are those that a call holds and can have made.
func (cs candidates) heldBy(c *callstack.Call) []waiting {
	return slices.DeleteFunc(slices.Clone(cs.requests), func(w waiting) bool { return !c.Words[w.addr] || !isMadeBy(c.Function, w) })
}

// ownOf finds the one that a blocking call waits for:
// the one that has its mark or, if it has come to where it waits and has no marks, as without
// threads, the only one that it holds and that may be the last of its queue.
func (cs candidates) ownOf(c *callstack.Call) []waiting {
	held := cs.heldBy(c)
	if marked := slices.DeleteFunc(slices.Clone(held), func(w waiting) bool { return !c.Holds(inferior.Addr(w.Complete)) }); len(marked) > 0 {
		held = marked
	} else if cs.marks || !isWaiting(c) || cs.isPart {
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
func (cs candidates) newest(held []waiting) []waiting {
	if cs.isPart {
		return nil
	}
	isLater := func(a, b waiting) bool { // sends are numbered as on the wire, by 16 bits
		if a.Type == typeSend {
			return a.Peer == b.Peer && int16(a.Sequence-b.Sequence) > 0
		}
		return int32(a.Sequence-b.Sequence) > 0
	}
	return slices.DeleteFunc(slices.Clone(held), func(w waiting) bool {
		return slices.ContainsFunc(cs.requests, func(other waiting) bool { return other.Comm == w.Comm && isLater(other, w) })
	})
}

// isMadeBy says whether a request can be one that a blocking call has made: a send in its own mode.
func isMadeBy(call string, w waiting) bool {
	if w.Type != typeSend {
		return true
	}
	switch call {
	case "MPI_Ssend":
		return w.mode == modeSynchronous
	case "MPI_Rsend":
		return w.mode == modeReady
	}
	return w.mode == modeStandard
}

// isWaiting says whether a call is where it looks after messages until its request is complete:
// the library's function for that stands directly inside the one that waits.
func isWaiting(c *callstack.Call) bool {
	_, is := waitsIn(c)
	return is
}

// waitsIn returns the functions inside of a waiting call's own in which it waits.
func waitsIn(c *callstack.Call) (inside []inferior.Frame, is bool) {
	const most = 2
	own := len(c.Frames) - 1
	for i, f := range slices.Backward(c.Frames) {
		if looksAfterMessages[f.Function] {
			return c.Frames[min(i+1, own):own], i < own && own-1-i <= most
		}
	}
	return nil, false
}

// looksAfterMessages are the functions in which waiting calls stand. opal_progress ends in
// sched_yield, which then has its frame.
var looksAfterMessages = map[string]bool{"opal_progress": true, "ompi_request_wait_completion": true, "ompi_sync_wait_mt": true, "sync_wait_st": true,
	"sched_yield": true, "__sched_yield": true, "__GI_sched_yield": true, "__GI___sched_yield": true}
