package transport

import (
	"github.com/mpi-queues/mpi-queues/mqs"
)

// OffloadedText stands in the extra text of a receive that a network card has.
const OffloadedText = "given to the network card for matching"

// Send describes a send as far as its transport knows it. rank is the local rank of its peer. What the MPI
// adds of the buffer holds for the message too: see [mqs.PendingOperation.SetActual].
func (t *Tags) Send(c *mqs.Communicator, s *Send, rank mqs.Maybe[int32]) mqs.PendingOperation {
	op := mqs.PendingOperation{
		Status:           s.State.Status(),
		TagWild:          mqs.Known(false),
		DesiredLocalRank: rank,
		DesiredLength:    LengthOf(s.Length),
	}
	if rank.Known {
		op.DesiredGlobalRank = c.GlobalRank(rank.Value)
	}
	if !s.TagLost {
		e := t.Envelope(s.Tag)
		op.DesiredTag, op.Internal = mqs.Known(e.Tag), t.IsInternal(e)
	}
	if s.Buffer != 0 {
		op.Buffer = mqs.Known(s.Buffer)
	}
	if s.ID != 0 && s.State == Posted {
		op.MessageID = mqs.Known(s.ID)
	}
	op.SetActual()
	return op
}

// Receive describes a receive, but for its buffer. Of one that is complete the message's envelope and length
// are known; what was asked for is kept only of those that had to wait, which can't be told.
func (t *Tags) Receive(c *mqs.Communicator, r *Receive) mqs.PendingOperation {
	op := mqs.PendingOperation{Status: r.State.Status()}
	if r.Offloaded {
		op.ExtraText = append(op.ExtraText, OffloadedText)
	}
	if (r.State != Complete || r.Cancelled) && !r.AskLost {
		t.Ask(&op, c, r)
	}
	switch {
	case r.Cancelled:
		op.ExtraText = append(op.ExtraText, mqs.Cancelled)
	case r.State != Posted && !r.MessageLost:
		length := LengthOf(r.Received)
		if r.State != Complete && r.Offloaded {
			length = mqs.Maybe[int64]{}
		}
		t.arrive(&op, c, r.SenderTag, t.source(c, r.SenderTag, r.SenderPeer, r.SenderBeside), length)
	}
	return op
}

// Ask fills in what a receive has asked for, but its buffer.
func (t *Tags) Ask(op *mqs.PendingOperation, c *mqs.Communicator, r *Receive) {
	e := t.Envelope(r.Tag)
	switch op.TagWild = mqs.Known(t.IsAnyTag(r)); {
	case r.TagLost:
		op.TagWild = mqs.Maybe[bool]{}
	case op.TagWild.Value:
		e.Tag = 0
	default:
		op.DesiredTag = mqs.Known(e.Tag)
	}
	op.Internal = t.IsInternal(e)
	if t.IsAnySource(r) {
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
		return
	}
	if op.DesiredLocalRank = t.source(c, r.Tag, r.Peer, r.Beside); op.DesiredLocalRank.Known {
		op.DesiredGlobalRank = c.GlobalRank(op.DesiredLocalRank.Value)
	}
}

// Message describes a message that no receive has matched. One that MPI_Mprobe has taken out of the queue
// is taken.
func (t *Tags) Message(c *mqs.Communicator, m *Message, isTaken bool) mqs.PendingOperation {
	op := mqs.PendingOperation{Status: mqs.Pending, TagWild: mqs.Known(false)}
	t.arrive(&op, c, m.Tag, t.source(c, m.Tag, m.Peer, m.Beside), LengthOf(m.Length))
	op.DesiredLocalRank, op.DesiredGlobalRank = op.ActualLocalRank, op.ActualGlobalRank
	op.DesiredTag, op.DesiredLength = op.ActualTag, op.ActualLength
	if m.Sender != 0 {
		op.MessageID = mqs.Known(m.Sender)
	}
	switch {
	case isTaken:
		op.Status, op.ExtraText = mqs.Matched, []string{mqs.TakenByProbe}
	case m.Rendezvous:
		op.ExtraText = []string{mqs.Rendezvous}
	default:
		op.ExtraText = []string{mqs.Eager}
		if m.Data != 0 {
			op.SystemBuffer, op.Buffer = mqs.Known(true), mqs.Known(m.Data)
		}
	}
	return op
}

// arrive fills in what a message says of itself: its tag, where it is from and its length.
func (t *Tags) arrive(op *mqs.PendingOperation, c *mqs.Communicator, tag uint64, from mqs.Maybe[int32], length mqs.Maybe[int64]) {
	e := t.Envelope(tag)
	if op.ActualLocalRank = from; from.Known {
		op.ActualGlobalRank = c.GlobalRank(op.ActualLocalRank.Value)
	}
	op.ActualTag, op.ActualLength = mqs.Known(e.Tag), length
	op.Internal = t.IsInternal(e)
}

// LengthOf is a length of [Request], [Receive] or [Message] in bytes, where -1 stands for one that is not known.
func LengthOf(bytes int64) mqs.Maybe[int64] {
	if bytes < 0 {
		return mqs.Maybe[int64]{}
	}
	return mqs.Known(bytes)
}
