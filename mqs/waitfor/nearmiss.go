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
	letters  map[int32]*letters // of each suspect
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

func (a *analysis) nearMisses(verdict Verdict) []NearMiss {
	n := &misses{analysis: a, suspects: a.suspects(verdict), alike: map[string][]int{}, told: map[lost]bool{}, budget: missBudget}
	n.collect()
	for _, r := range n.suspects {
		n.waits(r)
	}
	for _, r := range n.suspects {
		n.posted(r)
	}
	n.collectives()
	n.lengths()
	n.unreceived()
	return n.report()
}

// suspects are the ranks that hang; if none is known to, those that may, and those that ask
// for messages; and all that wait if nothing moves. One look at a job of which all that
// matters is known, or one that gets on, shows none that ask: they may find what they ask for.
func (a *analysis) suspects(verdict Verdict) []int32 {
	var hung []int32
	for i := range a.ranks {
		if a.hangs(int32(i)) {
			hung = append(hung, int32(i))
		}
	}
	if len(hung) > 0 {
		return hung
	}
	if verdict == Free {
		return nil
	}
	out := a.mayHang()
	out = append(out, a.which(func(r *rank) bool {
		return r.asks() && verdict != Undecided || r.mobility == waiting && verdict == NoProgress
	})...)
	slices.Sort(out)
	return slices.Compact(out)
}

// asks says whether a rank is in a call that asks for messages, as far as it has not got on.
func (r *rank) asks() bool {
	return r.polls() || r.mobility == free && !r.moved && slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return isPoll(t.Call) })
}

// polls says whether a rank was seen to ask for messages before and has not got on since.
func (r *rank) polls() bool { return r.mobility == free && r.polled != "" && !r.moved }

// waits looks at the operations that a rank hangs with.
func (n *misses) waits(rank int32) {
	for i := range n.ranks[rank].waits {
		w := &n.ranks[rank].waits[i]
		n.probed(rank, w)
		for k := range w.goals {
			if g := &w.goals[k]; g.op != nil && !g.op.Internal {
				n.operation(rank, w, g)
			}
		}
	}
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
	isStuck := n.hangs(rank) || len(n.certain) > 0 && !n.certain[rank]
	if g.class == mqs.PendingReceives && (isStuck || n.isIdle(g.rank)) {
		n.receive(rank, g, n.likeness(w, g), n.waitsIn(rank, w, g), isStuck)
	}
}

// isIdle says whether a rank is known and does nothing but wait or ask for messages, or has
// left: one that computes may send what is missing yet.
func (n *misses) isIdle(rank int32) bool {
	return rank >= 0 && (n.left(rank) || n.ranks[rank].mobility == waiting || n.ranks[rank].polls())
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
	return text + " for a message " + messageWords(g)
}

// messageWords is what a receive asks for: "from rank 1 with tag 7 on MPI_COMM_WORLD".
func messageWords(g *goal) string {
	return fmt.Sprintf("from %s with %s on %s", peerWords(g.of, g.op.DesiredLocalRank), tagWords(g.op.DesiredTag, isAnyTag(g.op)), g.of.comm.label())
}
