package waitfor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// lengths finds messages that are longer than the receive that they match.
func (n *misses) lengths() {
	// Of several messages that are alike the first one matches, and nobody knows which one that
	// is: they are told of if the shortest one is too long.
	shortest := map[envelope]int64{}
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.matchedLengths(int32(i), m)
			n.eachMatched(m, func(s *sized, _ int32, _ *member) {
				if length, seen := shortest[s.envelope]; !seen || s.length < length {
					shortest[s.envelope] = s.length
				}
			})
		}
	}
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.eachMatched(m, func(s *sized, from int32, to *member) {
				if length, open := shortest[s.envelope]; open && s.length == length {
					n.tooLong(s, from, m, to)
					delete(shortest, s.envelope)
				}
			})
		}
	}
}

// eachMatched calls f with the messages to or from a member that a receive is posted for.
func (n *misses) eachMatched(m *member, f func(s *sized, from int32, to *member)) {
	for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.UnexpectedMessages} {
		ops := m.queued(class)
		for k := range ops {
			if ops[k].Status != mqs.Pending || ops[k].Internal {
				continue
			}
			s, ok := m.arrival(&ops[k])
			from, to := m.globalOf(s.source), m
			if class == mqs.PendingSends {
				if s, ok = m.send(&ops[k]); ok {
					from, to = m.rank, m.peers().member(s.dest)
				}
			}
			if ok && from >= 0 && to != nil && n.receives.match(s.envelope) {
				f(&s, from, to)
			}
		}
	}
}

// matchedLengths looks at the receives of a rank that have a message.
func (n *misses) matchedLengths(rank int32, m *member) {
	ops := m.queued(mqs.PendingReceives)
	for i := range ops {
		op := &ops[i]
		if op.Internal || op.Status == mqs.Pending || !op.ActualLength.Known || !op.DesiredLength.Known || op.ActualLength.Value <= op.DesiredLength.Value {
			continue
		}
		if from := m.globalOf(op.ActualLocalRank.Value); op.ActualLocalRank.Known && from >= 0 {
			n.truncated(rank, from, m, op.ActualTag, op.ActualLength.Value, op.DesiredLength.Value)
		}
	}
}

// tooLong looks at a message that a receive is posted for. It counts if it is
// longer than each of those that it may come to match.
func (n *misses) tooLong(s *sized, from int32, m, to *member) {
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
		if !ok || r.Status != mqs.Pending || e.lane != s.lane || e.source != mqs.AnyRank && e.source != s.source || e.tag != anyTag && e.tag != s.tag {
			continue
		}
		if !r.DesiredLength.Known {
			return
		}
		longest = max(longest, r.DesiredLength.Value)
	}
	if longest >= 0 && s.length > longest {
		n.truncated(to.rank, from, m, mqs.Known(s.tag), s.length, longest)
	}
}

func (n *misses) truncated(rank, from int32, m *member, tag mqs.Maybe[int32], length, room int64) {
	n.add(Truncation, fmt.Sprint(m.comm.label(), tag, length, room),
		fmt.Sprintf("The message from rank %d with %s on %s has %d bytes, and the receive of rank %d that it matches has room for %d (rank %d %s, rank %d %s)",
			from, tagWords(tag, false), m.comm.label(), length, rank, room, rank, n.now(rank), from, n.now(from)), rank, from)
}

// lost is messages that nobody will receive, or may not. Ranks are global.
type lost struct {
	comm     *communicator
	to, from int32
	tag      int32
}

// losses counts the messages to one rank: those that have come, and those whose
// send is pending, of which the former may have some too.
type losses struct {
	come, sent int
}

// unreceived finds messages at ranks that have left or that hang, and that have
// no receive for them.
func (n *misses) unreceived() {
	n.explain()
	counts := map[lost]losses{}
	var order []lost
	count := func(l lost, add losses) {
		if n.budget--; n.budget < 0 || n.told[l] {
			return
		}
		c, seen := counts[l]
		if !seen {
			order = append(order, l)
		}
		counts[l] = losses{c.come + add.come, c.sent + add.sent}
	}
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.eachUnmatched(m, mqs.UnexpectedMessages, func(s *sized) {
				if from := m.globalOf(s.source); from >= 0 && (n.left(m.rank) || n.hangs(m.rank) || n.ranks[m.rank].polls() && n.letters[m.rank] != nil) {
					count(lost{m.comm, m.rank, from, s.tag}, losses{come: 1})
				}
			})
			n.eachUnmatched(m, mqs.PendingSends, func(s *sized) {
				if to := m.globalOf(s.dest); to >= 0 && n.hangs(to) {
					count(lost{m.comm, to, m.rank, s.tag}, losses{sent: 1})
				}
			})
		}
	}
	slices.SortStableFunc(order, func(x, y lost) int { return cmp.Compare(x.to, y.to) })
	for _, l := range order {
		n.never(l, max(counts[l].come, counts[l].sent))
	}
}

// eachUnmatched calls f with the messages of a queue that no receive is posted for.
func (n *misses) eachUnmatched(m *member, class mqs.OpClass, f func(*sized)) {
	envelopeOf := m.arrival
	if class == mqs.PendingSends {
		envelopeOf = m.send
	}
	ops := m.queued(class)
	for i := range ops {
		if op := &ops[i]; op.Status == mqs.Pending && !op.Internal {
			if s, ok := envelopeOf(op); ok && !n.receives.match(s.envelope) {
				f(&s)
			}
		}
	}
}

// never tells of messages that nobody will receive.
func (n *misses) never(l lost, count int) {
	what := "a message"
	if count > 1 {
		what = fmt.Sprintf("%d messages", count)
	}
	what += fmt.Sprintf(" from rank %d with tag %d on %s", l.from, l.tag, l.comm.label())
	if n.left(l.to) {
		n.add(NeverReceived, fmt.Sprint(l.comm.label(), l.tag), fmt.Sprintf("Rank %d %s, but has not received %s (rank %d %s)",
			l.to, n.now(l.to), what, l.from, n.now(l.from)), l.to, l.from)
		return
	}
	if !n.hangs(l.to) {
		n.add(NeverReceived, l.comm.label()+n.now(l.to), fmt.Sprintf("Rank %d, which asks for messages with %s and %s, has posted no receive for %s (rank %d %s)",
			l.to, n.ranks[l.to].polled, n.now(l.to), what, l.from, n.now(l.from)), l.to, l.from)
		return
	}
	n.add(NeverReceived, l.comm.label()+n.now(l.to), fmt.Sprintf("Rank %d hangs, and has posted no receive for %s (rank %d %s, rank %d %s)",
		l.to, what, l.to, n.now(l.to), l.from, n.now(l.from)), l.to, l.from)
}

// explain notes the messages that need no more words, since that their senders
// wait for them to be received is a part of what explains a hang.
func (n *misses) explain() {
	for _, rank := range n.suspects {
		for _, w := range n.ranks[rank].waits {
			for i := range w.goals {
				g := &w.goals[i]
				if g.op == nil || g.class != mqs.PendingSends || g.rank < 0 || !n.hangs(rank) {
					continue
				}
				// What is sent into a circle from outside is no part of it.
				if n.locked[rank] || !n.locked[g.rank] || n.left(g.rank) {
					n.told[lost{g.of.comm, g.rank, rank, g.op.DesiredTag.Value}] = true
				}
			}
		}
	}
}
