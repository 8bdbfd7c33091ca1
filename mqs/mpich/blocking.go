package mpich

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// pointToPoint are beginnings of the names of calls that make no messages of
// the library's own.
var pointToPoint = []string{"MPI_Wait", "MPI_Test", "MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Ibsend", "MPI_Bsend",
	"MPI_Irecv", "MPI_Imrecv", "MPI_Start", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Request_", "MPI_Cancel"}

// blockingKinds finds the requests of blocking calls. Nothing in a request
// tells MPI_Recv from MPI_Irecv, but a thread that waits in MPI_Recv holds the
// request's address, in a register or between its innermost frame and that of
// the call. If it holds those of several (the stack keeps old values, and the
// program's own variables in registers), or has not come to where it waits, which of
// them is its own is not known.
func (s *source) blockingKinds() map[inferior.Addr]string {
	if s.blocking != nil {
		return s.blocking
	}
	s.blocking = map[inferior.Addr]string{}
	s.mayBeBlocking = map[inferior.Addr]bool{}
	s.inCollective = map[inferior.Addr]string{}
	s.callOf = map[inferior.Addr]*callstack.Call{}
	sends, recvs := s.candidates()
	if len(sends)+len(recvs) == 0 {
		return s.blocking
	}
	calls, err := callstack.Calls(s.r)
	if err != nil {
		s.notef("blocking and non-blocking operations can't be told apart: %v", err)
		s.blockingUnknown = true
		for _, a := range recvs {
			s.blocking[a] = callstack.KindNotKnown
		}
		for _, a := range sends {
			s.mayBeBlocking[a] = true
		}
		return s.blocking
	}
	for _, c := range calls {
		if kind, ok := callstack.BlockingSends[c.Function]; ok {
			s.waitsFor(c, kind, sends)
		} else if _, ok := callstack.BlockingRecvs[c.Function]; !ok && !isPointToPoint(c.Function) {
			for _, a := range slices.Concat(sends, recvs) {
				if c.CandidatePointers[a] {
					s.inCollective[a] = c.Function
				}
			}
		}
		if kind, ok := callstack.BlockingRecvs[c.Function]; ok {
			s.waitsFor(c, kind, recvs)
		}
	}
	return s.blocking
}

func isPointToPoint(call string) bool {
	for _, p := range pointToPoint {
		if strings.HasPrefix(call, p) {
			return true
		}
	}
	return false
}

// waitsFor gives the kind to the one candidate that the call holds or, where it
// holds several, that its function for waiting was given.
func (s *source) waitsFor(c callstack.Call, kind string, candidates []inferior.Addr) {
	var held []inferior.Addr
	for _, a := range candidates {
		if c.CandidatePointers[a] {
			held = append(held, a)
		}
	}
	isAll := s.requests.err == nil
	if at, ok := c.InnermostArgument("request_ptr"); ok && kind != callstack.KindNotKnown && slices.Contains(held, inferior.Addr(at)) {
		held, isAll = []inferior.Addr{inferior.Addr(at)}, true
	}
	proved := len(held) == 1 && isAll && isWaiting(&c)
	for _, a := range held {
		if proved && kind != callstack.KindNotKnown {
			s.callOf[a] = &c
		}
		if !proved || kind == callstack.KindNotKnown {
			kind = callstack.KindNotKnown
			s.mayBeBlocking[a] = true
		}
		s.blocking[a] = kind
	}
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

// candidates are the requests that a blocking call may have made, those that
// are complete included: the call may have something else to wait for. A send
// that 4.0 has noted for debuggers is none.
func (s *source) candidates() (sends, recvs []inferior.Addr) {
	for _, r := range s.requests.sends {
		if r.owner == nil && (r.noted == nil || !s.notesUserSends) {
			sends = append(sends, r.at)
		}
	}
	for _, r := range s.requests.recvs {
		if r.owner == nil && r.Comm != 0 {
			recvs = append(recvs, r.at)
		}
	}
	return sends, recvs
}
