package waitfor

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Bounds on near misses: on those of one kind, on similar ones that are reported one by one, and on
// the operations that are compared.
const (
	maxNearMisses = 1000
	maxSimilar    = 8
	missBudget    = 20_000_000
)

// misses finds what looks like the program's mistake, among the ranks that hang or may hang. Where
// all is well, messages that nobody waits for yet are nothing special.
type misses struct {
	*analysis
	suspects []int32
	orphans  orphans
	sent     []sentMessage // to suspects, by receiver
	found    []miss
	kinds    map[Kind]int           // how many of each kind there are, with those that are left out
	seed     maphash.Seed           // of the hashes by which similar ones are known
	similar  map[uint64]similar     // by what they have in common
	reported map[messageKey]bool    // messages that a sentence is about already
	argued   map[*communicator]bool // whose members give a collective arguments that don't go together
	budget   int
}

// miss is a near miss before it is reported.
type miss struct {
	NearMiss
	similarRanks []int32 // the ranks of similar near misses, which are not reported one by one
}

// similar are near misses that have something in common.
type similar struct {
	first int32 // index into found, -1 if it is left out
	count int32
}

func newMisses(a *analysis, suspects []int32) *misses {
	return &misses{analysis: a, suspects: suspects, kinds: map[Kind]int{}, seed: maphash.MakeSeed(), similar: map[uint64]similar{},
		reported: map[messageKey]bool{}, argued: map[*communicator]bool{}, budget: missBudget}
}

func (a *analysis) nearMisses(verdict Verdict) []NearMiss {
	n := newMisses(a, a.suspects(verdict))
	n.collectSent()
	for _, r := range n.suspects {
		n.checkWaits(r)
		n.checkLibrary(r)
	}
	for _, r := range n.suspects {
		n.checkPosted(r)
	}
	n.checkPackets()
	n.checkCollectives()
	n.checkLengths()
	n.findUnreceived()
	return n.report()
}

// suspects returns the ranks that hang. If none is known to hang, it returns those that may, those
// that poll, and, if nothing moves, all that wait. Ranks that poll are no suspects in a job that gets
// on, or of which there was one look only: they may find what they poll for.
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
	if verdict == NoDeadlock {
		return nil
	}
	out := a.mayHang()
	out = append(out, a.which(func(r *rank) bool {
		return r.asks() && verdict != Undecided || r.mobility == waiting && (verdict == NoProgress || verdict == HeldUp && a.past.Looks > 0)
	})...)
	slices.Sort(out)
	return slices.Compact(out)
}

// asks says whether a rank polls, now or at the previous look, and has not moved since.
func (r *rank) asks() bool {
	return r.polls() || r.mobility == mobile && !r.moved && slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return isPoll(t.Call) })
}

// polls says whether a rank polled at the previous look and has not moved since.
func (r *rank) polls() bool { return r.mobility == mobile && r.polled != "" && !r.moved }

// checkWaits checks the operations in which a rank hangs.
func (n *misses) checkWaits(rank int32) {
	for i := range n.ranks[rank].waits {
		w := &n.ranks[rank].waits[i]
		n.checkProbe(rank, w)
		for k := range w.deps {
			if g := &w.deps[k]; g.op != nil && !g.op.Internal && !g.op.IsPartitioned() {
				n.checkOperation(rank, w, g)
			}
		}
	}
}

// add notes a near miss. similarity is what similar ones of its kind have in common: only the first
// of these are reported one by one.
func (n *misses) add(kind Kind, similarity, text string, ranks ...int32) {
	n.addMismatch(kind, "", nil, similarity, func() string { return text }, ranks...)
}

// addMismatch does so of one that is a mismatch of a collective. There may be millions that are not reported one by one, of
// which nobody asks for the text.
func (n *misses) addMismatch(kind Kind, mismatch Mismatch, culprits []int32, similarity string, text func() string, ranks ...int32) {
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	key := maphash.Comparable(n.seed, [2]string{string(kind), similarity})
	same := n.similar[key]
	if same.count >= maxSimilar {
		if same.first >= 0 {
			first := &n.found[same.first]
			first.similarRanks = append(first.similarRanks, ranks...)
		}
		return
	}
	n.kinds[kind]++
	isLeftOut := n.kinds[kind] > maxNearMisses
	if same.count == 0 {
		same.first = int32(len(n.found))
		if isLeftOut {
			same.first = -1
		}
	}
	same.count++
	if n.similar[key] = same; !isLeftOut {
		n.found = append(n.found, miss{NearMiss: NearMiss{kind, text(), ranks, mismatch, culprits}})
	}
}

// report returns what was found, in order and within bounds.
func (n *misses) report() []NearMiss {
	var out []NearMiss
	for _, m := range n.found {
		if len(m.similarRanks) > 0 {
			slices.Sort(m.similarRanks)
			m.similarRanks = slices.Compact(m.similarRanks)
			m.Text += fmt.Sprintf("; it is alike with others of %s", rankWords(m.similarRanks))
			m.Ranks = append(m.Ranks, m.similarRanks...)
			slices.Sort(m.Ranks)
			m.Ranks = slices.Compact(m.Ranks)
		}
		m.Text += "."
		out = append(out, m.NearMiss)
	}
	for _, k := range []Kind{OtherTag, OtherSource, OtherCommunicator, Truncation, PeerLeft, NeverReceived, OtherCollective, LibraryFault, NotStarted} {
		if left := n.kinds[k] - maxNearMisses; left > 0 {
			n.note("%d near misses of the kind %q are left out.", left, k)
		}
	}
	slices.SortStableFunc(out, func(x, y NearMiss) int {
		return cmp.Or(cmp.Compare(x.Ranks[0], y.Ranks[0]), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Text, y.Text))
	})
	return out
}

// checkOperation checks an operation in which a rank hangs.
func (n *misses) checkOperation(rank int32, w *wait, g *dependency) {
	if g.rank >= 0 && g.rank != rank && n.hasLeft(g.rank) {
		n.add(PeerLeft, n.similarityKey(w, g), n.waitsIn(rank, w, g)+fmt.Sprintf(", but rank %d %s", g.rank, n.now(g.rank)), rank, g.rank)
		return
	}
	isStuck := n.hangs(rank) || len(n.surelyReleasable) > 0 && !n.surelyReleasable[rank]
	if isStuck || n.isIdle(g.rank) {
		n.checkInactive(rank, w, g)
	}
	if g.class == mqs.PendingReceives && (isStuck || n.isIdle(g.rank)) {
		n.checkReceive(rank, g, func() string { return n.similarityKey(w, g) }, func() string { return n.waitsIn(rank, w, g) }, isStuck)
	}
}

// isIdle says whether a rank is known to do nothing but wait or poll, or to have left. A rank that
// computes may still send what is missing.
func (n *misses) isIdle(rank int32) bool {
	return rank >= 0 && (n.hasLeft(rank) || n.ranks[rank].mobility == waiting || n.ranks[rank].polls())
}

// hasLeft says whether a rank has left MPI, or is about to.
func (a *analysis) hasLeft(rank int32) bool {
	return a.ranks[rank].gone() || a.ranks[rank].in(finalize)
}

// similarityKey is what similar operations have in common: everything but the ranks.
func (n *misses) similarityKey(w *wait, g *dependency) string {
	where := ""
	if w.thread != nil {
		where = callWords(w.thread)
	}
	key := append([]byte(where), byte(g.class))
	for _, is := range []bool{g.op.TagWild.Value, g.op.TagWild.Known, g.op.DesiredTag.Known} {
		key = strconv.AppendBool(key, is)
	}
	return string(append(strconv.AppendInt(key, int64(g.op.DesiredTag.Value), 10), g.member.comm.label()...))
}

// waitsIn begins a sentence on what a rank waits for.
func (n *misses) waitsIn(rank int32, w *wait, g *dependency) string {
	text := fmt.Sprintf("Rank %d waits", rank)
	if w.thread != nil {
		text += " in " + callWords(w.thread)
	}
	if g.class == mqs.PendingSends {
		return text + fmt.Sprintf(" for %s to receive its message with tag %d on %s", peerWords(g.member, g.op.DesiredLocalRank), g.op.DesiredTag.Value, g.member.comm.label())
	}
	return text + " for a message " + messageWords(g)
}

// messageWords describes what a receive asks for: "from rank 1 with tag 7 on MPI_COMM_WORLD".
func messageWords(g *dependency) string {
	return fmt.Sprintf("from %s with %s on %s", peerWords(g.member, g.op.DesiredLocalRank), tagWords(g.op.DesiredTag, isAnyTag(g.op)), g.member.comm.label())
}
