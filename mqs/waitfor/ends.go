package waitfor

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Clauses on operations that the library ends with an error, so that nobody has to meet them.
const (
	revokedUnknown = "its communicator is revoked, so its operation is to end with an error"
	failedUnknown  = "its MPI knows that the peer has failed, so its operation is to end with an error"
)

// willFail says why the library is to end an operation with an error (MPI_Comm_revoke, and the failure of a
// process that the library knows of); empty if nothing is known to end it.
func (g *dependency) willFail() string {
	switch m := g.member; {
	case m.Revoked == mqs.Known(true):
		return revokedUnknown
	case g.op.DesiredLocalRank.Known && !m.comm.inter && slices.Contains(m.Failed, g.op.DesiredLocalRank.Value):
		return failedUnknown
	}
	return ""
}

// ends returns sentences on what has ended, or is about to end, in a way that no program plans.
func (a *analysis) ends() []string {
	var out []string
	if aborting := a.which(func(r *rank) bool { return r.in("MPI_Abort") }); len(aborting) > 0 {
		out = append(out, fmt.Sprintf("%s %s in MPI_Abort: the job is being ended.", capital(rankWords(aborting)), verb(aborting, "is", "are")))
	}
	out = append(out, a.crashes()...)
	failed, revoked := a.failures()
	if len(failed) > 0 {
		out = append(out, fmt.Sprintf("%s %s failed, as the MPI of other ranks knows.", capital(rankWords(failed)), verb(failed, "has", "have")))
	}
	for _, c := range a.comms {
		if ranks := revoked[c]; len(ranks) > 0 && len(out) < maxReasons {
			out = append(out, fmt.Sprintf("%s is revoked, as is known to %s.", capital(c.label()), rankWords(ranks)))
		}
	}
	return out
}

// failures returns the ranks that some rank's MPI knows to have failed, and for each communicator that is
// revoked the ranks that know it.
func (j *job) failures() (failed []int32, revoked map[*communicator][]int32) {
	seen := map[int32]bool{}
	revoked = map[*communicator][]int32{}
	for i := range j.ranks {
		for _, m := range j.ranks[i].members {
			if m.Revoked == mqs.Known(true) {
				revoked[m.comm] = append(revoked[m.comm], int32(i))
			}
			group := m.comm.sides[m.side].group
			for _, local := range m.Failed {
				if m.comm.known && local >= 0 && int(local) < len(group) && group[local] >= 0 {
					seen[group[local]] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), revoked
}
