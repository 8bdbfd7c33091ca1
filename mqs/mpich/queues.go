package mpich

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Operations yields one queue of a communicator.
func (s *source) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		state, ok := s.comms[c.UniqueID]
		if !ok {
			yield(mqs.PendingOperation{}, fmt.Errorf("no communicator %s", c.UniqueID))
			return
		}
		s.allRequests()
		switch class {
		case mqs.PendingSends:
			s.yieldSends(state, yield)
		case mqs.PendingReceives:
			s.yieldReceives(state, yield)
		case mqs.UnexpectedMessages:
			s.yieldUnexpected(state, yield)
		}
	}
}

type yielder = func(mqs.PendingOperation, error) bool

// yieldSends yields the sends in the order of posting as far as the debugger's
// queue tells it: older first.
func (s *source) yieldSends(c *commState, yield yielder) {
	sends := ofComm(s.requests.sends, c)
	slices.SortStableFunc(sends, func(a, b *requestAt) int { return cmp.Compare(age(b), age(a)) })
	shown, ordered := 0, 0
	for _, r := range sends {
		op := s.send(c, r)
		if op.Kind == "bsend" && r.complete() && r.RefCount == 1 {
			continue // sent, and the program knows of no request: the library has yet to notice
		}
		if !op.Internal {
			shown++
			if r.noted != nil || slices.Contains(s.requests.toSelf, r) {
				ordered++
			}
		}
		if !yield(op, nil) {
			return
		}
	}
	if shown > 1 && ordered < shown {
		s.unorderedSends = true
	}
	if !s.yieldPartitioned(c, kindPartitionedSend, yield) {
		return
	}
	err := s.requests.err
	if err == nil && s.strayed > 0 && !c.isSelf() {
		err = fmt.Errorf("of this process's pending sends, a network library has %d, and MPICH does not keep which communicator they are on", s.strayed)
	}
	if err != nil {
		yield(mqs.PendingOperation{}, err)
	}
}

// age is higher for what was posted earlier; what is in no queue comes first.
func age(r *requestAt) int {
	if r.noted == nil {
		return int(^uint(0) >> 1)
	}
	return r.noted.age
}

// yieldReceives yields the receives that have matched, and then the others in
// the order in which they will be matched.
func (s *source) yieldReceives(c *commState, yield yielder) {
	q := s.requests
	if q.postedErr != nil {
		// What has matched can't be told from what has not.
		yield(mqs.PendingOperation{}, q.postedErr)
		return
	}
	for _, r := range ofComm(q.recvs, c) {
		if !q.isPosted[r.at] && !yield(s.receive(c, r), nil) {
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
	if err := cmp.Or(q.err, s.device.elsewhere(c)); err != nil {
		yield(mqs.PendingOperation{}, err)
	}
}

// yieldUnexpected yields the messages that no receive has matched, and those
// that MPI_Mprobe has taken.
func (s *source) yieldUnexpected(c *commState, yield yielder) {
	q := s.requests
	for _, r := range q.unexpected {
		m := s.device.arrived(r)
		// A message names the receiver's context alone, which no other
		// communicator receives with, and nothing else here is of use.
		if d := m.context - c.RecvContext; d > contextCollective {
			continue
		}
		if !yield(s.arrival(c, r, m), nil) {
			return
		}
	}
	for _, r := range s.toSelf(c) {
		if !yield(s.arrival(c, r, s.device.arrived(r)), nil) {
			return
		}
	}
	if d, ok := s.device.(*ch4ucx); ok {
		for _, m := range d.messages[c.RecvContext] {
			if !yield(messageInUCX(c.model, m), nil) {
				return
			}
		}
		if err := d.queues.unexpectedErr; err != nil {
			yield(mqs.PendingOperation{}, err)
			return
		}
	}
	for _, r := range ofComm(q.held, c) {
		op := s.arrival(c, r, s.device.arrived(r))
		op.Status = mqs.Matched
		op.ExtraText = []string{"taken by MPI_Mprobe, not received yet"}
		if !yield(op, nil) {
			return
		}
	}
	if err := cmp.Or(q.unexpectedErr, q.err, s.device.elsewhere(c)); err != nil {
		yield(mqs.PendingOperation{}, err)
	}
}

// toSelf are the sends on a communicator of one process that no receive has matched: with ch4 they
// wait at the sender, which is here.
func (s *source) toSelf(c *commState) []*requestAt {
	if !c.isSelf() || s.device.name() != "ch4" {
		return nil
	}
	held := map[inferior.Addr]bool{}
	for _, r := range ofComm(s.requests.held, c) {
		held[s.device.arrived(r).request] = true
	}
	return slices.DeleteFunc(ofComm(s.requests.sends, c), func(r *requestAt) bool { return r.complete() || held[r.at] })
}

// ofComm picks the requests on a communicator.
func ofComm(list []*requestAt, c *commState) []*requestAt {
	var out []*requestAt
	for _, r := range list {
		if r.Comm == c.addr {
			out = append(out, r)
		}
	}
	return out
}
