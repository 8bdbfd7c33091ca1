package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// side adds a partitioned operation that is started to a rank; its request is returned.
func (r *madeRank) side(class mqs.OpClass, peer int32, status mqs.Status, id uint64, notes ...string) inferior.Addr {
	r.of.next += 0x10
	op := mqs.PendingOperation{Status: status, Kind: mqs.KindPartitionedSend, DesiredLocalRank: mqs.Known(peer), TagWild: mqs.Known(false),
		Request: mqs.Known(r.of.next), MessageID: mqs.Maybe[uint64]{Value: id, Known: id != 0}, ExtraText: append([]string{"4 partitions"}, notes...)}
	if class == mqs.PendingReceives {
		op.Kind, op.DesiredTag = mqs.KindPartitionedRecv, mqs.Known[int32](7)
	}
	r.add(worldID, class, op)
	return r.of.next
}

// For whom a rank waits in MPI_Wait for a partitioned operation, as far as the two sides say how far it has come. The other
// rank waits for a message that does not come. Nothing counts partitioned messages: a rank that waits for one may have left the
// call and come back.
func TestPartitioned(t *testing.T) {
	const send, recv = mqs.PendingSends, mqs.PendingReceives
	const id = 0x50
	for _, c := range []struct {
		name    string
		class   mqs.OpClass
		status  mqs.Status
		notes   []string
		other   func(r *madeRank)
		verdict Verdict // if the ranks stay
		rank    int32   // for which it waits, -1 for none
	}{
		{"a receive of a send that lacks partitions", recv, mqs.Matched, nil, func(r *madeRank) { r.side(send, 0, mqs.Matched, id, mqs.PartitionsMissing) }, DeadlockedUnless, 1},
		{"a receive of a send that lacks one", recv, mqs.Matched, nil, func(r *madeRank) { r.side(send, 0, mqs.Matched, id, mqs.LastPartition) }, DeadlockedUnless, 1},
		{"a receive of a send that goes", recv, mqs.Matched, nil, func(r *madeRank) { r.side(send, 0, mqs.Matched, id, mqs.PartitionsSent) }, NoProgress, -1},
		{"a receive of a send that goes, as one with its number to another rank does not", recv, mqs.Matched, nil, func(r *madeRank) {
			r.side(send, 1, mqs.Matched, id, mqs.PartitionsMissing)
			r.side(send, 0, mqs.Matched, id, mqs.PartitionsSent)
		}, NoProgress, -1},
		{"a receive of a send that is over", recv, mqs.Matched, nil, func(r *madeRank) { r.side(send, 0, mqs.Complete, id) }, DeadlockedUnless, 1},
		{"a receive of a send that is not started", recv, mqs.Matched, nil, func(*madeRank) {}, DeadlockedUnless, 1},
		{"a receive of a send of which nothing is known", recv, mqs.Matched, nil, func(r *madeRank) { r.side(send, 0, mqs.Matched, id) }, Unknown, -1},
		{"a receive of a send that can't be read", recv, mqs.Matched, nil, func(r *madeRank) { r.on(worldID).Queue[send] = &mqs.Queue{Unavailable: "no"} }, Unknown, -1},
		{"a receive of which no more is known than that it is there", recv, "", nil, func(r *madeRank) { r.of.rank(0).on(worldID).Queue[recv].Operations[0].DesiredLocalRank.Known = false }, Unknown, -1},
		{"a receive without a send", recv, mqs.Pending, nil, func(*madeRank) {}, Deadlocked, 1},
		{"a receive without a send, beside a message", recv, mqs.Pending, nil, func(r *madeRank) { r.message(worldID, 0, 7) }, Deadlocked, 1},
		{"a send that lacks partitions", send, mqs.Matched, []string{mqs.PartitionsMissing}, func(r *madeRank) { r.side(recv, 0, mqs.Matched, id) }, Deadlocked, 0},
		{"a send that lacks one", send, mqs.Matched, []string{mqs.LastPartition}, func(r *madeRank) { r.side(recv, 0, mqs.Matched, id) }, Deadlocked, 0},
		{"a send whose receive is not started", send, mqs.Matched, []string{mqs.LastPartition}, func(*madeRank) {}, DeadlockedUnless, 1},
		{"a send whose data has come", send, mqs.Matched, []string{mqs.LastPartition}, func(r *madeRank) { r.side(recv, 0, mqs.Complete, id) }, NoProgress, -1},
		{"a send that goes", send, mqs.Matched, []string{mqs.PartitionsSent}, func(r *madeRank) { r.side(recv, 0, mqs.Matched, id) }, NoProgress, -1},
		{"a send of which nothing is known", send, mqs.Matched, nil, func(r *madeRank) { r.side(recv, 0, mqs.Matched, id) }, Unknown, -1},
	} {
		for _, stays := range []bool{true, false} {
			m := newMade(2)
			own := uint64(id)
			if c.status == mqs.Pending {
				own = 0
			}
			m.rank(0).thread("MPI_Wait", 12, m.rank(0).side(c.class, 1, c.status, own, c.notes...))
			c.other(m.rank(1))
			m.rank(1).recv(worldID, 0, 9)
			past := Past{Looks: 1, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
			for i, p := range m.Processes {
				p.PID, p.Progress, p.ThreadMultiple = 100+i, mqs.Known[uint64](5), mqs.Known(false)
				m.rank(i).uncounted()
				past.Earlier[p.PID], past.Ran[p.PID] = p, stays
			}
			name := c.name
			if !stays {
				name += ", and they have not run"
			}
			r := approve(t, name, AnalyseLive(m.Snapshot, past))
			switch {
			case stays && r.Verdict != c.verdict, !stays && c.rank < 0 && claimsDeadlock(r), !stays && r.Verdict == Deadlocked && c.rank != 0:
				t.Errorf("%s: %q: %s", name, r.Verdict, r.Why)
			}
			if w := known(m).ranks[0].waits[0]; (len(w.deps) > 0) != (c.rank >= 0) || len(w.deps) > 0 && w.deps[0].rank != c.rank {
				t.Errorf("%s: %+v", name, w)
			}
		}
	}
}
