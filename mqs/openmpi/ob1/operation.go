package ob1

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// status of an operation that is in use: complete is what MPI_Test would find.
func status(r request, matched bool) mqs.Status {
	if r.Complete == ompi.RequestCompleted {
		return mqs.Complete
	}
	return pendingOr(matched)
}

func pendingOr(matched bool) mqs.Status {
	if matched {
		return mqs.Matched
	}
	return mqs.Pending
}

// common fills in what sends and receives have alike.
func (q *queues) common(at inferior.Addr, r request) mqs.PendingOperation {
	dt := q.DatatypeInfo(r.Datatype)
	op := mqs.PendingOperation{
		TagWild:      mqs.Known(false),
		DesiredTag:   mqs.Known(r.Tag),
		SystemBuffer: mqs.Known(false),
		Buffer:       mqs.Known(r.Addr),
		Datatype:     dt.Name,

		DatatypeConstruction: q.Unnamed(r.Datatype),

		Count:    mqs.Known(int64(r.Count)),
		Request:  mqs.Known(at),
		Internal: ompi.IsInternal(r.Tag),
	}
	if dt.Size.Known {
		op.DesiredLength = mqs.Known(int64(r.Count) * dt.Size.Value)
	}
	if r.Cancelled {
		op.ExtraText = append(op.ExtraText, mqs.Cancelled)
	}
	if r.FreeCalled {
		op.ExtraText = append(op.ExtraText, mqs.Freed)
	}
	if ompi.IsOfNonBlocking(r.Tag) {
		op.ExtraText = append(op.ExtraText, mqs.NonBlockingCollective)
	}
	return op
}

// send describes a send request of the queues.
func (q *queues) send(c *mqs.Communicator, s sendAt) mqs.PendingOperation {
	return q.describeSend(c, s, q.blockingKinds())
}

// describeSend describes a send request. Its peer, tag and length are known at once. kinds are those of
// blocking calls.
func (q *queues) describeSend(c *mqs.Communicator, s sendAt, kinds callstack.Kinds) mqs.PendingOperation {
	r := s.Base
	op := q.common(s.at.Addr(), r)
	op.Status = status(r, s.Recv != 0)
	op.DesiredLocalRank = mqs.Known(r.Peer)
	op.DesiredGlobalRank = c.GlobalRank(r.Peer)
	op.DesiredLength = mqs.Known(int64(s.BytesPacked))
	op.SetActual()
	if isUnsent(s.sendRequest) {
		op.ExtraText = append(op.ExtraText, mqs.Unsent)
	}
	op.Kind = ompi.SendKind(s.Mode, r.Persistent)
	if kind, ok := kinds[s.at.Addr()]; ok {
		op.Kind = kind.Name
	}
	if s.Mode == ompi.ModeBuffered {
		if s.Addr != r.Addr {
			op.SystemBuffer = mqs.Known(true)
			op.Buffer = mqs.Known(s.Addr)
		}
		// It is complete for MPI at once, while its data still waits here.
		if !r.PMLComplete && op.Status == mqs.Complete {
			op.ExtraText = append(op.ExtraText, mqs.DataInBuffer)
		}
		if r.FreeCalled || isBuffered(s.sendRequest) {
			// Collected too, as MPI_Bsend does by itself: what remains is the data.
			op.Status, op.ExtraText = pendingOr(s.Recv != 0), []string{mqs.DataInBuffer}
			if isUnsent(s.sendRequest) {
				op.ExtraText = append(op.ExtraText, mqs.Unsent)
			}
			if !r.Persistent {
				op.Kind = "bsend"
			}
		}
	}
	return op
}

// recv describes a receive request of the queues.
func (q *queues) recv(c *mqs.Communicator, p *recvAt) mqs.PendingOperation {
	return q.describeReceive(c, p, q.blockingKinds())
}

// describeReceive describes a receive request. Once it has matched, its status holds the
// message's source and tag, and its packed size the message's length. kinds are those of blocking calls.
func (q *queues) describeReceive(c *mqs.Communicator, p *recvAt, kinds callstack.Kinds) mqs.PendingOperation {
	r := p.Base
	op := q.common(p.at.Addr(), r)
	op.Kind = "irecv"
	switch {
	case r.Type == typeProbe || r.Type == typeMprobe:
		op.Kind = map[int32]string{typeProbe: "probe", typeMprobe: "mprobe"}[r.Type]
		op.DesiredLength, op.Count, op.Buffer, op.Datatype = mqs.Maybe[int64]{}, mqs.Maybe[int64]{}, mqs.Maybe[inferior.Addr]{}, mqs.Maybe[string]{}
		op.DatatypeConstruction = ""
	case r.Persistent:
		op.Kind = "recv_init"
	}
	if kind, ok := kinds[p.at.Addr()]; ok {
		op.Kind = kind.Name
	}
	op.Status = status(r, p.MatchReceived)
	op.DesiredLocalRank = mqs.Known(r.Peer)
	op.DesiredGlobalRank = c.GlobalRank(r.Peer)
	if r.Peer == ompi.AnySource {
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
	}
	if r.Tag == ompi.AnyTag {
		op.TagWild, op.DesiredTag = mqs.Known(true), mqs.Maybe[int32]{}
	}
	if op.Status == mqs.Pending || r.Cancelled {
		return op
	}
	op.ActualLocalRank = mqs.Known(r.Source)
	op.ActualGlobalRank = c.GlobalRank(r.Source)
	op.ActualTag = mqs.Known(r.StatusTag)
	op.ActualLength = mqs.Known(int64(p.BytesPacked))
	if op.Status == mqs.Complete {
		op.ActualLength = mqs.Known(int64(r.Received))
	}
	return op
}
