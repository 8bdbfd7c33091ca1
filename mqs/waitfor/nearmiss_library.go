package waitfor

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// checkLibrary reports receives for which a rank waits, and that a message matches which lies there. If both were
// there at the previous look and the rank has run since, its MPI library does not match them, which is no mistake of
// the program's.
func (n *misses) checkLibrary(rank int32) {
	r := &n.ranks[rank]
	if !r.confirmed || n.then == nil {
		return
	}
	for i := range r.waits {
		t := r.waits[i].thread
		if t == nil {
			continue
		}
		if r.isOver(t) && n.before(rank).isOver(t) {
			n.add(LibraryFault, callWords(t)+" over", fmt.Sprintf(
				"Rank %d waits in %s for what was complete at the look before already, though the rank has run: its MPI library has lost the wake-up, which is no mistake of the program's (Open MPI's commit 0c86834a68 mends one of this kind, with several threads on arm64)",
				rank, callWords(t)), rank)
		}
		ops, _ := r.operations(t.Requests)
		for k := range ops {
			if g := &ops[k]; n.liesMatched(g) && n.then.layMatched(n.before(rank), g) {
				n.add(LibraryFault, callWords(t)+g.member.comm.label(), fmt.Sprintf(
					"Rank %d waits in %s for a message %s, and such a message has been there since the look before, though the rank has run: its MPI library does not match the two, which is no mistake of the program's",
					rank, callWords(t), messageWords(g)), rank)
			}
		}
	}
}

// before returns a rank with its operations as they were at the previous look; nil if it was not there.
func (j *job) before(number int32) *rank {
	j.then.match()
	return j.then.at(number)
}

// isOver says whether all is known that a thread waits for in a call, and is complete: the call has nothing left to wait for.
// It is false of a rank that was not there.
func (r *rank) isOver(t *mqs.Thread) bool {
	b := behaviourOf(t)
	if r == nil || b != waitsAll && b != waitsAny && b != pointToPoint || !t.AllRequests || len(t.Requests) == 0 {
		return false
	}
	ops, found := r.operations(t.Requests)
	return found && !slices.ContainsFunc(ops, func(o dependency) bool { return o.op.Status != mqs.Complete })
}

// liesMatched says whether an operation is a receive of the program's that a message matches which is among the
// unexpected ones.
func (j *job) liesMatched(g *dependency) bool {
	if g.class != mqs.PendingReceives || g.op.Internal || g.op.IsPartitioned() || g.op.Status != mqs.Pending || !hasTag(g.op) {
		return false
	}
	e, ok := g.member.receive(g.op)
	return ok && j.unexpected.match(e)
}

// layMatched says the same of the operation at the previous look, at which its rank was this one, if it was there.
func (then *job) layMatched(r *rank, now *dependency) bool {
	if r == nil {
		return false
	}
	ops, _ := r.operations([]inferior.Addr{now.op.Request.Value})
	for i := range ops {
		if g := &ops[i]; g.member.UniqueID == now.member.UniqueID && !isOther(g.op, now.op) && then.liesMatched(g) {
			return true
		}
	}
	return false
}
