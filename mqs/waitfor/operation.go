package waitfor

import "github.com/mpi-queues/mpi-queues/mqs"

// outcome is what a wait for one operation comes to: a goal to wait for, a
// clause on what can't be known, or that it will be over as things are.
func (j *job) outcome(g goal) (_ goal, unknown string, done bool) {
	g.rank = -1
	switch {
	case g.op.Status == mqs.Complete:
		return g, "", true
	case g.op.IsPartitioned():
		return g, readyUnknown, false
	case g.op.Status == mqs.Matched:
		return j.matched(g)
	case g.op.Status != mqs.Pending:
		return g, stateUnknown, false
	case j.ranks[g.of.rank].arriving():
		return g, arrivingUnknown, false
	case !g.of.comm.known || g.of.local < 0:
		return g, membersUnknown, false
	case g.class == mqs.PendingSends:
		return j.send(g)
	}
	return j.receive(g)
}

// matched is the outcome of an operation that has found its other side: all it
// takes is that the peer calls MPI.
func (j *job) matched(g goal) (goal, string, bool) {
	peer := firstKnown(g.op.ActualLocalRank, g.op.DesiredLocalRank)
	if !peer.Known {
		return g, peerUnknown, false
	}
	if r := j.at(g.of.globalOf(peer.Value)); r == nil || r.process == nil || r.gone() {
		return g, peerUnknown, false
	}
	return g, "", true
}

// receive is the outcome of a receive or a probe that no message has matched.
func (j *job) receive(g goal) (goal, string, bool) {
	e, ok := g.of.receive(g.op)
	if !ok {
		return g, peerUnknown, false
	}
	// One that has come, or is on its way, will be found.
	r, lane := &j.ranks[g.of.rank], envelope{g.of.comm.lane(g.of.side, false), e.dest, e.source, anyTag}
	has := j.unexpected.any(e) || j.sends.any(e)
	switch {
	case has && hasTag(g.op) || j.onTheWay.any(lane):
		return g, "", true
	case !g.of.readable(mqs.UnexpectedMessages) || g.of.cut(mqs.UnexpectedMessages):
		return g, cutUnknown, false
	case has: // it may have come since the look before
		return g, tagUnknown, false
	case g.of.obscure && (!r.confirmed || isProbe(g.op)): // what a probe finds stays unmatched
		return g, comeUnknown, false
	}
	// What lies there unmatched does not match, unless it has only just come.
	unseen := r.vague[mqs.UnexpectedMessages] || j.vagueSends(g.of, e.source)
	g.transit = j.mayBeInTransit(g.of, e.source) || unseen && !r.confirmed
	if e.source != mqs.AnyRank {
		if g.rank = g.of.globalOf(e.source); g.rank < 0 {
			return g, peerUnknown, false
		}
		return g, "", false
	}
	peers := g.of.peers()
	if len(peers.group) == 1 {
		if g.rank = peers.group[0]; g.rank < 0 {
			return g, peerUnknown, false
		}
		return g, "", false
	}
	g.group = j.anyOf(g.of.comm, g.of.comm.across(g.of.side))
	return g, "", false
}

// send is the outcome of a send that is pending. It waits for a receive only
// if the message lies with the receiver: else it is on its way, or has just
// been taken.
func (j *job) send(g goal) (goal, string, bool) {
	s, ok := g.of.send(g.op)
	if g.rank = g.of.globalOf(g.op.DesiredLocalRank.Value); !ok || g.rank < 0 {
		return g, peerUnknown, false
	}
	r, to, dest := &j.ranks[g.of.rank], g.of.peers().member(s.dest), &j.ranks[g.rank]
	g.transit = !r.confirmed || !dest.ran && !dest.gone() && g.rank != g.of.rank
	switch {
	case dest.gone():
		g.transit = g.transit || !dest.stays
		return g, "", false // it may have taken the message before
	case dest.unreadable():
		return g, queuesUnknown, false
	case to == nil || !to.readable(mqs.PendingReceives):
		return g, takenUnknown, false
	case j.receives.match(s.envelope):
		return g, "", true
	case dest.vague[mqs.PendingReceives]:
		return g, takenUnknown, false
	case g.rank == g.of.rank:
		g.transit = false // there is no way between a rank and itself
		return g, "", false
	case !to.readable(mqs.UnexpectedMessages):
		return g, takenUnknown, false
	case j.unexpected.like(s) >= j.sends.like(s):
		switch isIts := j.liesThere(r, s); {
		case isIts && !j.past.Again:
			g.transit = false
		case !isIts && !dest.stays: // its own may have been taken, and the answer be under way
			g.transit = true
		}
		return g, "", false
	case dest.in(finalize) && !j.settled(g.of, to):
		// It may have been taken before, or MPI may not look at messages any more.
		return g, takenUnknown, false
	case dest.vague[mqs.UnexpectedMessages]:
		return g, takenUnknown, false // it may lie there
	}
	return g, "", true
}
