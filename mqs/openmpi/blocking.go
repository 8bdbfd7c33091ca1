package openmpi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// blockingKinds finds the requests of blocking calls. Nothing in a request
// tells MPI_Recv from MPI_Irecv, but a thread that waits in MPI_Recv holds the
// request's address, in a register or between its innermost frame and that of
// the call. If it holds those of several (the stack keeps old values, and the
// program's own variables in registers), it waits for the one that has its mark,
// see [source.Waits]; without marks it is not known for which.
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
	for _, c := range calls {
		if kind, ok := mqs.BlockingSends[c.Function]; ok {
			s.waitsFor(c, kind, sends)
		}
		if kind, ok := mqs.BlockingRecvs[c.Function]; ok {
			s.waitsFor(c, kind, recvs)
		}
	}
	return s.blocking
}

// waitsFor gives the kind to the one candidate that the call holds.
func (s *source) waitsFor(c target.Call, kind string, candidates []waiting) {
	var held, marked []waiting
	for _, w := range candidates {
		if !c.Words[w.addr] {
			continue
		}
		held = append(held, w)
		if c.Holds(target.Addr(w.Complete)) {
			marked = append(marked, w)
		}
	}
	if len(marked) == 1 {
		held = marked
	}
	for _, w := range held {
		if len(held) > 1 {
			kind = mqs.KindNotKnown
		}
		s.blocking[w.addr] = kind
	}
}

// candidates are the requests that a blocking call may have made, those that
// are complete included: the call may have something else to wait for.
func (s *source) candidates() (sends, recvs []waiting) {
	may := func(r request) bool {
		return !r.Persistent && !r.FreeCalled && r.Tag >= anyTag
	}
	for _, list := range s.requests.sends {
		for _, q := range list {
			if may(q.Base) && q.Mode != modeBuffered {
				sends = append(sends, waiting{addr: q.addr, request: q.Base})
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
