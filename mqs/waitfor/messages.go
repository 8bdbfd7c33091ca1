package waitfor

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// anyTag stands for any tag in an envelope. The library's own tags may be negative, but none is that
// low.
const anyTag = math.MinInt32

// envelope is what messages are matched by. Its ranks are local ranks.
type envelope struct {
	// channel stands for the communicator, the side of it to which the message goes, and whether it
	// is the program's message or the library's: these never match each other.
	channel      int32
	dest, source int32 // source may be [mqs.AnyRank]
	tag          int32 // may be anyTag
}

// channel returns the channel of messages to one side of a communicator.
func (c *communicator) channel(to int, internal bool) int32 {
	l := (c.id*2 + int32(to)) * 2
	if internal {
		l++
	}
	return l
}

// sizedEnvelope is an envelope and the message's length in bytes, -1 if that is not known.
type sizedEnvelope struct {
	envelope
	length int64
}

// messages counts messages by their envelopes.
type messages struct {
	of map[envelope]lengths
	// wild has the envelopes of receives from any source or with any tag that messages match. It is made when the first such
	// receive is looked for: most jobs have none.
	wild map[envelope]bool
}

// lengths counts the messages of one envelope, all of them and those of the length of the first, and has the others' counts.
type lengths struct {
	all, first int32
	length     int64
	others     map[int64]int32
}

func newMessages() messages { return messagesOf(0) }

// messagesOf has room for so many envelopes.
func messagesOf(envelopes int) messages { return messages{of: make(map[envelope]lengths, envelopes)} }

// add counts a message.
func (t *messages) add(m sizedEnvelope) {
	l := t.of[m.envelope]
	if l.all == 0 {
		l.length = m.length
	}
	l.all++
	switch {
	case l.length == m.length:
		l.first++
	case l.others == nil:
		l.others = map[int64]int32{m.length: 1}
	default:
		l.others[m.length]++
	}
	t.of[m.envelope], t.wild = l, nil
}

// mark counts a message of which the length does not matter.
func (t *messages) mark(e envelope) { t.add(sizedEnvelope{e, -1}) }

// match says whether there is a message that a receive with this envelope matches.
func (t *messages) match(e envelope) bool {
	if e.source != mqs.AnyRank && e.tag != anyTag || len(t.of) == 0 {
		return t.of[e].all > 0
	}
	if t.wild == nil {
		t.wild = map[envelope]bool{}
		for m := range t.of {
			from, any := m, m
			from.tag, any.tag = anyTag, anyTag
			any.source, m.source = mqs.AnyRank, mqs.AnyRank
			t.wild[m], t.wild[from], t.wild[any] = true, true, true
		}
	}
	return t.wild[e]
}

// exactly counts the messages with the same envelope and the same length.
func (t *messages) exactly(m sizedEnvelope) int32 {
	l := t.of[m.envelope]
	if l.length == m.length {
		return l.first
	}
	return l.others[m.length]
}

// countAlike counts the messages that may be this one: those with the same envelope and the same
// length, as far as lengths are known.
func (t *messages) countAlike(m sizedEnvelope) int32 {
	if m.length < 0 {
		return t.of[m.envelope].all
	}
	n := t.exactly(m)
	m.length = -1
	return n + t.exactly(m)
}

// isRendezvous says whether the sender of an unexpected message waits until a receive matches it.
// Its send is pending as long as the message is unexpected.
func isRendezvous(op *mqs.PendingOperation) bool {
	return op.MessageID.Known || slices.Contains(op.ExtraText, mqs.Rendezvous)
}

// postedReceives counts receives by their envelopes.
type postedReceives map[envelope]int32

// match says whether a receive is posted that a message with this envelope matches.
func (t postedReceives) match(e envelope) bool {
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

// isPosted says whether a receive is posted that a message with this envelope matches. Most jobs have none with wildcards.
func (j *job) isPosted(e envelope) bool {
	return j.receives[e] > 0 || j.wildReceives && j.receives.match(e)
}

// receive returns the envelope that a receive or a probe of a member asks for; false if it is not
// known. A tag that is not known may be any tag.
func (m *member) receive(op *mqs.PendingOperation) (envelope, bool) {
	e := envelope{m.comm.channel(m.side, op.Internal), m.local, op.DesiredLocalRank.Value, op.DesiredTag.Value}
	if isAnyTag(op) || !op.DesiredTag.Known {
		e.tag = anyTag
	}
	return e, m.comm.known && m.local >= 0 && op.DesiredLocalRank.Known
}

func isAnyTag(op *mqs.PendingOperation) bool { return op.TagWild.Known && op.TagWild.Value }

// hasTag says whether it is known which tags a receive matches.
func hasTag(op *mqs.PendingOperation) bool { return isAnyTag(op) || op.DesiredTag.Known }

// send returns the envelope of a member's send; false if it is not known.
func (m *member) send(op *mqs.PendingOperation) (sizedEnvelope, bool) {
	to := m.comm.across(m.side)
	e := envelope{m.comm.channel(to, op.Internal), op.DesiredLocalRank.Value, m.local, op.DesiredTag.Value}
	return sizedEnvelope{e, lengthOf(op)}, m.comm.known && m.local >= 0 && op.DesiredLocalRank.Known && op.DesiredLocalRank.Value >= 0 && op.DesiredTag.Known
}

// arrival returns the envelope of an unexpected message at a member; false if it is not known.
func (m *member) arrival(op *mqs.PendingOperation) (sizedEnvelope, bool) {
	source, tag := firstKnown(op.ActualLocalRank, op.DesiredLocalRank), firstKnown(op.ActualTag, op.DesiredTag)
	e := envelope{m.comm.channel(m.side, op.Internal), m.local, source.Value, tag.Value}
	return sizedEnvelope{e, lengthOf(op)}, m.comm.known && m.local >= 0 && source.Known && source.Value >= 0 && tag.Known
}

func firstKnown[T any](a, b mqs.Maybe[T]) mqs.Maybe[T] {
	if a.Known {
		return a
	}
	return b
}

// lengthOf returns the length of a message in bytes; -1 if it is not known.
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

// messages counts what is pending in the whole job, by envelope.
func (j *job) messages() {
	var pending [3]int
	for i := range j.ranks {
		for _, m := range j.ranks[i].members {
			for _, class := range mqs.OpClasses {
				pending[class] += len(m.queued(class))
			}
		}
	}
	// To grow a map of millions takes longer than to fill it.
	j.unexpected, j.sends, j.onTheWay = messagesOf(pending[mqs.UnexpectedMessages]), messagesOf(pending[mqs.PendingSends]), newMessages()
	j.receives = make(postedReceives, pending[mqs.PendingReceives])
	j.rendezvous, j.buffered = newMessages(), newMessages()
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
						continue // it matches no ordinary message
					}
					switch ops[k].Status {
					case mqs.Complete:
						if s, ok := m.send(&ops[k]); ok && class == mqs.PendingSends && isBuffered(&ops[k]) {
							j.buffered.add(s)
						}
					case mqs.Matched:
					case mqs.Pending:
						if !j.countPending(m, class, &ops[k]) {
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
		j.vagueSend = j.vagueSend || j.ranks[i].vague[mqs.PendingSends]
	}
	for i := range j.ranks {
		for _, m := range j.ranks[i].members {
			j.traffic(m)
		}
	}
}

// countPending counts a pending operation. It returns false if its envelope is not known.
func (j *job) countPending(m *member, class mqs.OpClass, op *mqs.PendingOperation) bool {
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
			j.wildReceives = j.wildReceives || e.source == mqs.AnyRank || e.tag == anyTag
		}
		return ok
	}
	s, ok := m.arrival(op)
	if ok {
		j.unexpected.add(s)
	}
	if ok && isRendezvous(op) {
		j.rendezvous.add(s)
	}
	return ok
}

// lieUnmatched says whether the messages of all of a rank's pending sends like this one are known to
// be unexpected at the receiver: as many there have senders that wait. Messages whose senders do not
// wait prove nothing: one of them may be there while a message of these sends has matched, and its
// sender has yet to be told.
func (j *job) lieUnmatched(r *rank, s sizedEnvelope) bool {
	return s.length >= 0 && !r.vague[mqs.PendingSends] && j.rendezvous.exactly(s) >= j.sends.countAlike(s)+j.buffered.countAlike(s)
}

// isBuffered says whether a send is complete for its program as soon as its data is buffered. Its
// message may still be on its way.
func isBuffered(op *mqs.PendingOperation) bool { return strings.Contains(op.Kind, "bsend") }

// traffic compares what a member has counted with its peers' counts. If the sender's and the
// receiver's counts differ, a message is on its way.
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
			j.onTheWay.mark(envelope{m.comm.channel(peer.side, false), t.Peer, m.local, anyTag})
		}
		// A peer that has no entry for this member will not find the difference itself.
		if !both && t.Arrived != 0 {
			j.onTheWay.mark(envelope{m.comm.channel(m.side, false), m.local, t.Peer, anyTag})
		}
	}
}

// countOf returns what a member has counted of a peer, and whether there was any traffic.
func (m *member) countOf(peer int32) (mqs.Traffic, bool) {
	i, ok := slices.BinarySearchFunc(m.counts, peer, func(t mqs.Traffic, p int32) int { return cmp.Compare(t.Peer, p) })
	if ok {
		return m.counts[i], true
	}
	return mqs.Traffic{}, false
}

// settled says whether both sides count messages and their counts agree, so that nothing is on its
// way from a member to its peer.
func (j *job) settled(from *member, to *member) bool {
	return from.Traffic != nil && to.Traffic != nil &&
		!j.onTheWay.match(envelope{from.comm.channel(to.side, false), to.local, from.local, anyTag})
}
