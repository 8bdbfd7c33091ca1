package waitfor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// orphan is a message that no posted receive matches.
type orphan struct {
	from   int32 // global
	tag    int32
	comm   *communicator
	isSent bool // it is known from the sender's queue; else it is an unexpected message
}

// orphans are the orphans to one rank, the first one for each key. No receive matches any of them, so
// one from the right source on the right communicator must have another tag.
type orphans struct {
	of     mqs.Maybe[int32]     // the rank
	byComm map[orphanKey]orphan // keys have a communicator
	byTag  map[orphanKey]orphan // keys have a tag, and no communicator
}

// orphanKey is what orphans have in common. A source of [mqs.AnyRank], a tag of anyTag and a nil
// communicator stand for all.
type orphanKey struct {
	from, tag int32
	comm      *communicator
}

// sentMessage is a pending send that no posted receive matches.
type sentMessage struct {
	to, tag int32
	from    *member
	unsent  bool // something of it is yet to leave its sender
}

// emptied returns a map that has nothing in it: the same one if it is small, since to clear one takes as long as it has ever
// been large.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > 100 {
		return map[K]V{}
	}
	clear(m)
	return m
}

// collectSent finds the pending sends to all suspects.
func (n *misses) collectSent() {
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.eachUnmatched(m, mqs.PendingSends, func(op *mqs.PendingOperation, s *sizedEnvelope) {
				if to := m.globalOf(s.dest); n.isSuspect(to) {
					n.sent = append(n.sent, sentMessage{to, s.tag, m, isUnsent(op)})
				}
			})
		}
	}
	slices.SortStableFunc(n.sent, func(a, b sentMessage) int { return cmp.Compare(a.to, b.to) })
}

func (n *misses) isSuspect(rank int32) bool {
	_, is := slices.BinarySearch(n.suspects, rank)
	return is
}

// sentTo are the pending sends to a suspect, by sender.
func (n *misses) sentTo(rank int32) []sentMessage {
	byReceiver := func(s sentMessage, to int32) int { return cmp.Compare(s.to, to) }
	from, _ := slices.BinarySearchFunc(n.sent, rank, byReceiver)
	to, _ := slices.BinarySearchFunc(n.sent, rank+1, byReceiver)
	return n.sent[from:to]
}

// orphansTo finds the orphans to a suspect: unexpected messages, and other ranks' pending sends. They are good until another
// rank's are asked for.
func (n *misses) orphansTo(rank int32) *orphans {
	to := &n.orphans
	if to.of == mqs.Known(rank) {
		return to
	}
	*to = orphans{mqs.Known(rank), emptied(to.byComm), emptied(to.byTag)}
	for _, m := range n.ranks[rank].members {
		n.eachUnmatched(m, mqs.UnexpectedMessages, func(_ *mqs.PendingOperation, s *sizedEnvelope) {
			if from := m.globalOf(s.source); from >= 0 {
				to.add(orphan{from, s.tag, m.comm, false})
			}
		})
	}
	for _, s := range n.sentTo(rank) {
		to.add(orphan{s.from.rank, s.tag, s.from.comm, true})
	}
	return to
}

func (ls *orphans) add(l orphan) {
	keep := func(in map[orphanKey]orphan, key orphanKey) {
		if _, is := in[key]; !is {
			in[key] = l
		}
	}
	keep(ls.byComm, orphanKey{l.from, anyTag, l.comm})
	keep(ls.byTag, orphanKey{l.from, l.tag, nil})
	keep(ls.byTag, orphanKey{l.from, anyTag, nil})
	if !l.isSent { // a message that has yet to come has not come from another source
		keep(ls.byComm, orphanKey{mqs.AnyRank, anyTag, l.comm})
		keep(ls.byComm, orphanKey{mqs.AnyRank, l.tag, l.comm})
		keep(ls.byTag, orphanKey{mqs.AnyRank, l.tag, nil})
		keep(ls.byTag, orphanKey{mqs.AnyRank, anyTag, nil})
	}
}

// on returns an orphan on a communicator.
func (ls *orphans) on(from, tag int32, comm *communicator) (orphan, bool) {
	l, is := ls.byComm[orphanKey{from, tag, comm}]
	return l, is
}

// anywhere returns an orphan on whatever communicator.
func (ls *orphans) anywhere(from, tag int32) (orphan, bool) {
	l, is := ls.byTag[orphanKey{from, tag, nil}]
	return l, is
}

// checkReceive looks for an orphan that differs in one thing from what a receive asks for: the tag,
// the communicator or, if the receive is waited for and there is nothing else, the source. start is
// the beginning of the sentence, which says who asks for what.
func (n *misses) checkReceive(rank int32, g *dependency, similarity, start func() string, isWaited bool) {
	e, ok := g.member.receive(g.op)
	if !ok || !g.op.DesiredTag.Known && !g.op.TagWild.Value {
		return
	}
	source := int32(mqs.AnyRank)
	if e.source != mqs.AnyRank {
		if source = g.member.globalOf(e.source); source < 0 {
			return
		}
	}
	to := n.orphansTo(rank)
	isNew := func(l orphan) bool { return isWaited || !n.reported[l.key(rank)] }
	if l, is := to.on(source, anyTag, g.member.comm); is && isNew(l) && e.tag != anyTag {
		n.reportOrphan(OtherTag, rank, l, similarity()+fmt.Sprint(l.tag), func() string {
			return start() + fmt.Sprintf(", but the one that %s has tag %d", l.origin(), l.tag)
		})
		return
	}
	if l, is := to.anywhere(source, e.tag); is && isNew(l) && l.comm != g.member.comm {
		n.reportOrphan(OtherCommunicator, rank, l, similarity()+l.comm.label(), func() string {
			return start() + fmt.Sprintf(", but the one with tag %d that %s is on %s", l.tag, l.origin(), l.comm.label())
		})
		return
	}
	if l, is := to.on(mqs.AnyRank, e.tag, g.member.comm); is && isWaited && source != mqs.AnyRank {
		n.reportOrphan(OtherSource, rank, l, similarity(), func() string {
			return start() + fmt.Sprintf(", but the one with tag %d that has come is from rank %d", l.tag, l.from)
		})
	}
}

// reportOrphan adds a near miss with an orphan. The line at which it was sent is known only if its
// sender still waits there.
func (n *misses) reportOrphan(kind Kind, rank int32, l orphan, similarity string, text func() string) {
	n.reported[l.key(rank)] = true
	n.addMismatch(kind, "", nil, similarity, func() string { return text() + fmt.Sprintf(" (rank %d %s)", l.from, n.now(l.from)) }, rank, l.from)
}

// key returns the key of an orphan to a rank.
func (l orphan) key(to int32) messageKey { return messageKey{l.comm, to, l.from, l.tag} }

func (l orphan) origin() string {
	if l.isSent {
		return fmt.Sprintf("rank %d sends", l.from)
	}
	return fmt.Sprintf("has come from rank %d", l.from)
}

// checkPosted checks the receives that a rank has posted, and for which it does not wait or is not
// known to. Many a correct program leaves a receive from any source open, or has an early message
// from a rank that goes on. So only receives from a rank count that waits, polls or has left.
func (n *misses) checkPosted(rank int32) {
	r := &n.ranks[rank]
	seen := map[*mqs.PendingOperation]bool{}
	for _, w := range r.waits {
		for _, g := range w.deps {
			seen[g.op] = true
		}
	}
	for _, m := range r.members {
		ops := m.queued(mqs.PendingReceives)
		for i := range ops {
			op := &ops[i]
			if op.Status != mqs.Pending || op.Internal || op.IsPartitioned() || seen[op] {
				continue
			}
			from := m.globalOf(op.DesiredLocalRank.Value)
			if !op.DesiredLocalRank.Known || !n.isIdle(from) {
				continue
			}
			g := &dependency{op: op, member: m, class: mqs.PendingReceives}
			n.checkReceive(rank, g, func() string { return n.now(rank) + n.similarityKey(&wait{}, g) }, func() string {
				return fmt.Sprintf("Rank %d, which %s, has a receive posted for a message %s", rank, n.now(rank), messageWords(g))
			}, false)
		}
	}
}

// checkProbe checks a probe of which too little is known to match messages with it: in a stripped
// library its communicator may not be known, nor its source and tag.
func (n *misses) checkProbe(rank int32, w *wait) {
	if w.thread == nil || w.unknown != commUnknown && w.unknown != tagUnknown && w.unknown != fromUnknown || behaviours[w.thread.Call] != probes && !isProbeCall(w.thread.Call) {
		return
	}
	to, tag := n.orphansTo(rank), w.thread.Tag
	l, is := to.anywhere(mqs.AnyRank, anyTag)
	_, isAsked := to.anywhere(mqs.AnyRank, tag.Value)
	where := callWords(w.thread)
	switch {
	case !is, tag.Known && tag.Value < 0:
	case !tag.Known:
		n.reportOrphan(NeverReceived, rank, l, where, func() string {
			return fmt.Sprintf("Rank %d waits in %s, for which message is not known, and has posted no receive for a message from rank %d with tag %d on %s",
				rank, where, l.from, l.tag, l.comm.label())
		})
	case !isAsked:
		n.reportOrphan(OtherTag, rank, l, where+fmt.Sprint(tag.Value, l.tag), func() string {
			return fmt.Sprintf("Rank %d waits in %s for a message with tag %d on a communicator that is not known, but the one that %s has tag %d on %s",
				rank, where, tag.Value, l.origin(), l.tag, l.comm.label())
		})
	}
}
