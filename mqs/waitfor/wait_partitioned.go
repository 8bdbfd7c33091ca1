package waitfor

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// The data of a partitioned operation goes once all of its partitions are ready and the receiver, which has to have started,
// has asked for it (src/mpid/ch4/src/mpidig_part.h of MPICH, 4.0 to 4.2). So a receive waits for the rank that has yet to make
// the send, to start it or to mark a partition as ready, and a send for its own rank or for a start of the receive.

// partitioned is the outcome of a partitioned operation that is not complete.
func (j *job) partitioned(g dependency) (dependency, string, bool) {
	peer := g.member.globalOf(g.op.DesiredLocalRank.Value)
	switch {
	case !g.op.DesiredLocalRank.Known:
		return g, readyUnknown, false
	case peer < 0:
		return g, g.member.whoIs(g.op.DesiredLocalRank.Value), false
	}
	there := g.member.peers().member(g.op.DesiredLocalRank.Value)
	class := mqs.PendingReceives
	if g.class == mqs.PendingReceives {
		class = mqs.PendingSends
	}
	r := &j.ranks[peer]
	isReadable := !r.unreadable() && there != nil && there.readable(class) && !there.cut(class)
	switch {
	case j.ranks[g.member.rank].arriving():
		return g, arrivingUnknown, false
	case !g.member.comm.known || g.member.local < 0:
		return g, membersUnknown, false
	case !r.gone() && !isReadable:
		return g, readyUnknown, false
	}
	g.transit = j.mayBeInTransit(g.member, g.op.DesiredLocalRank.Value)
	if g.class == mqs.PendingSends {
		return j.partitionedSend(g, peer, there)
	}
	return j.partitionedReceive(g, peer, there)
}

// partitionedSend is the outcome of a send to a rank.
func (j *job) partitionedSend(g dependency, to int32, there *member) (dependency, string, bool) {
	what := operationWords(g.member, g.class, g.op)
	g.rank, g.words = g.member.rank, "partitions that it has yet to mark as ready, of its "+what
	isGone := j.ranks[to].gone()
	other := there.pairOf(g, mqs.PendingReceives)
	switch {
	case slices.Contains(g.op.ExtraText, mqs.PartitionsMissing):
		g.transit = false // nobody else marks them
	case slices.Contains(g.op.ExtraText, mqs.PartitionsSent):
		return j.matched(g)
	case !slices.Contains(g.op.ExtraText, mqs.LastPartition):
		return g, readyUnknown, false
	case isGone, other == nil:
		g.rank, g.words = to, fmt.Sprintf("%s, whose partitioned receive rank %d has yet to start", what, to)
	case other.Status == mqs.Complete:
		return g, "", true // its data has come
	}
	return g, "", false
}

// partitionedReceive is the outcome of a receive from a rank.
func (j *job) partitionedReceive(g dependency, from int32, there *member) (dependency, string, bool) {
	what := operationWords(g.member, g.class, g.op)
	other := there.pairOf(g, mqs.PendingSends)
	g.rank = from
	switch {
	case j.ranks[from].gone():
		g.words = what
	case !g.op.MessageID.Known:
		g.words = fmt.Sprintf("%s, whose partitioned send rank %d has yet to make", what, from)
	case other == nil || other.Status == mqs.Complete:
		g.words = fmt.Sprintf("%s, whose partitioned send rank %d has yet to start", what, from)
	case slices.Contains(other.ExtraText, mqs.PartitionsSent):
		return j.matched(g)
	case slices.Contains(other.ExtraText, mqs.PartitionsMissing), slices.Contains(other.ExtraText, mqs.LastPartition):
		g.words = fmt.Sprintf("%s, of which rank %d has yet to mark all partitions as ready", what, from)
	default:
		return g, readyUnknown, false
	}
	return g, "", false
}

// pairOf returns the other side of a partitioned operation, as far as that is started and not collected; nil if there is none.
// Requests of several ranks may have one address.
func (m *member) pairOf(g dependency, class mqs.OpClass) *mqs.PendingOperation {
	if m == nil || !g.op.MessageID.Known {
		return nil
	}
	ops := m.queued(class)
	at := slices.IndexFunc(ops, func(o mqs.PendingOperation) bool {
		return o.IsPartitioned() && o.MessageID == g.op.MessageID && o.DesiredLocalRank == mqs.Known(g.member.local)
	})
	if at < 0 {
		return nil
	}
	return &ops[at]
}
