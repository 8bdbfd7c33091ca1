package openmpi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// blockingKinds finds the requests of blocking calls. Nothing in a request
// tells MPI_Recv from MPI_Irecv, so those that a call has been shown to wait for are its
// own, see [source.ownRequest]; of others that it holds that is not known.
func (s *source) blockingKinds() map[target.Addr]string {
	if s.blocking != nil {
		return s.blocking
	}
	s.blocking = map[target.Addr]string{}
	sends, recvs := s.candidates()
	if len(sends)+len(recvs) == 0 {
		return s.blocking
	}
	calls, err := s.r.Calls()
	if err != nil {
		s.notef("blocking and non-blocking operations can't be told apart: %v", err)
		for _, w := range append(sends, recvs...) {
			s.blocking[w.addr] = mqs.KindNotKnown
		}
		return s.blocking
	}
	for i := range calls {
		c := &calls[i]
		for _, side := range [...]struct {
			kinds      map[string]string
			candidates []waiting
		}{{mqs.BlockingSends, sends}, {mqs.BlockingRecvs, recvs}} {
			if kind, ok := side.kinds[c.Function]; ok {
				s.nameKinds(c, kind, side.candidates)
			}
		}
	}
	return s.blocking
}

// nameKinds gives the kind to the one candidate that is the call's own, and none to those that may be.
func (s *source) nameKinds(c *target.Call, kind string, candidates []waiting) {
	held := slices.DeleteFunc(slices.Clone(candidates), func(w waiting) bool { return !c.Words[w.addr] || !isMadeBy(c.Function, w) })
	if own := ownOf(c, held, candidates); len(own) == 1 {
		held = own
	} else {
		kind = mqs.KindNotKnown
	}
	for _, w := range held {
		s.blocking[w.addr] = kind
	}
}

// ownRequest returns the request that a blocking call waits for, none if that is not proved.
func (s *source) ownRequest(c *target.Call) []waiting {
	sends, recvs := s.candidates()
	candidates := recvs
	if _, ok := mqs.BlockingSends[c.Function]; ok {
		candidates = sends
	}
	held := slices.DeleteFunc(slices.Clone(candidates), func(w waiting) bool { return !c.Words[w.addr] || !isMadeBy(c.Function, w) })
	return ownOf(c, held, candidates)
}

// exchanged keeps, of requests that MPI_Sendrecv holds, its own: it waits for its send and then
// for its receive, whose handle is in its own frame, or in that of the part of it that compilers
// put aside (6.0): a function without a name. It keeps none if there may be several of a class.
func (s *source) exchanged(c *target.Call, held []waiting) []waiting {
	own := len(c.Frames) - 1
	for own > 0 && c.Frames[own-1].Function == "" {
		own--
	}
	frame := c.Frames[own].StackPointer
	words, err := s.r.Pointers(frame, int(c.Stack.Addr+target.Addr(c.Stack.Len)-frame)/s.r.Info().PointerSize)
	if err != nil {
		return nil
	}
	all := held
	if s.pml == ob1 {
		sends, recvs := s.candidates()
		all = slices.Concat(sends, recvs)
	}
	var out []waiting
	for _, class := range []int32{typeSend, typeRecv} {
		of := slices.DeleteFunc(slices.Clone(all), func(w waiting) bool { return w.Type != class })
		may := slices.DeleteFunc(slices.Clone(of), func(w waiting) bool {
			switch {
			case s.pml == ucxPML && class == typeSend:
				return !w.own
			case class == typeSend:
				return !c.Words[w.addr] || !isMadeBy(c.Function, w)
			}
			return !slices.Contains(words, w.addr) && !w.own
		})
		if s.pml == ob1 {
			may = newest(may, of)
		}
		if len(may) > 1 {
			return nil
		}
		out = append(out, may...)
	}
	return out
}

// ownOf finds among requests of its kind that a blocking call holds the one that it waits for:
// the one that has its mark or, if it has come to where it waits and has no marks, as without
// threads, the only one that may be the last of its queue.
func ownOf(c *target.Call, held, all []waiting) []waiting {
	if marked := slices.DeleteFunc(slices.Clone(held), func(w waiting) bool { return !c.Holds(target.Addr(w.Complete)) }); len(marked) > 0 {
		held = marked
	} else if !isWaiting(c) {
		return nil
	} else if c.Function != "MPI_Mrecv" { // which goes on with the number that the probe has taken
		held = newest(held, all)
	}
	if len(held) != 1 {
		return nil
	}
	return held
}

// newest drops requests that were not the last ones of their communicator or, of sends, of
// their peer on it, as ob1 has numbered them: while a thread waits in a blocking call, no
// other one posts anything, or there were marks.
func newest(held, all []waiting) []waiting {
	isLater := func(a, b waiting) bool { // sends are numbered as on the wire, by 16 bits
		if a.Type == typeSend {
			return a.Peer == b.Peer && int16(a.Sequence-b.Sequence) > 0
		}
		return int32(a.Sequence-b.Sequence) > 0
	}
	return slices.DeleteFunc(slices.Clone(held), func(w waiting) bool {
		return slices.ContainsFunc(all, func(other waiting) bool { return other.Comm == w.Comm && isLater(other, w) })
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
func isWaiting(c *target.Call) bool {
	const between = 2 // the functions that wait, inside of the call's own
	for i, f := range slices.Backward(c.Frames) {
		if looksAfterMessages[f.Function] {
			return i < len(c.Frames)-1 && len(c.Frames)-2-i <= between
		}
	}
	return false
}

// looksAfterMessages are the functions in which waiting calls stand. opal_progress ends in
// sched_yield, which then has its frame.
var looksAfterMessages = map[string]bool{"opal_progress": true, "ompi_request_wait_completion": true, "ompi_sync_wait_mt": true, "sync_wait_st": true,
	"sched_yield": true, "__sched_yield": true, "__GI_sched_yield": true, "__GI___sched_yield": true}

// candidates are the requests that a blocking call may have made, those that
// are complete included: the call may have something else to wait for.
func (s *source) candidates() (sends, recvs []waiting) {
	may := func(r request) bool {
		return !r.Persistent && !r.FreeCalled && r.Tag >= anyTag
	}
	for _, list := range s.requests.sends {
		for _, q := range list {
			if may(q.Base) && q.Mode != modeBuffered {
				sends = append(sends, waiting{addr: q.addr, request: q.Base, mode: q.Mode})
			}
		}
	}
	for _, list := range s.requests.recvs {
		for _, q := range list {
			if may(q.Base) && q.Base.Type == typeRecv {
				recvs = append(recvs, waiting{addr: q.addr, request: q.Base})
			}
		}
	}
	return sends, recvs
}
