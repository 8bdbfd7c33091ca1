package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs"
)

// common fills in what sends and receives have alike.
func (l *Library) common(c *mqs.Communicator, r *Operation, a Arguments) mqs.PendingOperation {
	negatives := l.Negatives()
	op := mqs.PendingOperation{
		Status:   mqs.Pending,
		Kind:     a.Kind,
		TagWild:  mqs.Maybe[bool]{Value: a.Tag.Value == negatives.AnyTag, Known: a.Tag.Known},
		Buffer:   a.Buffer,
		Count:    a.Count,
		Request:  mqs.Known(r.user().At.Addr()),
		Internal: a.Context == mqs.Known[uint32](ContextCollective),
	}
	if a.Tag.Known && a.Tag.Value != negatives.AnyTag {
		op.DesiredTag = a.Tag
	}
	switch {
	case !a.Peer.Known:
	case a.Peer.Value == negatives.AnySource:
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
	case a.Peer.Value >= 0:
		op.DesiredLocalRank, op.DesiredGlobalRank = a.Peer, c.GlobalRank(a.Peer.Value)
	}
	if a.Datatype.Known {
		dt := l.Datatype(a.Datatype.Value)
		op.Datatype, op.DatatypeConstruction = dt.Name, l.unnamed(a.Datatype.Value)
		if a.Count.Known && dt.Size.Known {
			op.DesiredLength = mqs.Known(a.Count.Value * dt.Size.Value)
		}
	}
	if a.Bytes.Known {
		op.DesiredLength = a.Bytes
	}
	if a.Buffer.Known {
		op.SystemBuffer = mqs.Known(false)
	}
	if r.IsComplete() {
		op.Status = mqs.Complete
	}
	if l.IsStripped && op.Internal && a.Tag.Known && isOfSchedule(a.Tag.Value) {
		op.ExtraText = append(op.ExtraText, mqs.NonBlockingCollective)
	}
	return op
}

// argumentsOf is what was asked for: of a request that a persistent one has
// started, that one keeps it whatever happens.
func (s *Source) argumentsOf(r *Operation, current Arguments) Arguments {
	if r.Owner == nil {
		return current
	}
	a := s.device.Persistent(r.Owner)
	a.Context = mqs.Known(uint32(0))
	return a
}

// send describes a send. Its tag and length are known from the start, if at all.
func (s *Source) send(c *Communicator, r *Operation) mqs.PendingOperation {
	blocking, mayBeBlocking := s.inCalls().kinds[r.At.Addr()]
	a := s.argumentsOf(r, s.device.Send(r, c, blocking.Name))
	if blocking.Name != "" && r.Owner == nil {
		a.Kind = blocking.Name
		s.passed(blocking.Call, r, &a)
	} else if a.Kind == "isend" && r.Owner == nil && mayBeBlocking {
		a.Kind = ""
	}
	op := s.lib.common(c.Model, r, a)
	switch {
	case r.Owner == nil && s.lib.isBuffered(r, a, c):
		// What stands in the attached buffer is packed; count and type of what
		// the program has sent are not kept.
		op.Kind, op.SystemBuffer = "bsend", mqs.Known(true)
		op.Datatype, op.DatatypeConstruction, op.Count = mqs.Maybe[string]{}, "", mqs.Maybe[int64]{}
		if !r.IsComplete() {
			op.ExtraText = append(op.ExtraText, mqs.DataInBuffer)
		}
	case r.Owner == nil && s.lib.mayBeBuffered(a, c):
		op.Kind, op.SystemBuffer = "", mqs.Maybe[bool]{} // perhaps a buffered send's
	case r.Owner != nil && op.Kind == "bsend_init":
		// It is complete for the program at once.
		op.Status = mqs.Complete
		if !r.IsComplete() {
			op.ExtraText = append(op.ExtraText, mqs.DataInBuffer)
		}
	}
	if r.IsCancelled() && r.IsComplete() {
		op.ExtraText = append(op.ExtraText, mqs.Cancelled)
	}
	switch {
	case a.Context.Known || op.Kind == "bsend" || mayBeBlocking:
	case s.lib.Sendq.IsUsers:
		op.Internal = s.inCalls().err == nil // the program's own is in the queue, or in a call that waits
	default:
		if call, ok := s.inCalls().inCollective[r.At.Addr()]; ok {
			op.ExtraText = append(op.ExtraText, "perhaps a part of "+call)
		}
	}
	if !a.Tag.Known {
		s.lib.Remarks.Set(UnknownSends, s.device.UnknownSends())
	}
	op.SetActual()
	return op
}

// receive describes a receive. Once it has matched, the message's envelope is known.
func (s *Source) receive(c *Communicator, r *Operation) mqs.PendingOperation {
	m, isMatched := Message{}, false
	if !r.IsPosted && !r.IsComplete() {
		m, isMatched = s.device.Matched(r)
	}
	a := s.argumentsOf(r, s.device.Receive(r, c, r.IsPosted || !isMatched && !r.IsComplete()))
	if blocking, ok := s.inCalls().kinds[r.At.Addr()]; ok && r.Owner == nil {
		a.Kind = blocking.Name
	}
	call, isPart := s.inCalls().inCollective[r.At.Addr()]
	isPart = isPart && r.Owner == nil && !a.Context.Known
	if isPart {
		a.Kind = ""
	}
	op := s.lib.common(c.Model, r, a)
	if isPart {
		op.ExtraText = append(op.ExtraText, "perhaps a part of "+call)
	}
	switch {
	case r.IsComplete() && r.IsCancelled():
		op.ExtraText = append(op.ExtraText, mqs.Cancelled)
		return op
	case r.IsComplete() && r.Source == s.lib.Negatives().ProcNull:
		return op
	case r.IsComplete():
		m = Message{Source: mqs.Known(r.Source), Tag: r.Tag, Bytes: mqs.Known(r.Bytes())}
	case isMatched && m.IsLost:
		op.Status = mqs.Matched
		return op
	case isMatched:
		op.Status = mqs.Matched
	default:
		return op
	}
	op.ActualLocalRank, op.ActualGlobalRank = m.Source, globalRank(c, m.Source)
	op.ActualTag, op.ActualLength = mqs.Known(m.Tag), m.Bytes
	return op
}

// globalRank is that of a peer, as far as its local rank is known.
func globalRank(c *Communicator, local mqs.Maybe[int32]) mqs.Maybe[int32] {
	if !local.Known {
		return mqs.Maybe[int32]{}
	}
	return c.Model.GlobalRank(local.Value)
}

// arrival describes a message that no receive has matched: what the sender
// wrote on it is both what it desired and what it is.
func arrival(c *Communicator, r *Operation, m Message) mqs.PendingOperation {
	op := mqs.PendingOperation{
		Status:        mqs.Pending,
		TagWild:       mqs.Known(false),
		DesiredLength: m.Bytes,
		Request:       mqs.Known(r.At.Addr()),
	}
	if !m.IsLost {
		op.DesiredLocalRank, op.DesiredGlobalRank, op.DesiredTag = m.Source, globalRank(c, m.Source), mqs.Known(m.Tag)
		op.Internal = m.Context-c.RecvContext == ContextCollective
	}
	op.SetActual()
	if m.Buffer != 0 {
		op.SystemBuffer, op.Buffer = mqs.Known(true), mqs.Known(m.Buffer)
	}
	if m.Protocol != "" {
		op.ExtraText = append(op.ExtraText, m.Protocol)
	}
	return op
}
