package mpir

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Operations yields one queue of a communicator.
func (s *Source) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		of := s.communicator(c.UniqueID)
		switch class {
		case mqs.PendingSends:
			s.yieldSends(of, yield)
		case mqs.PendingReceives:
			s.yieldReceives(of, yield)
		case mqs.UnexpectedMessages:
			s.yieldUnexpected(of, yield)
		}
	}
}

type yielder = func(mqs.PendingOperation, error) bool

// yieldSends yields the sends in the order of posting as far as the debugger's
// queue tells it: older first.
func (s *Source) yieldSends(c *Communicator, yield yielder) {
	q := s.requests()
	sends := ofComm(q.sends, c)
	slices.SortStableFunc(sends, func(a, b *Operation) int { return cmp.Compare(age(b), age(a)) })
	shown, ordered := 0, 0
	for _, r := range sends {
		op := s.send(c, r)
		if op.Kind == "bsend" && r.IsComplete() && r.RefCount == 1 {
			continue // sent, and the program knows of no request: the library has yet to notice
		}
		if !op.Internal {
			shown++
			if r.Noted != nil || slices.Contains(q.toSelf, r) {
				ordered++
			}
		}
		if !yield(op, nil) {
			return
		}
	}
	if shown > 1 && ordered < shown {
		s.remarkUnorderedSends()
	}
	if !s.yieldPartitioned(c, kindPartitionedSend, yield) {
		return
	}
	err := q.err
	if err == nil && q.unattributed > 0 && !c.IsSelf() {
		err = fmt.Errorf("of this process's pending sends, a network library has %d, and MPICH does not keep which communicator they are on", q.unattributed)
	}
	if err != nil {
		yield(mqs.PendingOperation{}, err)
	}
}

// remarkUnorderedSends says that sends were shown in another order than that of posting.
func (s *Source) remarkUnorderedSends() {
	what := "sends: they stand"
	if s.lib.Sendq.IsKept {
		what = "buffered, blocking and persistent sends: they stand before the others,"
	}
	s.lib.Remarks.Set(UnorderedSends, fmt.Sprintf("this MPICH keeps no order of %s in that of their requests in memory", what))
}

// age is higher for what was posted earlier; what is in no queue comes first.
func age(r *Operation) int {
	if r.Noted == nil {
		return int(^uint(0) >> 1)
	}
	return r.Noted.age
}

// yieldReceives yields the receives that have matched, and then the others in
// the order in which they will be matched.
func (s *Source) yieldReceives(c *Communicator, yield yielder) {
	q := s.requests()
	if q.postedErr != nil {
		// What has matched can't be told from what has not.
		yield(mqs.PendingOperation{}, q.postedErr)
		return
	}
	for _, r := range ofComm(q.receives, c) {
		if !r.IsPosted && !yield(s.receive(c, r), nil) {
			return
		}
	}
	for _, r := range ofComm(q.posted, c) {
		if !yield(s.receive(c, r), nil) {
			return
		}
	}
	if !s.yieldPartitioned(c, kindPartitionedRecv, yield) {
		return
	}
	if err := cmp.Or(q.err, s.device.Elsewhere(c)); err != nil {
		yield(mqs.PendingOperation{}, err)
	}
}

// yieldUnexpected yields the messages that no receive has matched, and those
// that MPI_Mprobe has taken.
func (s *Source) yieldUnexpected(c *Communicator, yield yielder) {
	q := s.requests()
	for _, r := range q.unexpected {
		m := s.device.Arrived(r)
		// A message names the receiver's context alone, which no other
		// communicator receives with, and nothing else here is of use.
		if d := m.Context - c.RecvContext; d > ContextCollective {
			continue
		}
		if !yield(arrival(c, r, m), nil) {
			return
		}
	}
	taken := s.taken(c)
	if !s.yieldToSelf(c, taken, yield) {
		return
	}
	beneath, err := s.device.Messages(c)
	for _, op := range beneath {
		if !yield(op, nil) {
			return
		}
	}
	if err != nil {
		yield(mqs.PendingOperation{}, err)
		return
	}
	for _, t := range taken {
		if !yield(t.operation(c), nil) {
			return
		}
	}
	err = cmp.Or(q.unexpectedErr, q.err, s.device.Elsewhere(c))
	if err == nil && !c.IsSelf() { // what a process sends to itself is in another list
		err = q.strayErr
	}
	if err != nil {
		yield(mqs.PendingOperation{}, err)
	}
}

// takenMessage is a message that MPI_Mprobe has taken, and the request that it has made for it.
type takenMessage struct {
	request *Operation
	message Message
}

// operation describes the message.
func (t *takenMessage) operation(c *Communicator) mqs.PendingOperation {
	op := arrival(c, t.request, t.message)
	op.Status, op.ExtraText = mqs.Matched, []string{mqs.TakenByProbe}
	return op
}

// taken are the messages on a communicator that MPI_Mprobe has taken.
func (s *Source) taken(c *Communicator) []takenMessage {
	q := s.requests()
	var out []takenMessage
	for _, r := range ofComm(q.taken, c) {
		m := s.device.Taken(r, c)
		if m.Sender != 0 {
			sender := q.byAddr[m.Sender]
			m = Message{IsLost: true}
			if sender != nil && sender.Kind == KindSend {
				m, _ = s.device.ToSelf(sender)
			}
		}
		out = append(out, takenMessage{r, m})
	}
	return out
}

// yieldToSelf yields the messages on a communicator of one process that wait in their sends, but for those
// that were taken; false if nothing more is wanted.
func (s *Source) yieldToSelf(c *Communicator, taken []takenMessage, yield yielder) bool {
	if !c.IsSelf() {
		return true
	}
	isTaken := map[inferior.Ptr[Request]]bool{}
	for _, t := range taken {
		isTaken[t.message.Sender] = true
	}
	for _, r := range ofComm(s.requests().sends, c) {
		if m, ok := s.device.ToSelf(r); ok && !r.IsComplete() && !isTaken[r.At] && !yield(arrival(c, r, m), nil) {
			return false
		}
	}
	return true
}
