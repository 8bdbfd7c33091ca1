package waitfor

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// anyTag stands for any tag in an envelope: tags of the library's own may be
// negative, but none is that low.
const anyTag = math.MinInt32

// envelope is what messages are matched by. Ranks are local ones.
type envelope struct {
	// lane is the communicator, which of its sides the message goes to, and
	// whether it is the program's or the library's own: these never match each other.
	lane         int32
	dest, source int32 // source may be [mqs.AnyRank]
	tag          int32 // may be anyTag
}

// lane is that of messages to one side of a communicator.
func (c *communicator) lane(to int, internal bool) int32 {
	l := (c.id*2 + int32(to)) * 2
	if internal {
		l++
	}
	return l
}

// sized is an envelope and the message's length, -1 if that is not known.
type sized struct {
	envelope
	length int64
}

// messages counts messages by envelope, and by what a receive may ask for.
type messages struct {
	matching map[envelope]int32
	exactly  map[sized]int32
}

func newMessages() messages { return messages{map[envelope]int32{}, map[sized]int32{}} }

// add counts a message.
func (t *messages) add(m sized) {
	t.exactly[m]++
	t.mark(m.envelope)
}

// mark makes a message known to receives of every kind.
func (t *messages) mark(e envelope) {
	wild := e
	wild.source = mqs.AnyRank
	t.matching[e]++
	t.matching[wild]++
	if e.tag != anyTag {
		e.tag, wild.tag = anyTag, anyTag
		t.matching[e]++
		t.matching[wild]++
	}
}

// any says whether there is a message that a receive of this envelope matches.
func (t *messages) any(e envelope) bool { return t.matching[e] > 0 }

// like counts messages that may be this one: of the same length as far as lengths are known.
func (t *messages) like(m sized) int32 {
	if m.length < 0 {
		return t.matching[m.envelope]
	}
	n := t.exactly[m]
	m.length = -1
	return n + t.exactly[m]
}

// asks says whether the sender of an unexpected message waits until a receive matches it:
// as long as it lies there, that send is pending.
func asks(op *mqs.PendingOperation) bool {
	return op.MessageID.Known || slices.Contains(op.ExtraText, mqs.Rendezvous)
}

// posted counts receives by their envelopes.
type posted map[envelope]int32

// match says whether a receive is posted that a message of this envelope matches.
func (t posted) match(e envelope) bool {
	if len(t) == 0 {
		return false
	}
	wild := e
	wild.source = mqs.AnyRank
	if t[e] > 0 || t[wild] > 0 {
		return true
	}
	e.tag, wild.tag = anyTag, anyTag
	return t[e] > 0 || t[wild] > 0
}

// receive is the envelope that a receive or a probe of a member asks for; false
// if it is not known. A tag that is not known may be any.
func (m *member) receive(op *mqs.PendingOperation) (envelope, bool) {
	e := envelope{m.comm.lane(m.side, op.Internal), m.local, op.DesiredLocalRank.Value, op.DesiredTag.Value}
	if isAnyTag(op) || !op.DesiredTag.Known {
		e.tag = anyTag
	}
	return e, m.comm.known && m.local >= 0 && op.DesiredLocalRank.Known
}

func isAnyTag(op *mqs.PendingOperation) bool { return op.TagWild.Known && op.TagWild.Value }

// hasTag says whether it is known which tags a receive matches.
func hasTag(op *mqs.PendingOperation) bool { return isAnyTag(op) || op.DesiredTag.Known }

// send is the envelope of a send of a member; false if it is not known.
func (m *member) send(op *mqs.PendingOperation) (sized, bool) {
	to := m.comm.across(m.side)
	e := envelope{m.comm.lane(to, op.Internal), op.DesiredLocalRank.Value, m.local, op.DesiredTag.Value}
	return sized{e, lengthOf(op)}, m.comm.known && m.local >= 0 && op.DesiredLocalRank.Known && op.DesiredLocalRank.Value >= 0 && op.DesiredTag.Known
}

// arrival is the envelope of an unexpected message at a member; false if it is not known.
func (m *member) arrival(op *mqs.PendingOperation) (sized, bool) {
	source, tag := firstKnown(op.ActualLocalRank, op.DesiredLocalRank), firstKnown(op.ActualTag, op.DesiredTag)
	e := envelope{m.comm.lane(m.side, op.Internal), m.local, source.Value, tag.Value}
	return sized{e, lengthOf(op)}, m.comm.known && m.local >= 0 && source.Known && source.Value >= 0 && tag.Known
}

func firstKnown[T any](a, b mqs.Maybe[T]) mqs.Maybe[T] {
	if a.Known {
		return a
	}
	return b
}

// lengthOf is the length of a message, -1 if not known.
func lengthOf(op *mqs.PendingOperation) int64 {
	if l := firstKnown(op.ActualLength, op.DesiredLength); l.Known {
		return l.Value
	}
	return -1
}

// queued returns the operations of a queue of a member.
func (m *member) queued(class mqs.OpClass) []mqs.PendingOperation {
	if q := m.Queue[class]; q != nil {
		return q.Operations
	}
	return nil
}

// readable says whether a queue of a member was read.
func (m *member) readable(class mqs.OpClass) bool {
	return m.Queue[class] != nil && m.Queue[class].Unavailable == ""
}

// cut says whether a queue may have more than is in the snapshot.
func (m *member) cut(class mqs.OpClass) bool {
	q := m.Queue[class]
	return q != nil && (q.Incomplete || q.Total > len(q.Operations))
}

// messages collects what is pending in the whole job, by envelope.
func (j *job) messages() {
	j.unexpected, j.sends, j.receives, j.onTheWay = newMessages(), newMessages(), posted{}, newMessages()
	j.asking, j.buffered = newMessages(), newMessages()
	for i := range j.ranks {
		for _, m := range j.ranks[i].members {
			byPeer := func(a, b mqs.Traffic) int { return cmp.Compare(a.Peer, b.Peer) }
			if m.counts = m.Traffic; !slices.IsSortedFunc(m.counts, byPeer) {
				m.counts = slices.Clone(m.counts)
				slices.SortFunc(m.counts, byPeer)
			}
			if s := &m.comm.sides[m.side]; m.Traffic != nil && s.member(m.local) == m {
				s.counting++
			}
			for _, class := range mqs.OpClasses {
				vague := &j.ranks[i].vague[class]
				*vague = *vague || !m.readable(class) || m.cut(class)
				ops := m.queued(class)
				for k := range ops {
					if ops[k].IsPartitioned() {
						continue // no other message is for it
					}
					switch ops[k].Status {
					case mqs.Complete:
						if s, ok := m.send(&ops[k]); ok && class == mqs.PendingSends && isBuffered(&ops[k]) {
							j.buffered.add(s)
						}
					case mqs.Matched:
					case mqs.Pending:
						if !j.enter(m, class, &ops[k]) {
							*vague = true
							m.obscure = m.obscure || class == mqs.UnexpectedMessages
						}
					default:
						*vague = true
						m.obscure = m.obscure || class == mqs.UnexpectedMessages
					}
				}
			}
		}
		j.vague = j.vague || j.ranks[i].vague[mqs.PendingSends]
	}
	for i := range j.ranks {
		for _, m := range j.ranks[i].members {
			j.traffic(m)
		}
	}
}

// enter counts a pending operation, unless its envelope is not known: then it returns false.
func (j *job) enter(m *member, class mqs.OpClass, op *mqs.PendingOperation) bool {
	switch class {
	case mqs.PendingSends:
		s, ok := m.send(op)
		if ok {
			j.sends.add(s)
		}
		return ok
	case mqs.PendingReceives:
		e, ok := m.receive(op)
		if ok = ok && hasTag(op); ok {
			j.receives[e]++
		}
		return ok
	}
	s, ok := m.arrival(op)
	if ok {
		j.unexpected.add(s)
	}
	if ok && asks(op) {
		j.asking.add(s)
	}
	return ok
}

// liesThere says whether the messages of all of a rank's pending sends like this one are known
// to lie with the receiver: as many whose senders wait for them lie there. Others that are alike
// but for that may be there while one of these has matched, and its sender has yet to be told.
func (j *job) liesThere(r *rank, s sized) bool {
	return s.length >= 0 && !r.vague[mqs.PendingSends] && j.asking.exactly[s] >= j.sends.like(s)+j.buffered.like(s)
}

// isBuffered says whether a send is complete for its program as soon as its data is buffered:
// its message may be on its way yet.
func isBuffered(op *mqs.PendingOperation) bool { return strings.Contains(op.Kind, "bsend") }

// traffic holds what a member has counted against its peers' counts: where the
// sender's and the receiver's differ, a message is on its way.
func (j *job) traffic(m *member) {
	if m.local < 0 || !m.comm.known {
		return
	}
	for _, t := range m.Traffic {
		peer := m.peers().member(t.Peer)
		if peer == nil || peer.Traffic == nil {
			continue
		}
		theirs, both := peer.countOf(m.local)
		if t.Sent != theirs.Arrived {
			j.onTheWay.mark(envelope{m.comm.lane(peer.side, false), t.Peer, m.local, anyTag})
		}
		// What the peer has no entry for it will not come by itself.
		if !both && t.Arrived != 0 {
			j.onTheWay.mark(envelope{m.comm.lane(m.side, false), m.local, t.Peer, anyTag})
		}
	}
}

// countOf returns what a member has counted of a peer, and whether there was traffic at all.
func (m *member) countOf(peer int32) (mqs.Traffic, bool) {
	i, ok := slices.BinarySearchFunc(m.counts, peer, func(t mqs.Traffic, p int32) int { return cmp.Compare(t.Peer, p) })
	if ok {
		return m.counts[i], true
	}
	return mqs.Traffic{}, false
}

// settled says whether the counts of both sides are known, and are the same:
// nothing is on its way from a member to its peer.
func (j *job) settled(from *member, to *member) bool {
	return from.Traffic != nil && to.Traffic != nil &&
		!j.onTheWay.any(envelope{from.comm.lane(to.side, false), to.local, from.local, anyTag})
}
