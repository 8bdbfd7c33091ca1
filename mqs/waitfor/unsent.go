package waitfor

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// isUnsent says whether something of a message is yet to leave its sender, whose library has had no resources for it.
func isUnsent(op *mqs.PendingOperation) bool { return slices.Contains(op.ExtraText, mqs.Unsent) }

// unsent says which ranks' libraries hold back messages of the program's, or packets of their own.
func (a *analysis) unsent() []string {
	var out []string
	sends := 0
	ranks := a.which(func(r *rank) bool {
		n := countUnsent(r)
		sends += n
		return n > 0
	})
	if len(ranks) > 0 {
		out = append(out, fmt.Sprintf("%s %s %s that %s library has not sent yet, for lack of resources: %s as others take what was sent to them before, and while %s in an MPI call.",
			capital(rankWords(ranks)), verb(ranks, "has", "have"), countedSends(sends), verb(ranks, "its", "their"), leaveWords(sends), verb(ranks, "the rank is", "the ranks are")))
	}
	if held := a.which(func(r *rank) bool { return packetsOf(r) > 0 }); len(held) > 0 {
		out = append(out, fmt.Sprintf("The MPI library of %s has packets of its own to send, such as acknowledgements, for which it lacked resources: others may wait for them.", rankWords(held)))
	}
	return out
}

func countedSends(n int) string {
	if n == 1 {
		return "a send"
	}
	return fmt.Sprintf("%d sends", n)
}

func leaveWords(n int) string {
	if n == 1 {
		return "it leaves"
	}
	return "they leave"
}

// countUnsent counts the sends of a rank of which something is yet to leave it.
func countUnsent(r *rank) int {
	n := 0
	for _, m := range r.members {
		ops := m.queued(mqs.PendingSends)
		for i := range ops {
			if isUnsent(&ops[i]) {
				n++
			}
		}
	}
	return n
}

// packetsOf counts the packets of its own that a rank's library has not sent, as far as they are known.
func packetsOf(r *rank) int64 {
	if r.process == nil || !r.process.UnsentPackets.Known {
		return 0
	}
	return r.process.UnsentPackets.Value
}

// checkPackets reports packets of a library's own that stay unsent from one look to the next, though all ranks wait in MPI
// and have run there: what such a rank's peers wait for does not come, which is how a lost FIN of Open MPI's ob1 shows
// (open-mpi/ompi issue 12979: 4.1, and 5.0 before its repair).
func (n *misses) checkPackets() {
	if n.then == nil || slices.ContainsFunc(n.ranks, func(r rank) bool { return r.mobility != waiting || !r.confirmed }) {
		return
	}
	for i := range n.ranks {
		r := &n.ranks[i]
		before := n.then.at(r.number)
		if packetsOf(r) > 0 && before != nil && packetsOf(before) > 0 {
			n.add(LibraryFault, "packets", fmt.Sprintf(
				"Rank %d's MPI library has had packets of its own to send since the look before, such as acknowledgements, and all ranks have been in MPI calls meanwhile: it does not send them, and ranks that wait for them wait in vain, which is no mistake of the program's (Open MPI's issue 12979 is of this kind)",
				r.number), r.number)
		}
	}
}
