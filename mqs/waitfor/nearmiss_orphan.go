package waitfor

import (
	"fmt"

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
	byComm map[orphanKey]*orphan // keys have a communicator
	byTag  map[orphanKey]*orphan // keys have a tag, and no communicator
}

// orphanKey is what orphans have in common. A source of [mqs.AnyRank], a tag of anyTag and a nil
// communicator stand for all.
type orphanKey struct {
	from, tag int32
	comm      *communicator
}

// collectOrphans finds the orphans to all suspects: unexpected messages, and other ranks' pending
// sends.
func (n *misses) collectOrphans() {
	n.orphans = make(map[int32]*orphans, len(n.suspects))
	for _, rank := range n.suspects {
		n.orphans[rank] = &orphans{map[orphanKey]*orphan{}, map[orphanKey]*orphan{}}
	}
	for _, rank := range n.suspects {
		for _, m := range n.ranks[rank].members {
			n.eachUnmatched(m, mqs.UnexpectedMessages, func(_ *mqs.PendingOperation, s *sizedEnvelope) {
				if from := m.globalOf(s.source); from >= 0 {
					n.orphans[rank].add(orphan{from, s.tag, m.comm, false})
				}
			})
		}
	}
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.eachUnmatched(m, mqs.PendingSends, func(_ *mqs.PendingOperation, s *sizedEnvelope) {
				if to := n.orphans[m.globalOf(s.dest)]; to != nil {
					to.add(orphan{int32(i), s.tag, m.comm, true})
				}
			})
		}
	}
}

func (ls *orphans) add(l orphan) {
	keep := func(in map[orphanKey]*orphan, key orphanKey) {
		if in[key] == nil {
			in[key] = &l
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

// checkReceive looks for an orphan that differs in one thing from what a receive asks for: the tag,
// the communicator or, if the receive is waited for and there is nothing else, the source. start is
// the beginning of the sentence, which says who asks for what.
func (n *misses) checkReceive(rank int32, g *dependency, similarity, start string, isWaited bool) {
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
	to := n.orphans[rank]
	isNew := func(l *orphan) bool { return l != nil && (isWaited || !n.reported[l.key(rank)]) }
	if l := to.byComm[orphanKey{source, anyTag, g.member.comm}]; isNew(l) && e.tag != anyTag {
		n.reportOrphan(OtherTag, rank, l, similarity+fmt.Sprint(l.tag), start+fmt.Sprintf(", but the one that %s has tag %d", l.origin(), l.tag))
		return
	}
	if l := to.byTag[orphanKey{source, e.tag, nil}]; isNew(l) && l.comm != g.member.comm {
		n.reportOrphan(OtherCommunicator, rank, l, similarity+l.comm.label(), start+fmt.Sprintf(", but the one with tag %d that %s is on %s", l.tag, l.origin(), l.comm.label()))
		return
	}
	if l := to.byComm[orphanKey{mqs.AnyRank, e.tag, g.member.comm}]; isWaited && l != nil && source != mqs.AnyRank {
		n.reportOrphan(OtherSource, rank, l, similarity, start+fmt.Sprintf(", but the one with tag %d that has come is from rank %d", l.tag, l.from))
	}
}

// reportOrphan adds a near miss with an orphan. The line at which it was sent is known only if its
// sender still waits there.
func (n *misses) reportOrphan(kind Kind, rank int32, l *orphan, similarity, text string) {
	n.reported[l.key(rank)] = true
	n.add(kind, similarity, text+fmt.Sprintf(" (rank %d %s)", l.from, n.now(l.from)), rank, l.from)
}

// key returns the key of an orphan to a rank.
func (l *orphan) key(to int32) messageKey { return messageKey{l.comm, to, l.from, l.tag} }

func (l *orphan) origin() string {
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
			start := fmt.Sprintf("Rank %d, which %s, has a receive posted for a message %s", rank, n.now(rank), messageWords(g))
			n.checkReceive(rank, g, n.now(rank)+n.similarityKey(&wait{}, g), start, false)
		}
	}
}

// checkProbe checks a probe of which too little is known to match messages with it: in a stripped
// library its communicator is not known, and its tag may not be.
func (n *misses) checkProbe(rank int32, w *wait) {
	if w.thread == nil || w.unknown != commUnknown || behaviours[w.thread.Call] != probes && !isProbeCall(w.thread.Call) {
		return
	}
	to, tag := n.orphans[rank], w.thread.Tag
	l := to.byTag[orphanKey{mqs.AnyRank, anyTag, nil}]
	where := callWords(w.thread)
	switch {
	case l == nil, tag.Known && tag.Value < 0:
	case !tag.Known:
		n.reportOrphan(NeverReceived, rank, l, where, fmt.Sprintf("Rank %d waits in %s, for which message is not known, and has posted no receive for a message from rank %d with tag %d on %s",
			rank, where, l.from, l.tag, l.comm.label()))
	case to.byTag[orphanKey{mqs.AnyRank, tag.Value, nil}] == nil:
		n.reportOrphan(OtherTag, rank, l, where+fmt.Sprint(tag.Value, l.tag), fmt.Sprintf("Rank %d waits in %s for a message with tag %d on a communicator that is not known, but the one that %s has tag %d on %s",
			rank, where, tag.Value, l.origin(), l.tag, l.comm.label()))
	}
}
