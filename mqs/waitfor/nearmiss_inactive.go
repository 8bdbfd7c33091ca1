package waitfor

import (
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// checkInactive looks, for an operation in which a rank hangs, for the persistent request of the peer that
// would meet it, and is not started.
func (n *misses) checkInactive(rank int32, w *wait, g *dependency) {
	if g.rank < 0 || g.member.local < 0 || n.ranks[g.rank].process == nil {
		return
	}
	peer := g.member.peers().member(g.op.DesiredLocalRank.Value)
	if peer == nil || g.op.Internal {
		return
	}
	of := n.ranks[g.rank].process.Inactive
	for i := range of {
		q := &of[i]
		if n.budget--; n.budget < 0 {
			return
		}
		if q.Comm == peer.UniqueID && meets(q, g, g.member.local) {
			n.add(NotStarted, n.similarityKey(w, g), n.waitsIn(rank, w, g)+fmt.Sprintf(", and rank %d has made a persistent %s for it that is not started (rank %d %s)",
				g.rank, map[bool]string{true: "send", false: "receive"}[isSendKind(q.Kind)], g.rank, n.now(g.rank)), rank, g.rank)
			return
		}
	}
}

func isSendKind(kind string) bool { return strings.Contains(kind, "send") }

// meets says whether a persistent request would meet an operation of the member with a local rank.
func meets(q *mqs.InactiveRequest, g *dependency, local int32) bool {
	isReceive := g.class == mqs.PendingReceives
	isFrom := q.Peer.Known && (q.Peer.Value == local || !isReceive && q.Peer.Value == mqs.AnyRank)
	isTag := q.Tag.Known && (isAnyTag(g.op) || !isReceive && q.Tag.Value < 0 || g.op.DesiredTag == q.Tag)
	return isSendKind(q.Kind) == isReceive && isFrom && isTag
}
