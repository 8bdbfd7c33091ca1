package openmpi

import (
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// freedInUCX are the communicators that the program has freed while messages or
// requests were under way on them. Nothing else is known of them.
func (s *source) freedInUCX() []inferior.Addr {
	if s.pml != ucxPML {
		return nil
	}
	q, err := s.ucxQueues()
	if err != nil {
		return nil // said where it matters
	}
	return slices.Sorted(maps.Keys(q.freed))
}

// yieldUCX yields one queue of a communicator of pml ucx.
func (s *source) yieldUCX(c *mqs.Communicator, class mqs.OpClass, yield func(mqs.PendingOperation, error) bool) {
	q, err := s.ucxQueues()
	if err != nil {
		yield(mqs.PendingOperation{}, err)
		return
	}
	switch class {
	case mqs.PendingSends:
		for i := range q.sends[c.UniqueID] {
			if !yield(s.ucxSend(c, &q.sends[c.UniqueID][i]), nil) {
				return
			}
		}
	case mqs.PendingReceives:
		for i := range q.receives[c.UniqueID] {
			if !yield(s.ucxReceive(c, &q.receives[c.UniqueID][i]), nil) {
				return
			}
		}
	case mqs.UnexpectedMessages:
		for i := range q.unexpected[c.UniqueID] {
			if !yield(s.ucxUnexpected(c, &q.unexpected[c.UniqueID][i]), nil) {
				return
			}
		}
		if err := q.worker.Queues().UnexpectedErr; err != nil {
			yield(mqs.PendingOperation{}, err)
		}
	}
}

// typed fills in a datatype and how many elements of it there are.
func (s *source) typed(op *mqs.PendingOperation, datatype, buffer inferior.Addr, count uint64) {
	dt := s.datatype(datatype)
	op.Buffer, op.Datatype, op.Count = mqs.Known(buffer), dt.name, mqs.Known(int64(count))
	if dt.size.Known {
		op.DesiredLength = mqs.Known(int64(count) * dt.size.Value)
	}
}

// gathered fills in what pml ucx keeps of data that is not contiguous, in an object of
// its own that is given back as soon as the data has left. length is that of the packed
// data, -1 if not known.
func (s *source) gathered(op *mqs.PendingOperation, generic inferior.Addr, length int64) {
	if generic == 0 || !s.UCXConvertor.Bound() || s.proveClass(generic, s.UCXConvertor.Name(), s.UCXConvertor.Size()) != nil {
		return
	}
	c, err := s.UCXConvertor.ReadAt(s.r, generic)
	if err != nil {
		return
	}
	if size := s.datatype(c.Datatype).size; size.Known && (length < 0 || size.Value*int64(c.Count) == length) {
		s.typed(op, c.Datatype, c.Buffer, c.Count)
	}
}

// isDone says whether a send's call-back is one of those that the symbols name.
func (q *ucxQueues) isDone(done inferior.Addr, symbols ...string) bool {
	return done != 0 && slices.ContainsFunc(symbols, func(name string) bool { return q.symbols[name].Addr == done })
}

// statusOf is what a request's state is to MPI.
var statusOf = [...]mqs.Status{transport.Posted: mqs.Pending, transport.Matched: mqs.Matched, transport.Complete: mqs.Complete}

// ucxSend describes a send.
func (s *source) ucxSend(c *mqs.Communicator, r *ucxSend) mqs.PendingOperation {
	op := mqs.PendingOperation{
		Status:        statusOf[r.State],
		TagWild:       mqs.Known(false),
		DesiredLength: mqs.Maybe[int64]{Value: r.Length, Known: r.Length >= 0},
		SystemBuffer:  mqs.Known(false),
		Request:       mqs.Known(r.handle),
		Kind:          "isend",
	}
	if p := r.started; p != nil {
		r.Tag, r.TagLost = p.Tag, false
	}
	if tag := envelopeOf(r.Tag).tag; !r.TagLost {
		op.DesiredTag, op.Internal = mqs.Known(tag), tag < 0
	}
	if r.Buffer != 0 {
		op.Buffer = mqs.Known(r.Buffer)
	}
	if r.peer.Known {
		op.DesiredLocalRank, op.DesiredGlobalRank = r.peer, c.GlobalRank(r.peer.Value)
	}
	if r.Sync {
		op.Kind = "issend"
	}
	op.MessageID = mqs.Maybe[uint64]{Value: r.ID, Known: r.ID != 0 && op.Status == mqs.Pending}
	s.gathered(&op, r.Generic, r.Length)
	switch p := r.started; {
	case p != nil:
		op.Kind = callstack.KindNotKnown
		if p.Mode >= 0 && int(p.Mode) < len(sendKinds) {
			op.Kind = sendKinds[p.Mode].persistent
		}
		s.typed(&op, p.Datatype, p.Buffer, p.Count)
	case r.call != nil:
		op.Kind = callstack.BlockingSends[r.call.Function]
	case s.ucx.isDone(r.Done, symBsendDone, symBsendDoneNbx):
		// The program's own operation is complete, and its request, if it had one, is
		// one that all of those share.
		op.Kind, op.SystemBuffer, op.ExtraText = "bsend", mqs.Known(true), []string{"the data waits in the buffer"}
	case s.ucx.isDone(r.Done, symSendDoneEmpty):
		op.Kind = strings.TrimPrefix(op.Kind, "i") // a blocking call waits for it
	case s.ucx.isDone(r.Done, symPsendDone):
		op.Kind = callstack.KindNotKnown // its persistent request has been freed
	}
	if r.Released {
		op.ExtraText = append(op.ExtraText, freedText)
	}
	op.ActualLocalRank, op.ActualGlobalRank = op.DesiredLocalRank, op.DesiredGlobalRank
	op.ActualTag, op.ActualLength = op.DesiredTag, op.DesiredLength
	return op
}

// ucxReceive describes a receive. Of one that is complete UCX keeps the message's
// envelope and length; what was asked for only if it had to wait, which can't be told.
func (s *source) ucxReceive(c *mqs.Communicator, r *ucxReceive) mqs.PendingOperation {
	op := mqs.PendingOperation{
		Status:       statusOf[r.State],
		SystemBuffer: mqs.Known(false),
		Request:      mqs.Known(r.handle),
		Kind:         "irecv",
	}
	if r.State != transport.Complete || r.Cancelled || r.started != nil {
		s.asked(c, &op, r)
	}
	switch {
	case r.started != nil:
		op.Kind = "recv_init"
		s.typed(&op, r.started.Datatype, r.started.Buffer, r.started.Count)
	case r.call != nil:
		op.Kind = callstack.BlockingRecvs[r.call.Function]
	case s.ucx.isDone(r.Done, symPrecvDone) && r.State == transport.Complete:
		// One that found its message at once has its request's former user's.
		op.Kind = callstack.KindNotKnown
	case s.ucx.isDone(r.Done, symPrecvDone):
		op.Kind = "recv_init"
	}
	if r.Offloaded {
		op.ExtraText = append(op.ExtraText, "given to the network card for matching")
	}
	if r.Released {
		op.ExtraText = append(op.ExtraText, freedText)
	}
	s.arrived(c, &op, r)
	return op
}

// asked fills in what a receive has asked for.
func (s *source) asked(c *mqs.Communicator, op *mqs.PendingOperation, r *ucxReceive) {
	e := envelopeOf(r.Tag)
	op.TagWild = mqs.Known(r.Mask&ucxTagValueMask == 0)
	if !op.TagWild.Value {
		op.DesiredTag, op.Internal = mqs.Known(e.tag), e.tag < 0
	}
	op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(e.source), c.GlobalRank(e.source)
	if r.Mask&ucxRankMask == 0 {
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
	}
	if r.Length >= 0 {
		op.Buffer, op.DesiredLength = mqs.Known(r.Buffer), mqs.Known(r.Length)
	}
	s.gathered(op, r.Generic, -1)
}

// arrived fills in what is known of the message that a receive has matched.
func (s *source) arrived(c *mqs.Communicator, op *mqs.PendingOperation, r *ucxReceive) {
	var from envelope
	p := r.started
	switch {
	case r.State == transport.Posted:
		return
	case r.State == transport.Complete && p != nil && p.Cancelled, r.Cancelled:
		op.ExtraText = append(op.ExtraText, "cancelled")
		return
	case r.State == transport.Complete && p != nil:
		from = envelope{source: p.Source, tag: p.StatusTag}
		op.ActualLength = mqs.Known(int64(p.Received))
	default:
		from = envelopeOf(r.SenderTag)
		op.ActualLength = mqs.Maybe[int64]{Value: r.Received, Known: r.Received >= 0 && (r.State == transport.Complete || !r.Offloaded)}
	}
	op.Internal = from.tag < 0
	op.ActualLocalRank, op.ActualGlobalRank, op.ActualTag = mqs.Known(from.source), c.GlobalRank(from.source), mqs.Known(from.tag)
}

// ucxUnexpected describes a message that has arrived.
func (s *source) ucxUnexpected(c *mqs.Communicator, m *ucxMessage) mqs.PendingOperation {
	e := envelopeOf(m.Tag)
	op := message(c, e.source, e.tag)
	if m.Length >= 0 {
		op.ActualLength = mqs.Known(m.Length)
	}
	op.DesiredLength = op.ActualLength
	op.MessageID = mqs.Maybe[uint64]{Value: m.Sender, Known: m.Sender != 0}
	switch {
	case m.taken:
		op.Status, op.ExtraText = mqs.Matched, []string{takenText}
	case m.Rendezvous:
		op.ExtraText = []string{mqs.Rendezvous}
	default:
		op.ExtraText = []string{"eager"}
		op.SystemBuffer, op.Buffer = mqs.Known(true), mqs.Known(m.Data)
	}
	return op
}

// ucxNotes says what UCX does not keep.
func (s *source) ucxNotes() []string {
	if s.ucx == nil {
		return nil
	}
	var out []string
	if slices.ContainsFunc(slices.Collect(maps.Values(s.ucx.sends)), func(list []ucxSend) bool { return len(list) > 1 }) {
		out = append(out, "UCX keeps no order of sends: they stand in that of their requests in memory")
	}
	if s.ucx.worker.Queues().Offload {
		out = append(out, "a network card matches messages too: those that it holds are not among the unexpected ones")
	}
	return out
}
