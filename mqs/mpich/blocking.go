package mpich

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// Calls that wait for a request of their own, by what the request then is.
// MPI_Sendrecv may have one of each or none, so that a request that it holds
// need not be its own.
var (
	blockingSends = map[string]string{"MPI_Send": "send", "MPI_Ssend": "ssend", "MPI_Rsend": "rsend",
		"MPI_Sendrecv": notKnown, "MPI_Sendrecv_replace": notKnown}
	blockingRecvs = map[string]string{"MPI_Recv": "recv", "MPI_Mrecv": "mrecv",
		"MPI_Sendrecv": notKnown, "MPI_Sendrecv_replace": notKnown}
)

// notKnown is the kind of a request that may or may not be a call's own.
const notKnown = ""

// pointToPoint are beginnings of the names of calls that make no messages of
// the library's own.
var pointToPoint = []string{"MPI_Wait", "MPI_Test", "MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Ibsend", "MPI_Bsend",
	"MPI_Irecv", "MPI_Imrecv", "MPI_Start", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Request_", "MPI_Cancel"}

// blockingKinds finds the requests of blocking calls. Nothing in a request
// tells MPI_Recv from MPI_Irecv, but a thread that waits in MPI_Recv holds the
// request's address, in a register or between its innermost frame and that of
// the call. If it holds those of several (the stack keeps old values, and the
// program's own variables in registers), which of them it waits for is not known.
func (s *source) blockingKinds() map[target.Addr]string {
	if s.blocking != nil {
		return s.blocking
	}
	s.blocking = map[target.Addr]string{}
	s.mayBeBlocking = map[target.Addr]bool{}
	s.inCollective = map[target.Addr]string{}
	sends, recvs := s.candidates()
	if len(sends)+len(recvs) == 0 {
		return s.blocking
	}
	calls, err := s.r.Calls()
	if err != nil {
		s.notef("blocking and non-blocking operations can't be told apart: %v", err)
		s.blockingUnknown = true
		for _, a := range recvs {
			s.blocking[a] = notKnown
		}
		for _, a := range sends {
			s.mayBeBlocking[a] = true
		}
		return s.blocking
	}
	for _, c := range calls {
		if kind, ok := blockingSends[c.Function]; ok {
			s.waitsFor(c, kind, sends)
		} else if _, ok := blockingRecvs[c.Function]; !ok && !isPointToPoint(c.Function) {
			for _, a := range sends {
				if c.Words[a] {
					s.inCollective[a] = c.Function
				}
			}
		}
		if kind, ok := blockingRecvs[c.Function]; ok {
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

// waitsFor gives the kind to the one candidate that the call holds.
func (s *source) waitsFor(c target.Call, kind string, candidates []target.Addr) {
	var held []target.Addr
	for _, a := range candidates {
		if c.Words[a] {
			held = append(held, a)
		}
	}
	for _, a := range held {
		if len(held) > 1 || kind == notKnown {
			kind = notKnown
			s.mayBeBlocking[a] = true
		}
		s.blocking[a] = kind
	}
}

// candidates are the requests that a blocking call may have made, those that
// are complete included: the call may have something else to wait for. A send
// that 4.0 has noted for debuggers is none.
func (s *source) candidates() (sends, recvs []target.Addr) {
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
