package waitfor

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// letter is a message that nobody has received and no posted receive matches.
type letter struct {
	from   int32 // global
	tag    int32
	comm   *communicator
	isSent bool // it is known from the sender's queue, else it has come
}

// letters are the messages to one rank, the first of each sort. No receive matches any of
// them, so that one from the right source on the right communicator has another tag.
type letters struct {
	come   map[sort]*letter // on a communicator
	tagged map[sort]*letter // with a tag, on whatever communicator
}

// sort is what letters have in common; a source of [mqs.AnyRank], a tag of anyTag or a nil
// communicator stand for all.
type sort struct {
	from, tag int32
	comm      *communicator
}

// collect finds the letters to all suspects: those that have come, and those that others
// have yet to send.
func (n *misses) collect() {
	n.letters = make(map[int32]*letters, len(n.suspects))
	for _, rank := range n.suspects {
		n.letters[rank] = &letters{map[sort]*letter{}, map[sort]*letter{}}
	}
	for _, rank := range n.suspects {
		for _, m := range n.ranks[rank].members {
			n.eachUnmatched(m, mqs.UnexpectedMessages, func(s *sized) {
				if from := m.globalOf(s.source); from >= 0 {
					n.letters[rank].add(letter{from, s.tag, m.comm, false})
				}
			})
		}
	}
	for i := range n.ranks {
		for _, m := range n.ranks[i].members {
			n.eachUnmatched(m, mqs.PendingSends, func(s *sized) {
				if to := n.letters[m.globalOf(s.dest)]; to != nil {
					to.add(letter{int32(i), s.tag, m.comm, true})
				}
			})
		}
	}
}

func (ls *letters) add(l letter) {
	keep := func(in map[sort]*letter, key sort) {
		if in[key] == nil {
			in[key] = &l
		}
	}
	keep(ls.come, sort{l.from, anyTag, l.comm})
	keep(ls.tagged, sort{l.from, l.tag, nil})
	keep(ls.tagged, sort{l.from, anyTag, nil})
	if !l.isSent { // one that may come is none that has come from elsewhere
		keep(ls.come, sort{mqs.AnyRank, anyTag, l.comm})
		keep(ls.come, sort{mqs.AnyRank, l.tag, l.comm})
		keep(ls.tagged, sort{mqs.AnyRank, l.tag, nil})
		keep(ls.tagged, sort{mqs.AnyRank, anyTag, nil})
	}
}

// receive looks for a message that differs from what a receive asks for in one thing: the
// tag, the communicator or, if it is waited for and nothing else is there, the source. start
// says who asks for what.
func (n *misses) receive(rank int32, g *goal, likeness, start string, isWaited bool) {
	e, ok := g.of.receive(g.op)
	if !ok || !g.op.DesiredTag.Known && !g.op.TagWild.Value {
		return
	}
	source := int32(mqs.AnyRank)
	if e.source != mqs.AnyRank {
		if source = g.of.globalOf(e.source); source < 0 {
			return
		}
	}
	to := n.letters[rank]
	isNew := func(l *letter) bool { return l != nil && (isWaited || !n.told[l.lost(rank)]) }
	if l := to.come[sort{source, anyTag, g.of.comm}]; isNew(l) && e.tag != anyTag {
		n.miss(OtherTag, rank, l, likeness+fmt.Sprint(l.tag), start+fmt.Sprintf(", but the one that %s has tag %d", l.came(), l.tag))
		return
	}
	if l := to.tagged[sort{source, e.tag, nil}]; isNew(l) && l.comm != g.of.comm {
		n.miss(OtherCommunicator, rank, l, likeness+l.comm.label(), start+fmt.Sprintf(", but the one with tag %d that %s is on %s", l.tag, l.came(), l.comm.label()))
		return
	}
	if l := to.come[sort{mqs.AnyRank, e.tag, g.of.comm}]; isWaited && l != nil && source != mqs.AnyRank {
		n.miss(OtherSource, rank, l, likeness, start+fmt.Sprintf(", but the one with tag %d that has come is from rank %d", l.tag, l.from))
	}
}

// miss tells of a letter. Which line it was sent at is known only if its sender still waits there.
func (n *misses) miss(kind Kind, rank int32, l *letter, likeness, text string) {
	n.told[l.lost(rank)] = true
	n.add(kind, likeness, text+fmt.Sprintf(" (rank %d %s)", l.from, n.now(l.from)), rank, l.from)
}

// lost is the letter to a rank among the messages that nobody may receive.
func (l *letter) lost(to int32) lost { return lost{l.comm, to, l.from, l.tag} }

func (l *letter) came() string {
	if l.isSent {
		return fmt.Sprintf("rank %d sends", l.from)
	}
	return fmt.Sprintf("has come from rank %d", l.from)
}

// posted looks at the receives of a rank that it has posted and does not wait for, or of
// which it is not known. Many a right program has one from any source that stays open, or
// has a message before its time from a rank that goes on: what counts is one from a rank
// that waits or asks too, or has left.
func (n *misses) posted(rank int32) {
	r := &n.ranks[rank]
	seen := map[*mqs.PendingOperation]bool{}
	for _, w := range r.waits {
		for _, g := range w.goals {
			seen[g.op] = true
		}
	}
	for _, m := range r.members {
		ops := m.queued(mqs.PendingReceives)
		for i := range ops {
			op := &ops[i]
			if op.Status != mqs.Pending || op.Internal || seen[op] {
				continue
			}
			from := m.globalOf(op.DesiredLocalRank.Value)
			if !op.DesiredLocalRank.Known || !n.isIdle(from) {
				continue
			}
			g := &goal{op: op, of: m, class: mqs.PendingReceives}
			start := fmt.Sprintf("Rank %d, which %s, has a receive posted for a message %s", rank, n.now(rank), messageWords(g))
			n.receive(rank, g, n.now(rank)+n.likeness(&wait{}, g), start, false)
		}
	}
}

// probed looks at a probe of which too little is known to hold messages against it: where a
// library is stripped, not on which communicator it is, and maybe not for which tag.
func (n *misses) probed(rank int32, w *wait) {
	if w.thread == nil || w.unknown != commUnknown || behaviours[w.thread.Call] != probes {
		return
	}
	to, tag := n.letters[rank], w.thread.Tag
	l := to.tagged[sort{mqs.AnyRank, anyTag, nil}]
	where := callWords(w.thread)
	switch {
	case l == nil, tag.Known && tag.Value < 0:
	case !tag.Known:
		n.miss(NeverReceived, rank, l, where, fmt.Sprintf("Rank %d waits in %s, for which message is not known, and has posted no receive for a message from rank %d with tag %d on %s",
			rank, where, l.from, l.tag, l.comm.label()))
	case to.tagged[sort{mqs.AnyRank, tag.Value, nil}] == nil:
		n.miss(OtherTag, rank, l, where+fmt.Sprint(tag.Value, l.tag), fmt.Sprintf("Rank %d waits in %s for a message with tag %d on a communicator that is not known, but the one that %s has tag %d on %s",
			rank, where, tag.Value, l.came(), l.tag, l.comm.label()))
	}
}
