package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// owned is a receive of a transport with its owner: a request of the pml's, or that of a blocking call on its stack, which
// keeps of its data what the mtl does.
func (u *pmlCM) owned(r transport.Receive, at inferior.Ptr[mtlRequest], of inferior.Ptr[cmRequest], data inferior.Ptr[convertor]) transport.Receive {
	r.Addr = at.Addr()
	if k := u.requests.at(of); k != nil && !k.isSend {
		r.Addr, r.User = of.Addr(), of.Addr()
		return r
	}
	r.Generic = data.Addr()
	return r
}

// forgotten are the receives of which the transport has nothing, though they are not complete: they have matched.
func (u *pmlCM) forgotten(has map[inferior.Ptr[mtlRequest]]bool) (out []transport.Receive) {
	for _, r := range u.requests.receives {
		if r.Complete == ompi.RequestCompleted || has[r.mtl] {
			continue
		}
		k := u.requests.at(r.at)
		of := k.asks(transport.Request{Addr: r.at.Addr(), User: r.at.Addr(), Length: -1, State: transport.Matched, Released: r.FreeCalled})
		of.MessageLost, of.Received = true, -1
		out = append(out, of)
	}
	return out
}

// held are the pml's sends, put to what the transport has of their messages. Those that are left are not the pml's.
func (u *pmlCM) held(under map[inferior.Ptr[mtlRequest]]transport.Send) (out []transport.Send) {
	for _, r := range u.requests.sends {
		s, isUnder := under[r.mtl]
		delete(under, r.mtl)
		isHeld := r.Complete != ompi.RequestCompleted || !r.PMLDone // a buffered send goes on
		if !isHeld || r.Complete == ompi.RequestCompleted && !r.FreeCalled {
			continue
		}
		if !isUnder {
			s = transport.Send{Request: transport.Request{Length: u.lengthOf(r.mtl)}, TagLost: true}
		}
		s.Addr, s.User, s.Released = r.at.Addr(), r.at.Addr(), r.FreeCalled
		out = append(out, s)
	}
	return out
}
