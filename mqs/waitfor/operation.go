package waitfor

import "github.com/mpi-queues/mpi-queues/mqs"

// outcome returns what a wait for one operation comes to: a dependency, or a clause that says what is
// not known, or that the operation will be over as things are.
func (j *job) outcome(g dependency) (_ dependency, unknown string, done bool) {
	g.rank = -1
	if g.request != nil {
		return j.nonBlocking(g)
	}
	switch {
	case g.op.Status == mqs.Complete:
		return g, "", true
	case g.op.IsPartitioned():
		return j.partitioned(g)
	case g.op.Status == mqs.Matched:
		return j.matched(g)
	case g.op.Status != mqs.Pending:
		return g, stateUnknown, false
	case j.ranks[g.member.rank].arriving():
		return g, arrivingUnknown, false
	case g.willFail() != "":
		return g, g.willFail(), false
	case !g.member.comm.known || g.member.local < 0:
		return g, membersUnknown, false
	case g.class == mqs.PendingSends:
		return j.send(g)
	}
	return j.receive(g)
}

// matched is the outcome of an operation that has matched. It only needs its peer to call MPI.
func (j *job) matched(g dependency) (dependency, string, bool) {
	peer := firstKnown(g.op.ActualLocalRank, g.op.DesiredLocalRank)
	if !peer.Known {
		return g, peerUnknown, false
	}
	if r := j.at(g.member.globalOf(peer.Value)); r == nil || r.process == nil || r.gone() {
		return g, peerUnknown, false
	}
	return g, "", true
}

// receive is the outcome of a receive or a probe that no message has matched.
func (j *job) receive(g dependency) (dependency, string, bool) {
	e, ok := g.member.receive(g.op)
	isFromKnown := g.op.DesiredLocalRank.Known
	if !isFromKnown { // it is one of the members
		e.source, ok = mqs.AnyRank, g.member.comm.known && g.member.local >= 0
	}
	if !ok {
		return g, peerUnknown, false
	}
	// A message that has come, or is on its way, will be found.
	r, channel := &j.ranks[g.member.rank], envelope{g.member.comm.channel(g.member.side, false), e.dest, e.source, anyTag}
	has := j.unexpected.match(e) || j.sends.match(e)
	switch {
	case (has && hasTag(g.op) || j.onTheWay.match(channel)) && isFromKnown:
		return g, "", true
	case has && hasTag(g.op), j.onTheWay.match(channel):
		return g, fromUnknown, false
	case !g.member.readable(mqs.UnexpectedMessages) || g.member.cut(mqs.UnexpectedMessages):
		return g, cutUnknown, false
	case has: // it may have come since the previous look
		return g, tagUnknown, false
	case g.member.obscure && (!r.confirmed || isProbe(g.op)): // a message stays unmatched when a probe has found it
		return g, comeUnknown, false
	}
	// What lies there unmatched does not match, unless it has only just come.
	unseen := r.vague[mqs.UnexpectedMessages] || j.vagueSends(g.member, e.source)
	g.transit = j.mayBeInTransit(g.member, e.source) || unseen && !r.confirmed
	if e.source != mqs.AnyRank {
		if g.rank = g.member.globalOf(e.source); g.rank < 0 {
			return g, g.member.whoIs(e.source), false
		}
		return g, "", false
	}
	peers := g.member.peers()
	if len(peers.group) == 1 {
		if g.rank = peers.group[0]; g.rank < 0 {
			return g, peerUnknown, false
		}
		return g, "", false
	}
	g.set = j.anyOf(g.member.comm, g.member.comm.across(g.member.side), isFromKnown)
	return g, "", false
}

// send is the outcome of a pending send. It waits for a receive only if its message is unexpected at
// the receiver: else the message is on its way, or has just been received.
func (j *job) send(g dependency) (dependency, string, bool) {
	s, ok := g.member.send(g.op)
	if g.rank = g.member.globalOf(g.op.DesiredLocalRank.Value); !ok || g.rank < 0 {
		return g, g.member.whoIs(g.op.DesiredLocalRank.Value), false
	}
	r, to, dest := &j.ranks[g.member.rank], g.member.peers().member(s.dest), &j.ranks[g.rank]
	g.transit = !r.confirmed || !dest.ran && !dest.gone() && g.rank != g.member.rank
	switch {
	case dest.gone():
		g.transit = g.transit || !dest.stays
		return g, "", false // it may have received the message before
	case isUnsent(g.op):
		return g, "", true // it leaves as soon as the library has room for it, and lies nowhere yet
	case dest.unreadable():
		return g, queuesUnknown, false
	case to == nil || !to.readable(mqs.PendingReceives):
		return g, takenUnknown, false
	case j.isPosted(s.envelope):
		return g, "", true
	case dest.vague[mqs.PendingReceives]:
		return g, takenUnknown, false
	case g.rank == g.member.rank:
		g.transit = false // nothing is in transit between a rank and itself
		return g, "", false
	case !to.readable(mqs.UnexpectedMessages):
		return g, takenUnknown, false
	case j.unexpected.countAlike(s) >= j.sends.countAlike(s):
		switch isIts := j.lieUnmatched(r, s); {
		case isIts && !j.past.Again:
			g.transit = false
		case !isIts && !dest.stays: // its own message may have been received, and the answer be in transit
			g.transit = true
		}
		return g, "", false
	case dest.in(finalize) && !j.settled(g.member, to) && r.same && r.ran && dest.same:
		// MPI may not poll for messages any more, and no receive is left that matches this one. If the message was received
		// before MPI_Finalize, the answer should have come since the previous sample.
		g.transit = true
		return g, "", false
	case dest.in(finalize) && !j.settled(g.member, to):
		return g, takenUnknown, false // it may have been received before
	case dest.vague[mqs.UnexpectedMessages]:
		return g, takenUnknown, false // it may be among the unexpected messages
	case r.confirmed && dest.isOutside():
		// Its library takes the message when the rank calls MPI again. If it has taken it since the previous sample, the answer is
		// in transit.
		g.transit = true
		return g, "", false
	}
	return g, "", true
}
