package tagged

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// describeSend describes a send.
func (q *queues) describeSend(c *mqs.Communicator, r *send) mqs.PendingOperation {
	as := r.Send
	if p := r.own; p != nil {
		as.Tag, as.TagLost = p.tag, false
	}
	op := q.tags.Send(c, &as, r.peer)
	op.SystemBuffer, op.Request, op.Kind = mqs.Known(false), mqs.Known(r.handle), "isend"
	if r.Sync {
		op.Kind = "issend"
	}
	q.setScattered(&op, &r.Request, r.Length)
	switch p, made := r.own, q.pml.maker(&r.Request); {
	case p != nil:
		q.describeKept(&op, &as, p)
	case r.call != nil:
		op.Kind = callstack.BlockingSends[r.call.Function]
	case r.OfCall:
		op.Kind = callstack.KindNotKnown
	case made == madeForBuffer:
		// The program's own operation is complete, and its request, if it had one, is
		// one that all of those share.
		op.Kind, op.SystemBuffer, op.ExtraText = "bsend", mqs.Known(true), []string{mqs.DataInBuffer}
	case made == madeForCall:
		op.Kind = strings.TrimPrefix(op.Kind, "i") // a blocking call waits for it
	case made == madeByStartOfSend:
		op.Kind = callstack.KindNotKnown // its persistent request has been freed
	case made == madeOtherwise:
		op.Kind, op.SystemBuffer = callstack.KindNotKnown, mqs.Maybe[bool]{} // by a function that this library does not name
	}
	if r.Released && op.Kind != "bsend" {
		op.ExtraText = append(op.ExtraText, mqs.Freed)
	}
	op.SetActual()
	return op
}

// describeKept fills in what the pml's own request says of a send. A buffered one is over for the program once it
// was collected: what remains is its data.
func (q *queues) describeKept(op *mqs.PendingOperation, r *transport.Send, p *ownRequest) {
	op.Kind = ompi.SendKind(p.mode, !p.isOnce)
	q.setData(op, p.data)
	if p.mode != ompi.ModeBuffered || p.copied == 0 {
		return
	}
	op.SystemBuffer, op.Buffer = mqs.Known(true), mqs.Known(p.copied)
	if r.Released {
		op.Kind, op.ExtraText = "bsend", []string{mqs.DataInBuffer}
	}
}

// describeReceive describes a receive. Of one that a persistent request has started, that keeps what it asks
// for and, once the transport's request is gone, what it has got.
func (q *queues) describeReceive(c *mqs.Communicator, r *receive) mqs.PendingOperation {
	as, p := r.Receive, r.own
	isOver := p != nil && r.State == transport.Complete
	if isOver && p.message.isCancelled {
		as.Cancelled = true
	}
	op := q.tags.Receive(c, &as)
	op.SystemBuffer, op.Request, op.Kind = mqs.Known(false), mqs.Known(r.handle), "irecv"
	if isOver && !as.Cancelled {
		if !p.isOnce { // else what it has asked for may be a former user's
			q.tags.Ask(&op, c, &as)
		}
		p.message.arrive(&op, c)
	}
	if p != nil && p.rank.Known {
		op.DesiredLocalRank, op.DesiredGlobalRank = p.rank, c.GlobalRank(p.rank.Value)
		if p.rank.Value == ompi.AnySource {
			op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
		}
	}
	if r.State != transport.Complete || as.Cancelled || p != nil {
		if r.Length >= 0 {
			op.Buffer, op.DesiredLength = mqs.Known(r.Buffer), mqs.Known(r.Length)
		}
		q.setScattered(&op, &r.Request, -1)
	}
	switch isStarted := q.pml.maker(&r.Request) == madeByStartOfReceive; {
	case p != nil:
		switch {
		case !p.isOnce:
			op.Kind = "recv_init"
		case r.call != nil:
			op.Kind = callstack.BlockingRecvs[r.call.Function]
		case r.mayBlock:
			op.Kind = callstack.KindNotKnown
		}
		q.setData(&op, p.data)
	case r.call != nil:
		op.Kind = callstack.BlockingRecvs[r.call.Function]
	case isStarted && r.State == transport.Complete:
		// One that found its message at once has its request's former user's.
		op.Kind = callstack.KindNotKnown
	case isStarted:
		op.Kind = "recv_init"
	}
	if r.Released {
		op.ExtraText = append(op.ExtraText, mqs.Freed)
	}
	return op
}

// setData fills in where data is, of what datatype, and how many elements of that there are.
func (q *queues) setData(op *mqs.PendingOperation, d data) {
	dt := q.DatatypeInfo(d.datatype)
	if d.lacksCount {
		op.Datatype, op.DatatypeConstruction = dt.Name, q.Unnamed(d.datatype)
		return
	}
	op.Buffer, op.Datatype, op.Count = mqs.Known(d.buffer), dt.Name, mqs.Known(int64(d.count))
	op.DatatypeConstruction = q.Unnamed(d.datatype)
	if dt.Size.Known {
		op.DesiredLength = mqs.Known(int64(d.count) * dt.Size.Value)
	}
}

// setScattered fills in what the pml keeps of data that is not contiguous. packed is the length of that when
// it has been packed, -1 if not known.
func (q *queues) setScattered(op *mqs.PendingOperation, r *transport.Request, packed int64) {
	if r.Generic == 0 {
		return
	}
	d, ok := q.pml.scattered(r.Generic)
	if !ok {
		return
	}
	if size := q.DatatypeInfo(d.datatype).Size; size.Known && (packed < 0 || size.Value*int64(d.count) == packed) {
		q.setData(op, d)
	}
}

// requestAt is the request of all kinds that stands at a.
func (q *queues) requestAt(a inferior.Addr) (ompi.Request, error) {
	return q.Request.Read(q.R, inferior.Ptr[ompi.Request](a))
}
