package waitfor

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// checkLengths finds messages that are longer than the receives that they match.
func (n *misses) checkLengths() {
	// The first one of several messages with the same envelope matches, and nobody knows which one
	// that is. So they are reported only if the shortest one is too long.
	shortest := map[envelope]int64{}
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.checkMatched(int32(i), m)
			n.eachMatched(m, func(s *sizedEnvelope, _ int32, _ *member) {
				if length, seen := shortest[s.envelope]; !seen || s.length < length {
					shortest[s.envelope] = s.length
				}
			})
		}
	}
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.eachMatched(m, func(s *sizedEnvelope, from int32, to *member) {
				if length, open := shortest[s.envelope]; open && s.length == length {
					n.checkLength(s, from, m, to)
					delete(shortest, s.envelope)
				}
			})
		}
	}
}

// eachMatched calls f with the messages to or from a member that match a posted receive.
func (n *misses) eachMatched(m *member, f func(s *sizedEnvelope, from int32, to *member)) {
	for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.UnexpectedMessages} {
		ops := m.queued(class)
		for k := range ops {
			if ops[k].Status != mqs.Pending || ops[k].Internal || ops[k].IsPartitioned() {
				continue
			}
			s, ok := m.arrival(&ops[k])
			from, to := m.globalOf(s.source), m
			if class == mqs.PendingSends {
				if s, ok = m.send(&ops[k]); ok {
					from, to = m.rank, m.peers().member(s.dest)
				}
			}
			if ok && from >= 0 && to != nil && n.isPosted(s.envelope) {
				f(&s, from, to)
			}
		}
	}
}

// checkMatched checks the receives of a rank that have matched a message.
func (n *misses) checkMatched(rank int32, m *member) {
	ops := m.queued(mqs.PendingReceives)
	for i := range ops {
		op := &ops[i]
		if op.Internal || op.Status == mqs.Pending || !op.ActualLength.Known || !op.DesiredLength.Known || op.ActualLength.Value <= op.DesiredLength.Value {
			continue
		}
		if from := m.globalOf(op.ActualLocalRank.Value); op.ActualLocalRank.Known && from >= 0 {
			n.reportTruncation(rank, from, m, op.ActualTag, op.ActualLength.Value, op.DesiredLength.Value)
		}
	}
}

// checkLength reports a message that is longer than each of the posted receives that it may match.
func (n *misses) checkLength(s *sizedEnvelope, from int32, m, to *member) {
	if s.length < 0 {
		return
	}
	longest := int64(-1)
	recvs := to.queued(mqs.PendingReceives)
	for i := range recvs {
		if n.budget--; n.budget < 0 {
			return
		}
		r := &recvs[i]
		e, ok := to.receive(r)
		if !ok || r.Status != mqs.Pending || e.channel != s.channel || e.source != mqs.AnyRank && e.source != s.source || e.tag != anyTag && e.tag != s.tag {
			continue
		}
		if !r.DesiredLength.Known {
			return
		}
		longest = max(longest, r.DesiredLength.Value)
	}
	if longest >= 0 && s.length > longest {
		n.reportTruncation(to.rank, from, m, mqs.Known(s.tag), s.length, longest)
	}
}

func (n *misses) reportTruncation(rank, from int32, m *member, tag mqs.Maybe[int32], length, room int64) {
	n.add(Truncation, fmt.Sprint(m.comm.label(), tag, length, room),
		fmt.Sprintf("The message from rank %d with %s on %s has %d bytes, and the receive of rank %d that it matches has room for %d (rank %d %s, rank %d %s)",
			from, tagWords(tag, false), m.comm.label(), length, rank, room, rank, n.now(rank), from, n.now(from)), rank, from)
}

// messageKey tells messages apart that nobody may receive. Its ranks are global ranks.
type messageKey struct {
	comm     *communicator
	to, from int32
	tag      int32
}

// unreceived are messages with the same key: those that have arrived, and those whose send is
// pending. A message may be in both counts.
type unreceived struct {
	messageKey
	arrived, sent int
}

// findUnreceived finds messages to ranks that have left or hang, and have no receive for them.
func (n *misses) findUnreceived() {
	n.markExplained()
	var found []unreceived // by one rank
	index := map[messageKey]int{}
	count := func(l messageKey, arrived, sent int) {
		if n.budget--; n.budget < 0 || n.reported[l] {
			return
		}
		at, seen := index[l]
		if !seen {
			at = len(found)
			index[l] = at
			found = append(found, unreceived{messageKey: l})
		}
		found[at].arrived += arrived
		found[at].sent += sent
	}
	for i := range n.ranks {
		rank := int32(i)
		var sent []sentMessage
		if n.hangs(rank) {
			sent = n.sentTo(rank)
		}
		if !n.hangs(rank) && !n.hasLeft(rank) && (!n.ranks[i].polls() || !n.isSuspect(rank)) {
			continue
		}
		found = found[:0]
		index = emptied(index)
		// In the order of those who have them in a queue.
		countSent := func(isBefore func(from *member) bool) {
			for ; len(sent) > 0 && isBefore(sent[0].from); sent = sent[1:] {
				if s := &sent[0]; !s.unsent {
					count(messageKey{s.from.comm, rank, s.from.rank, s.tag}, 0, 1)
				}
			}
		}
		countSent(func(from *member) bool { return from.rank < rank })
		for _, m := range n.ranks[i].members {
			n.eachUnmatched(m, mqs.UnexpectedMessages, func(_ *mqs.PendingOperation, s *sizedEnvelope) {
				if from := m.globalOf(s.source); from >= 0 {
					count(messageKey{m.comm, rank, from, s.tag}, 1, 0)
				}
			})
			countSent(func(from *member) bool { return from == m })
		}
		countSent(func(*member) bool { return true })
		for k := range found {
			n.reportUnreceived(found[k].messageKey, max(found[k].arrived, found[k].sent))
		}
	}
}

// eachUnmatched calls f with the messages of a queue that no posted receive matches.
func (n *misses) eachUnmatched(m *member, class mqs.OpClass, f func(*mqs.PendingOperation, *sizedEnvelope)) {
	envelopeOf := m.arrival
	if class == mqs.PendingSends {
		envelopeOf = m.send
	}
	ops := m.queued(class)
	for i := range ops {
		if op := &ops[i]; op.Status == mqs.Pending && !op.Internal && !op.IsPartitioned() {
			if s, ok := envelopeOf(op); ok && !n.isPosted(s.envelope) {
				f(op, &s)
			}
		}
	}
}

// reportUnreceived reports messages that nobody will receive.
func (n *misses) reportUnreceived(l messageKey, count int) {
	what := func() string {
		what := "a message"
		if count > 1 {
			what = fmt.Sprintf("%d messages", count)
		}
		return what + fmt.Sprintf(" from rank %d with tag %d on %s", l.from, l.tag, l.comm.label())
	}
	similarity, text := l.comm.label()+n.now(l.to), func() string {
		return fmt.Sprintf("Rank %d hangs, and has posted no receive for %s (rank %d %s, rank %d %s)",
			l.to, what(), l.to, n.now(l.to), l.from, n.now(l.from))
	}
	switch {
	case n.hasLeft(l.to):
		similarity, text = fmt.Sprint(l.comm.label(), l.tag), func() string {
			return fmt.Sprintf("Rank %d %s, but has not received %s (rank %d %s)", l.to, n.now(l.to), what(), l.from, n.now(l.from))
		}
	case !n.hangs(l.to):
		text = func() string {
			return fmt.Sprintf("Rank %d, which asks for messages with %s and %s, has posted no receive for %s (rank %d %s)",
				l.to, n.ranks[l.to].polled, n.now(l.to), what(), l.from, n.now(l.from))
		}
	}
	n.addMismatch(NeverReceived, "", nil, similarity, text, l.to, l.from)
}

// markExplained marks messages that need no sentence of their own: that their senders wait for them
// to be received is already a part of what explains the hang.
func (n *misses) markExplained() {
	for _, rank := range n.suspects {
		for _, w := range n.ranks[rank].waits {
			for i := range w.deps {
				g := &w.deps[i]
				if g.op == nil || g.class != mqs.PendingSends || g.rank < 0 || !n.hangs(rank) {
					continue
				}
				// A message into a deadlock from outside is no part of it.
				if n.inDeadlock[rank] || !n.inDeadlock[g.rank] || n.hasLeft(g.rank) {
					n.reported[messageKey{g.member.comm, g.rank, rank, g.op.DesiredTag.Value}] = true
				}
			}
		}
	}
}
