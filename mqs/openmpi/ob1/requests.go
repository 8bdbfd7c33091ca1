package ob1

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// Values of a mca_pml_base_request_t's req_type (ompi/mca/pml/base/pml_base_request.h).
const (
	typeSend = iota + 1
	typeRecv
	typeIprobe
	typeProbe
	typeImprobe
	typeMprobe
)

// requests are the requests that are in use, by their communicator.
type requests struct {
	sends map[inferior.Ptr[ompi.Communicator]][]sendAt
	recvs map[inferior.Ptr[ompi.Communicator]][]*recvAt
	// Where all requests of receives stand, nil if that is not known, and those of them that are among the above, by their
	// index; nil stands for others.
	elements *ompi.Elements[recvRequest]
	byIndex  []*recvAt
	// What was read of a list stands above even if the rest of it can't be.
	sendErr, recvErr error
	// inactive are the persistent ones that are not started.
	inactive []mqs.InactiveRequest
}

type sendAt struct {
	at inferior.Ptr[sendRequest]
	sendRequest
}

type recvAt struct {
	at inferior.Ptr[recvRequest]
	recvRequest
	walked int // the last list in which it was met, from 1
}

// allRequests walks the two free lists, whose allocations hold every request,
// used or not, once.
func (q *queues) allRequests() *requests {
	if q.requests != nil {
		return q.requests
	}
	out := &requests{sends: map[inferior.Ptr[ompi.Communicator]][]sendAt{}, recvs: map[inferior.Ptr[ompi.Communicator]][]*recvAt{},
		inactive: []mqs.InactiveRequest{}}
	q.requests = out
	out.sendErr = ompi.EachElement(q.Process, q.sendList(), ompi.SymSendRequests, func(at inferior.Ptr[sendRequest]) error {
		r, err := q.SendRequest.Read(q.R, at)
		if err == nil && r.Base.Type == typeSend && (inUse(r.Base) || isBuffered(r)) {
			out.sends[r.Base.Comm] = append(out.sends[r.Base.Comm], sendAt{at, r})
		} else if err == nil && r.Base.Type == typeSend {
			q.noteInactive(out, at.Addr(), r.Base, ompi.SendKind(r.Mode, true))
		}
		return err
	})
	out.elements, out.recvErr = ompi.ReadElements[recvRequest](q.Process, q.recvList(), ompi.SymRecvRequests)
	if out.recvErr == nil {
		out.recvErr = q.readReceives(out)
	}
	return out
}

func (q *queues) readReceives(out *requests) error {
	var room []recvAt // none is moved when there are more
	return out.elements.Each(q.Process, func(at inferior.Ptr[recvRequest]) error {
		r, err := q.RecvRequest.Read(q.R, at)
		if err != nil {
			return err
		}
		if !inUse(r.Base) || r.Base.Type < typeRecv || r.Base.Type > typeMprobe {
			out.byIndex = append(out.byIndex, nil)
			if r.Base.Type == typeRecv {
				q.noteInactive(out, at.Addr(), r.Base, "recv_init")
			}
			return nil
		}
		if len(room) == cap(room) {
			room = make([]recvAt, 0, min(max(2*cap(room), 16), 1024))
		}
		room = append(room, recvAt{at: at, recvRequest: r})
		p := &room[len(room)-1]
		out.recvs[r.Base.Comm], out.byIndex = append(out.recvs[r.Base.Comm], p), append(out.byIndex, p)
		return nil
	})
}

// recvAt returns the receive at an address, nil if there is none among those that were read.
func (r *requests) recvAt(at inferior.Ptr[recvRequest]) *recvAt {
	if r.elements == nil {
		return nil
	}
	if i, ok := r.elements.Index(at); ok && i < len(r.byIndex) {
		return r.byIndex[i]
	}
	return nil
}

// inUse tells requests that stand for an operation: a free one is invalid, a
// persistent one that has not been started inactive.
func inUse(r request) bool {
	return r.State != ompi.RequestInvalid && r.State != ompi.RequestInactive
}

// isBuffered tells a persistent buffered send that has been collected, and is
// inactive, while its data still waits in the attached buffer.
func isBuffered(r sendRequest) bool {
	return r.Base.State == ompi.RequestInactive && r.Mode == ompi.ModeBuffered && !r.Base.PMLComplete && r.Addr != r.Base.Addr
}

// isTaken tells the request that stands for a message taken by MPI_Mprobe.
func isTaken(r *recvAt) bool {
	return (r.Base.Type == typeImprobe || r.Base.Type == typeMprobe) && r.Base.Complete == ompi.RequestCompleted
}
