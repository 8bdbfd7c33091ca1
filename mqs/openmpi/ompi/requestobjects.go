package ompi

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Kinds of requests that stand for no point-to-point operation.
const (
	kindCollective  = "collective"
	kindGeneralized = "generalized"
	kindFile        = "file access"
	kindOneSided    = "one-sided"
)

// requestKinds are what requests of the other classes stand for, by what their class's name has in it.
var requestKinds = []struct{ part, kind string }{
	{"ompi_coll_", kindCollective},
	{"ompi_grequest_", kindGeneralized},
	{"ompio_request_", kindFile},
	{"ompi_osc_", kindOneSided},
}

// resolveRequest says what a request stands for: the pml knows that of its own.
func (p *Process) resolveRequest(q Queues, h *mqs.Handle, at inferior.Addr) {
	class, err := p.classAt(inferior.Ptr[Object](at))
	if err != nil || !strings.Contains(class, "request") {
		h.State = mqs.InvalidHandle
		return
	}
	if !p.RequestObject.Bound() {
		h.Notes = append(h.Notes, "what it stands for is not known: "+errNotBound.Error())
		return
	}
	r, err := p.RequestObject.Read(p.R, inferior.Ptr[requestObject](at))
	if err != nil {
		h.State = mqs.InvalidHandle
		return
	}
	if r.State == RequestInvalid {
		h.State = mqs.FreedHandle
		return
	}
	if !p.enter(h, at, r.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, r.FortranIndex, "MPI_REQUEST_NULL") {
		return
	}
	h.Communicator = p.communicatorOf(r.Comm)
	if q != nil {
		if op, comm, ok := q.RequestAt(at, class); ok {
			h.Operation = &op
			h.Communicator = p.communicatorOf(comm)
			return
		}
	}
	h.Operation = p.otherOperation(at, class, &r)
	if !strings.Contains(h.Operation.Kind, kindCollective) {
		h.Communicator = nil // another object stands in its place
	}
}

// otherOperation is that of a request that no pml knows.
func (p *Process) otherOperation(at inferior.Addr, class string, r *requestObject) *mqs.PendingOperation {
	op := &mqs.PendingOperation{Status: statusOf(r.State, r.Complete, r.Persistent), Request: mqs.Known(at)}
	for _, k := range requestKinds {
		if strings.Contains(class, k.part) {
			op.Kind = k.kind
		}
	}
	if op.Kind == kindCollective && r.Persistent {
		op.Kind = "persistent collective"
	}
	if class != p.Collective.Name() || !p.Collective.Bound() {
		return op
	}
	if c, err := p.collectiveAt(inferior.Ptr[collective](at), r); err == nil && c.Sequence.Known {
		op.ExtraText = append(op.ExtraText, mqs.NumberOnCommunicator(c.Sequence.Value))
	}
	return op
}

// statusOf is how far the operation of a request has come.
func statusOf(state int32, complete uint64, isPersistent bool) mqs.Status {
	switch {
	case state == RequestInactive && isPersistent:
		return mqs.Inactive
	case complete == RequestCompleted:
		return mqs.Complete
	}
	return mqs.Pending
}

// messageNames are the names of the messages that the library has made.
var messageNames = []string{"MPI_MESSAGE_NULL", "MPI_MESSAGE_NO_PROC"}

// SetInactive makes an operation one of a persistent request that is not started: what a former start has left in
// it is dropped.
func SetInactive(op *mqs.PendingOperation) {
	op.Status = mqs.Inactive
	op.ActualLocalRank, op.ActualGlobalRank = mqs.Maybe[int32]{}, mqs.Maybe[int32]{}
	op.ActualTag, op.ActualLength = mqs.Maybe[int32]{}, mqs.Maybe[int64]{}
	op.ExtraText = nil
}

// resolveMessage says what a message that MPI_Mprobe has taken is. Its object is on a free list once a receive
// has got the message.
func (p *Process) resolveMessage(q Queues, h *mqs.Handle, at inferior.Ptr[Message]) {
	if p.isFirst(h.Kind, at.Addr()) { // which the library does not construct, so that it has no class
		h.FortranHandle = mqs.Known(p.integer(h.Kind, 0))
		predefined(h, 0, messageNames...)
		return
	}
	m, ok := readObject(p, h, &p.Message, at, nil)
	if !ok {
		return
	}
	if _, isThere := inferior.OffsetOf(&p.Message, func(m *Message) *int32 { return &m.FortranIndex }); isThere && !p.enter(h, at.Addr(), m.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	switch {
	case predefined(h, m.FortranIndex, messageNames...):
		return
	case m.Next != 0 || m.Taken == 0:
		h.State = mqs.FreedHandle
		return
	}
	h.Communicator = p.communicatorOf(m.Comm)
	if c := p.CommAt(m.Comm); q != nil && c != nil {
		if op, ok := q.MessageAt(m.Taken, c); ok {
			h.Operation = &op
			return
		}
	}
	op := mqs.PendingOperation{Status: mqs.Matched, ExtraText: []string{mqs.TakenByProbe}}
	if _, isThere := inferior.OffsetOf(&p.Message, func(m *Message) *int32 { return &m.Source }); isThere {
		op.DesiredLocalRank = mqs.Known(m.Source)
		if h.Communicator != nil {
			op.DesiredGlobalRank = h.Communicator.GlobalRank(m.Source)
		}
	}
	if _, isThere := inferior.OffsetOf(&p.Message, func(m *Message) *uint64 { return &m.Length }); isThere {
		op.DesiredLength = mqs.Known(int64(m.Length))
	}
	op.SetActual()
	h.Operation = &op
}
