package openmpi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Ranks and tags with a meaning of their own (ompi/include/mpi.h.in).
const (
	procNull  = -2
	anySource = -1
	anyTag    = -1
)

// Values of a send request's req_send_mode (ompi/mca/pml/pml_constants.h, mca_pml_base_send_mode_t,
// 4.1 to 6.0). A complete one is a standard send of the library's own.
const (
	modeSynchronous = iota
	modeComplete
	modeBuffered
	modeReady
	modeStandard
)

// sendKinds are what MPI calls a send of each mode; a persistent one is named after the call that made it.
var sendKinds = [...]struct{ once, persistent string }{
	modeSynchronous: {"issend", "ssend_init"},
	modeComplete:    {"isend", "send_init"},
	modeBuffered:    {"ibsend", "bsend_init"},
	modeReady:       {"irsend", "rsend_init"},
	modeStandard:    {"isend", "send_init"},
}

// status of an operation that is in use: complete is what MPI_Test would find.
func status(r request, matched bool) mqs.Status {
	if r.Complete == requestCompleted {
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
func (s *source) common(a inferior.Addr, r request) mqs.PendingOperation {
	dt := s.datatype(r.Datatype)
	op := mqs.PendingOperation{
		TagWild:      mqs.Known(false),
		DesiredTag:   mqs.Known(r.Tag),
		SystemBuffer: mqs.Known(false),
		Buffer:       mqs.Known(r.Addr),
		Datatype:     dt.name,
		Count:        mqs.Known(int64(r.Count)),
		Request:      mqs.Known(a),
		Internal:     r.Tag < 0 && r.Tag != anyTag,
	}
	if dt.size.Known {
		op.DesiredLength = mqs.Known(int64(r.Count) * dt.size.Value)
	}
	if r.Cancelled {
		op.ExtraText = append(op.ExtraText, "cancelled")
	}
	if r.FreeCalled {
		op.ExtraText = append(op.ExtraText, freedText)
	}
	if isOfNonBlocking(r) {
		op.ExtraText = append(op.ExtraText, mqs.NonBlockingCollective)
	}
	return op
}

// freedText stands with operations that nobody will collect.
const freedText = "freed: nobody will collect it"

// send describes a send request. Its peer, tag and length are known at once.
func (s *source) send(c *mqs.Communicator, q sendAt) mqs.PendingOperation {
	r := q.Base
	op := s.common(q.addr, r)
	op.Status = status(r, q.Recv != 0)
	op.DesiredLocalRank = mqs.Known(r.Peer)
	op.DesiredGlobalRank = c.GlobalRank(r.Peer)
	op.DesiredLength = mqs.Known(int64(q.BytesPacked))
	op.ActualLocalRank, op.ActualGlobalRank = op.DesiredLocalRank, op.DesiredGlobalRank
	op.ActualTag, op.ActualLength = op.DesiredTag, op.DesiredLength
	if q.Mode >= 0 && int(q.Mode) < len(sendKinds) {
		op.Kind = sendKinds[q.Mode].once
		if r.Persistent {
			op.Kind = sendKinds[q.Mode].persistent
		}
	}
	if kind, ok := s.blockingKinds()[q.addr]; ok {
		op.Kind = kind
	}
	if q.Mode == modeBuffered {
		if q.Addr != r.Addr {
			op.SystemBuffer = mqs.Known(true)
			op.Buffer = mqs.Known(q.Addr)
		}
		// It is complete for MPI at once, while its data still waits here.
		if !r.PMLComplete && op.Status == mqs.Complete {
			op.ExtraText = append(op.ExtraText, "the data waits in the buffer")
		}
		if r.FreeCalled || isBuffered(q.sendRequest) {
			// Collected too, as MPI_Bsend does by itself: what remains is the data.
			op.Status, op.ExtraText = pendingOr(q.Recv != 0), []string{"the data waits in the buffer"}
			if !r.Persistent {
				op.Kind = "bsend"
			}
		}
	}
	return op
}

// recv describes a receive request. Once it has matched, its status holds the
// message's source and tag, and its packed size the message's length.
func (s *source) recv(c *mqs.Communicator, q *recvAt) mqs.PendingOperation {
	r := q.Base
	op := s.common(q.addr, r)
	op.Kind = "irecv"
	switch {
	case r.Type == typeProbe || r.Type == typeMprobe:
		op.Kind = map[int32]string{typeProbe: "probe", typeMprobe: "mprobe"}[r.Type]
		op.DesiredLength, op.Count, op.Buffer, op.Datatype = mqs.Maybe[int64]{}, mqs.Maybe[int64]{}, mqs.Maybe[inferior.Addr]{}, mqs.Maybe[string]{}
	case r.Persistent:
		op.Kind = "recv_init"
	}
	if kind, ok := s.blockingKinds()[q.addr]; ok {
		op.Kind = kind
	}
	op.Status = status(r, q.MatchReceived)
	op.DesiredLocalRank = mqs.Known(r.Peer)
	op.DesiredGlobalRank = c.GlobalRank(r.Peer)
	if r.Peer == anySource {
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
	}
	if r.Tag == anyTag {
		op.TagWild, op.DesiredTag = mqs.Known(true), mqs.Maybe[int32]{}
	}
	if op.Status == mqs.Pending || r.Cancelled {
		return op
	}
	op.ActualLocalRank = mqs.Known(r.Source)
	op.ActualGlobalRank = c.GlobalRank(r.Source)
	op.ActualTag = mqs.Known(r.StatusTag)
	op.ActualLength = mqs.Known(int64(q.BytesPacked))
	if op.Status == mqs.Complete {
		op.ActualLength = mqs.Known(int64(r.Received))
	}
	return op
}
