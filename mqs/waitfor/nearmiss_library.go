package waitfor

import (
	"fmt"

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
	before := n.then.at(rank)
	for i := range r.waits {
		t := r.waits[i].thread
		if t == nil {
			continue
		}
		ops, _ := r.operations(t.Requests)
		for k := range ops {
			if g := &ops[k]; n.liesMatched(g) && before != nil && n.then.layMatched(before, g) {
				n.add(LibraryFault, callWords(t)+g.member.comm.label(), fmt.Sprintf(
					"Rank %d waits in %s for a message %s, and such a message has been there since the look before, though the rank has run: its MPI library does not match the two, which is no mistake of the program's",
					rank, callWords(t), messageWords(g)), rank)
			}
		}
	}
}

// liesMatched says whether an operation is a receive of the program's that a message matches which is among the
// unexpected ones.
func (j *job) liesMatched(g *dependency) bool {
	if g.class != mqs.PendingReceives || g.op.Internal || g.op.Status != mqs.Pending || !hasTag(g.op) {
		return false
	}
	e, ok := g.member.receive(g.op)
	return ok && j.unexpected.match(e)
}

// layMatched says the same of the operation at the previous look, at which its rank was this one.
func (then *job) layMatched(r *rank, now *dependency) bool {
	ops, _ := r.operations([]inferior.Addr{now.op.Request.Value})
	for i := range ops {
		if g := &ops[i]; g.member.UniqueID == now.member.UniqueID && !isOther(g.op, now.op) && then.liesMatched(g) {
			return true
		}
	}
	return false
}
