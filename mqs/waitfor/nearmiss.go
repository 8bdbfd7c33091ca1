package waitfor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Bounds on near misses: of one kind, of how many that are alike each is told,
// and of operations that are held against each other.
const (
	maxNearMisses = 1000
	maxAlike      = 8
	missBudget    = 20_000_000
)

// misses finds what looks like the program's mistake, among the ranks that
// hang or may hang: where all is well, messages that nobody waits for yet are
// nothing special.
type misses struct {
	*analysis
	suspects []int32
	found    []miss
	alike    map[string][]int // in found, by what they have in common
	told     map[lost]bool    // messages that a sentence is about
	budget   int
}

// miss is a near miss to be.
type miss struct {
	NearMiss
	likewise []int32 // ranks of others that are alike
}

func (a *analysis) nearMisses() []NearMiss {
	n := &misses{analysis: a, alike: map[string][]int{}, told: map[lost]bool{}, budget: missBudget}
	for i := range a.ranks {
		if a.hangs(int32(i)) {
			n.suspects = append(n.suspects, int32(i))
		}
	}
	if len(n.suspects) == 0 {
		n.suspects = a.mayHang()
	}
	for _, r := range n.suspects {
		for i := range a.ranks[r].waits {
			w := &a.ranks[r].waits[i]
			for k := range w.goals {
				if g := &w.goals[k]; g.op != nil && !g.op.Internal {
					n.operation(r, w, g)
				}
			}
		}
	}
	n.collectives()
	n.lengths()
	n.unreceived()
	return n.report()
}

// add notes a near miss. Of those that have a kind and a likeness in common,
// only the first ones are told each by itself.
func (n *misses) add(kind Kind, likeness, text string, ranks ...int32) {
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	key := string(kind) + "\x00" + likeness
	if same := n.alike[key]; len(same) >= maxAlike {
		first := &n.found[same[0]]
		first.likewise = append(first.likewise, ranks...)
		return
	}
	n.alike[key] = append(n.alike[key], len(n.found))
	n.found = append(n.found, miss{NearMiss: NearMiss{kind, text, ranks}})
}

// report returns what was found, in order and within bounds.
func (n *misses) report() []NearMiss {
	var out []NearMiss
	left := map[Kind]int{}
	count := map[Kind]int{}
	for _, m := range n.found {
		if count[m.Kind]++; count[m.Kind] > maxNearMisses {
			left[m.Kind]++
			continue
		}
		if len(m.likewise) > 0 {
			slices.Sort(m.likewise)
			m.likewise = slices.Compact(m.likewise)
			m.Text += fmt.Sprintf("; it is alike with others of %s", rankWords(m.likewise))
			m.Ranks = append(m.Ranks, m.likewise...)
			slices.Sort(m.Ranks)
			m.Ranks = slices.Compact(m.Ranks)
		}
		m.Text += "."
		out = append(out, m.NearMiss)
	}
	for _, k := range []Kind{OtherTag, OtherSource, OtherCommunicator, Truncation, PeerLeft, NeverReceived, OtherCollective} {
		if left[k] > 0 {
			n.note("%d near misses of the kind %q are left out.", left[k], k)
		}
	}
	slices.SortStableFunc(out, func(x, y NearMiss) int {
		return cmp.Or(cmp.Compare(x.Ranks[0], y.Ranks[0]), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Text, y.Text))
	})
	return out
}

// operation looks at an operation that a rank hangs with.
func (n *misses) operation(rank int32, w *wait, g *goal) {
	if g.rank >= 0 && g.rank != rank && n.left(g.rank) {
		n.add(PeerLeft, n.likeness(w, g), n.waitsIn(rank, w, g)+fmt.Sprintf(", but rank %d %s", g.rank, n.now(g.rank)), rank, g.rank)
		return
	}
	if g.class == mqs.PendingReceives {
		n.receive(rank, w, g)
	}
}

// left says whether a rank has left the program, or is about to.
func (a *analysis) left(rank int32) bool { return a.ranks[rank].gone() || a.ranks[rank].in(finalize) }

// likeness is what operations have in common that are alike: all but the ranks.
func (n *misses) likeness(w *wait, g *goal) string {
	where := ""
	if w.thread != nil {
		where = callWords(w.thread)
	}
	return fmt.Sprint(where, g.class, g.op.TagWild, g.op.DesiredTag, g.of.comm.label())
}

// waitsIn is the beginning of a sentence on what a rank waits for.
func (n *misses) waitsIn(rank int32, w *wait, g *goal) string {
	text := fmt.Sprintf("Rank %d waits", rank)
	if w.thread != nil {
		text += " in " + callWords(w.thread)
	}
	if g.class == mqs.PendingSends {
		return text + fmt.Sprintf(" for %s to receive its message with tag %d on %s", peerWords(g.of, g.op.DesiredLocalRank), g.op.DesiredTag.Value, g.of.comm.label())
	}
	text += " for a message from " + peerWords(g.of, g.op.DesiredLocalRank)
	if e, _ := g.of.receive(g.op); e.tag == anyTag {
		text += " with any tag"
	} else {
		text += fmt.Sprintf(" with tag %d", e.tag)
	}
	return text + " on " + g.of.comm.label()
}

// letter is a message that nobody has received.
type letter struct {
	from   int32 // global, -1 if not known
	tag    int32
	length int64 // -1 if not known
	comm   *communicator
	sent   bool // from the sender's queue, else it has come
}

// receive looks for messages that differ from what a receive waits for in one
// thing: the tag, the communicator or, if nothing else is there, the source.
func (n *misses) receive(rank int32, w *wait, g *goal) {
	e, ok := g.of.receive(g.op)
	if !ok {
		return
	}
	source := int32(mqs.AnyRank)
	if e.source != mqs.AnyRank {
		if source = g.of.globalOf(e.source); source < 0 {
			return
		}
	}
	var tag, comm, other *letter
	n.letters(rank, source, func(l letter) {
		switch fromIt, sameTag, here := source == mqs.AnyRank || l.from == source, e.tag == anyTag || l.tag == e.tag, l.comm == g.of.comm; {
		case tag == nil && fromIt && !sameTag && here:
			tag = &l
		case comm == nil && fromIt && sameTag && !here:
			comm = &l
		case other == nil && !fromIt && sameTag && here:
			other = &l
		}
	})
	start := n.waitsIn(rank, w, g)
	for _, l := range []*letter{tag, comm, other} {
		if l != nil {
			n.told[lost{l.comm, rank, l.from, l.tag}] = true
			break
		}
	}
	switch {
	case tag != nil:
		n.add(OtherTag, n.likeness(w, g)+fmt.Sprint(tag.tag), start+fmt.Sprintf(", but the one that %s has tag %d (%s)", tag.came(), tag.tag, n.sender(tag)), rank, tag.from)
	case comm != nil:
		n.add(OtherCommunicator, n.likeness(w, g)+comm.comm.label(), start+fmt.Sprintf(", but the one with tag %d that %s is on %s (%s)", comm.tag, comm.came(), comm.comm.label(), n.sender(comm)), rank, comm.from)
	case other != nil:
		n.add(OtherSource, n.likeness(w, g), start+fmt.Sprintf(", but the one with tag %d that has come is from rank %d (%s)", other.tag, other.from, n.sender(other)), rank, other.from)
	}
}

func (l *letter) came() string {
	if l.sent {
		return fmt.Sprintf("rank %d sends", l.from)
	}
	return fmt.Sprintf("has come from rank %d", l.from)
}

// sender says where the sender of a message is now. Which line it was sent at
// is known only if it still waits there.
func (n *misses) sender(l *letter) string { return fmt.Sprintf("rank %d %s", l.from, n.now(l.from)) }

// letters calls f with the messages to a rank that no receive of it awaits:
// those that have come and, from one source, those that it has yet to send.
func (n *misses) letters(rank, source int32, f func(letter)) {
	for _, m := range n.ranks[rank].members {
		ops := m.queued(mqs.UnexpectedMessages)
		for i := range ops {
			if n.budget--; n.budget < 0 {
				return
			}
			if s, ok := m.arrival(&ops[i]); ok && ops[i].Status == mqs.Pending && !ops[i].Internal && !n.receives.match(s.envelope) {
				if from := m.globalOf(s.source); from >= 0 {
					f(letter{from, s.tag, s.length, m.comm, false})
				}
			}
		}
	}
	if source < 0 {
		return
	}
	for _, m := range n.ranks[source].members {
		ops := m.queued(mqs.PendingSends)
		for i := range ops {
			if n.budget--; n.budget < 0 {
				return
			}
			if s, ok := m.send(&ops[i]); ok && ops[i].Status == mqs.Pending && !ops[i].Internal && m.globalOf(s.dest) == rank && !n.receives.match(s.envelope) {
				f(letter{source, s.tag, s.length, m.comm, true})
			}
		}
	}
}
