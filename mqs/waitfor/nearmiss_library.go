package waitfor

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// checkLibrary reports receives for which a rank waits, and that a message matches which lies there. If both were
// there at the previous look and the rank has run since, its MPI library does not match them, which is no mistake of
// the program's.
func (n *misses) checkLibrary(rank int32) {
	r := &n.ranks[rank]
	if !r.confirmed {
		return
	}
	before := n.past.Earlier[r.process.PID]
	for _, w := range r.waits {
		if w.thread == nil {
			continue
		}
		ops, _ := r.operations(w.thread.Requests)
		for i := range ops {
			if g := &ops[i]; g.class == mqs.PendingReceives && !g.op.Internal && n.liesMatched(g.op, g.member.Queues) && n.layMatched(g, before) {
				n.add(LibraryFault, callWords(w.thread)+g.member.comm.label(), fmt.Sprintf(
					"Rank %d waits in %s for a message %s, and such a message has been there since the look before, though the rank has run: its MPI library does not match the two, which is no mistake of the program's",
					rank, callWords(w.thread), messageWords(g)), rank)
			}
		}
	}
}

// liesMatched says whether a message that a receive matches is among the unexpected messages of its communicator.
func (n *misses) liesMatched(receive *mqs.PendingOperation, q *mqs.Queues) bool {
	if receive.Status != mqs.Pending || !receive.DesiredLocalRank.Known || !hasTag(receive) || q.Queue[mqs.UnexpectedMessages] == nil {
		return false
	}
	return slices.ContainsFunc(q.Queue[mqs.UnexpectedMessages].Operations, func(m mqs.PendingOperation) bool {
		n.budget--
		source, tag := firstKnown(m.ActualLocalRank, m.DesiredLocalRank), firstKnown(m.ActualTag, m.DesiredTag)
		return n.budget >= 0 && m.Status == mqs.Pending && !m.Internal && source.Known && tag.Known &&
			(receive.DesiredLocalRank.Value == mqs.AnyRank || receive.DesiredLocalRank == source) &&
			(isAnyTag(receive) || receive.DesiredTag == tag)
	})
}

// layMatched says the same of the previous look.
func (n *misses) layMatched(g *dependency, before *mqs.Process) bool {
	for _, q := range before.Communicators {
		if q.UniqueID != g.member.UniqueID || q.Queue[mqs.PendingReceives] == nil {
			continue
		}
		return slices.ContainsFunc(q.Queue[mqs.PendingReceives].Operations, func(op mqs.PendingOperation) bool {
			return op.Request.Known && op.Request == g.op.Request && !isOther(&op, g.op) && n.liesMatched(&op, q)
		})
	}
	return false
}
