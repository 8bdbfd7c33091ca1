package mpich

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// common fills in what sends and receives have alike.
func (s *source) common(c *mqs.Communicator, r *requestAt, a asked) mqs.PendingOperation {
	op := mqs.PendingOperation{
		Status:   mqs.Pending,
		Kind:     a.kind,
		TagWild:  mqs.Maybe[bool]{Value: a.tag.Value == anyTag, Known: a.tag.Known},
		Buffer:   a.buffer,
		Count:    a.count,
		Request:  mqs.Known(r.user().at),
		Internal: a.context.Known && a.context.Value == contextCollective,
	}
	if a.tag.Known && a.tag.Value != anyTag {
		op.DesiredTag = a.tag
	}
	switch {
	case !a.peer.Known:
	case a.peer.Value == anySource:
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
	case a.peer.Value >= 0:
		op.DesiredLocalRank, op.DesiredGlobalRank = a.peer, c.GlobalRank(a.peer.Value)
	}
	if a.datatype.Known {
		dt := s.datatypeOf(a.datatype.Value)
		op.Datatype = dt.name
		if a.count.Known && dt.size.Known {
			op.DesiredLength = mqs.Known(a.count.Value * dt.size.Value)
		}
	}
	if a.bytes.Known {
		op.DesiredLength = a.bytes
	}
	if a.buffer.Known {
		op.SystemBuffer = mqs.Known(false)
	}
	if r.complete() {
		op.Status = mqs.Complete
	}
	return op
}

// askedOf is what was asked for: of a request that a persistent one has
// started, that one keeps it whatever happens.
func (s *source) askedOf(r *requestAt, current asked) asked {
	if r.owner == nil {
		return current
	}
	a := s.device.persistent(r.owner)
	a.context = mqs.Known(uint32(0))
	return a
}

// send describes a send. Its tag and length are known from the start, if at all.
func (s *source) send(c *commState, r *requestAt) mqs.PendingOperation {
	a := s.askedOf(r, s.device.send(r, c))
	if kind := s.blockingKinds()[r.at]; kind != "" && r.owner == nil {
		a.kind = kind
		s.passed(r, &a)
	} else if a.kind == "isend" && r.owner == nil && s.mayBeBlocking[r.at] {
		a.kind = ""
	}
	op := s.common(c.model, r, a)
	if r.owner == nil && s.isBuffered(a) {
		// What stands in the attached buffer is packed; count and type of what
		// the program has sent are not kept.
		op.Kind, op.SystemBuffer = "bsend", mqs.Known(true)
		op.Datatype, op.Count = mqs.Maybe[string]{}, mqs.Maybe[int64]{}
		if !r.complete() {
			op.ExtraText = append(op.ExtraText, "the data waits in the buffer")
		}
	} else if r.owner == nil && a.datatype.Known && a.datatype.Value == packed && !s.Bsend.Bound() {
		op.Kind = "" // perhaps a buffered send's
	}
	if r.owner != nil && op.Kind == "bsend_init" {
		// It is complete for the program at once.
		op.Status = mqs.Complete
		if !r.complete() {
			op.ExtraText = append(op.ExtraText, "the data waits in the buffer")
		}
	}
	if r.cancelled() && r.complete() {
		op.ExtraText = append(op.ExtraText, "cancelled")
	}
	switch {
	case a.context.Known || op.Kind == "bsend" || s.blockingKinds()[r.at] != "" || s.mayBeBlocking[r.at]:
	case s.notesUserSends:
		op.Internal = !s.blockingUnknown // the program's own is in the queue, or in a call that waits
	default:
		if call, ok := s.inCollective[r.at]; ok {
			op.ExtraText = append(op.ExtraText, "perhaps a part of "+call)
		}
	}
	if !a.tag.Known {
		s.unknownSends = true
	}
	op.ActualLocalRank, op.ActualGlobalRank = op.DesiredLocalRank, op.DesiredGlobalRank
	op.ActualTag, op.ActualLength = op.DesiredTag, op.DesiredLength
	return op
}

// passed completes what a device has not kept of a blocking send by what the
// program has passed to the call.
func (s *source) passed(r *requestAt, a *asked) {
	c := s.callOf[r.at]
	if c == nil || r.complete() {
		return
	}
	if v, ok := c.CallArgument("dest"); ok && !a.peer.Known {
		a.peer = mqs.Known(int32(v))
	}
	if v, ok := c.CallArgument("tag"); ok && !a.tag.Known {
		a.tag = mqs.Known(int32(v))
	}
	if v, ok := c.CallArgument("buf"); ok && !a.buffer.Known {
		a.buffer = mqs.Known(inferior.Addr(v))
	}
	count, isCount := c.CallArgument("count")
	datatype, isDatatype := c.CallArgument("datatype")
	if isCount && isDatatype && !a.count.Known && !a.datatype.Known {
		a.count, a.datatype = mqs.Known(count), mqs.Known(uint32(datatype))
	}
}

// isBuffered tells the library's own send of what MPI_Bsend has put into the attached buffer.
func (s *source) isBuffered(a asked) bool {
	if a.datatype.Known && a.datatype.Value != packed || !a.datatype.Known && !a.bytes.Known || !s.Bsend.Bound() {
		return false
	}
	sym, ok := s.symbols[symBsend]
	if !ok {
		return false
	}
	b, err := s.Bsend.ReadAt(s.r, sym.Addr)
	return err == nil && b.Buffer != 0 && a.buffer.Value >= b.Buffer && a.buffer.Value-b.Buffer < inferior.Addr(b.Size)
}

// receive describes a receive. Once it has matched, the message's envelope is known.
func (s *source) receive(c *commState, r *requestAt) mqs.PendingOperation {
	pending := s.requests.isPosted[r.at]
	m, matched := message{}, false
	if !pending && !r.complete() {
		m, matched = s.device.isMatched(r)
	}
	a := s.askedOf(r, s.device.receive(r, c, pending || !matched && !r.complete()))
	if kind, ok := s.blockingKinds()[r.at]; ok && r.owner == nil {
		a.kind = kind
	}
	call, isPart := s.inCollective[r.at]
	isPart = isPart && r.owner == nil && !a.context.Known
	if isPart {
		a.kind = ""
	}
	op := s.common(c.model, r, a)
	if isPart {
		op.ExtraText = append(op.ExtraText, "perhaps a part of "+call)
	}
	switch {
	case r.complete() && r.cancelled():
		op.ExtraText = append(op.ExtraText, "cancelled")
		return op
	case r.complete() && r.Source == procNull:
		return op
	case r.complete():
		m = message{source: r.Source, tag: r.Tag, bytes: mqs.Known(r.bytes())}
	case matched:
		op.Status = mqs.Matched
	default:
		if !pending {
			s.unknownReceives = true
		}
		return op
	}
	op.ActualLocalRank, op.ActualGlobalRank = mqs.Known(m.source), c.model.GlobalRank(m.source)
	op.ActualTag, op.ActualLength = mqs.Known(m.tag), m.bytes
	return op
}

// arrival describes a message that no receive has matched: what the sender
// wrote on it is both what it desired and what it is.
func (s *source) arrival(c *commState, r *requestAt, m message) mqs.PendingOperation {
	op := mqs.PendingOperation{
		Status:            mqs.Pending,
		DesiredLocalRank:  mqs.Known(m.source),
		DesiredGlobalRank: c.model.GlobalRank(m.source),
		TagWild:           mqs.Known(false),
		DesiredTag:        mqs.Known(m.tag),
		DesiredLength:     m.bytes,
		Request:           mqs.Known(r.at),
		Internal:          m.context-c.RecvContext == contextCollective,
	}
	if m.lost {
		op.DesiredLocalRank, op.DesiredGlobalRank, op.DesiredTag = mqs.Maybe[int32]{}, mqs.Maybe[int32]{}, mqs.Maybe[int32]{}
		op.Internal = false
	}
	op.ActualLocalRank, op.ActualGlobalRank = op.DesiredLocalRank, op.DesiredGlobalRank
	op.ActualTag, op.ActualLength = op.DesiredTag, op.DesiredLength
	if m.buffer != 0 {
		op.SystemBuffer, op.Buffer = mqs.Known(true), mqs.Known(m.buffer)
	}
	if m.how != "" {
		op.ExtraText = append(op.ExtraText, m.how)
	}
	return op
}
