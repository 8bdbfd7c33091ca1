package waitfor

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// lengths finds messages that are longer than the receive that they match.
func (n *misses) lengths() {
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.matchedLengths(int32(i), m)
			for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.UnexpectedMessages} {
				ops := m.queued(class)
				for k := range ops {
					if ops[k].Status == mqs.Pending && !ops[k].Internal {
						n.tooLong(m, class, &ops[k])
					}
				}
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
			n.truncated(rank, from, m, op.ActualTag.Value, op.ActualLength.Value, op.DesiredLength.Value)
		}
	}
}

// tooLong looks at a message that a receive is posted for. It counts if it is
// longer than each of those that it may come to match.
func (n *misses) tooLong(m *member, class mqs.OpClass, op *mqs.PendingOperation) {
	s, ok := m.arrival(op)
	from, to := m.globalOf(s.source), m
	if class == mqs.PendingSends {
		if s, ok = m.send(op); ok {
			from, to = m.rank, m.peers().member(s.dest)
		}
	}
	if !ok || from < 0 || to == nil || s.length < 0 || !n.receives.match(s.envelope) {
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
		n.truncated(to.rank, from, m, s.tag, s.length, longest)
	}
}

func (n *misses) truncated(rank, from int32, m *member, tag int32, length, room int64) {
	n.add(Truncation, fmt.Sprint(m.comm.label(), tag, length, room),
		fmt.Sprintf("The message from rank %d with tag %d on %s has %d bytes, and the receive of rank %d that it matches has room for %d (rank %d %s, rank %d %s)",
			from, tag, m.comm.label(), length, rank, room, rank, n.now(rank), from, n.now(from)), rank, from)
}

// unreceived finds messages at ranks that have left and so will not receive them.
func (n *misses) unreceived() {
	type key struct {
		m    *member
		from int32
		tag  int32
	}
	for i := range n.ranks {
		if !n.left(int32(i)) {
			continue
		}
		counts := map[key]int{}
		var order []key
		for _, m := range n.ranks[i].members {
			ops := m.queued(mqs.UnexpectedMessages)
			for k := range ops {
				s, ok := m.arrival(&ops[k])
				from := m.globalOf(s.source)
				if !ok || from < 0 || ops[k].Status != mqs.Pending || ops[k].Internal || n.receives.match(s.envelope) || n.hangsIn(from, &s) {
					continue
				}
				at := key{m, from, s.tag}
				if counts[at]++; counts[at] == 1 {
					order = append(order, at)
				}
			}
		}
		for _, at := range order {
			what := "a message"
			if counts[at] > 1 {
				what = fmt.Sprintf("%d messages", counts[at])
			}
			n.add(NeverReceived, fmt.Sprint(at.m.comm.label(), at.tag), fmt.Sprintf("Rank %d %s, but has not received %s from rank %d with tag %d on %s (rank %d %s)",
				i, n.now(int32(i)), what, at.from, at.tag, at.m.comm.label(), at.from, n.now(at.from)), int32(i), at.from)
		}
	}
}

// hangsIn says whether a rank hangs with the send of a message, which has then
// been told of.
func (n *misses) hangsIn(rank int32, s *sized) bool {
	if !n.hangs(rank) {
		return false
	}
	return slices.ContainsFunc(n.ranks[rank].waits, func(w wait) bool {
		return slices.ContainsFunc(w.goals, func(g goal) bool {
			if g.op == nil || g.class != mqs.PendingSends {
				return false
			}
			sent, ok := g.of.send(g.op)
			return ok && sent.envelope == s.envelope
		})
	})
}
