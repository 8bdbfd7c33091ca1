package waitfor

import "github.com/mpi-queues/mpi-queues/mqs"

// A message that is in transit, or that a library is just handling, is in no queue. That there is no
// such message is known of two processes that count what they have sent to each other, and of a
// process that has run since the previous look and still waits for the same.

// counted says whether both sides count the messages to a member from a peer, which may be
// [mqs.AnyRank]. The counts of a communicator are gone once its process has freed it.
func (m *member) counted(source int32) bool {
	from := m.peers()
	switch {
	case m.Traffic == nil:
		return false
	case source == mqs.AnyRank:
		return from.counting == len(from.group)
	}
	peer := from.member(source)
	return peer != nil && peer.Traffic != nil
}

// mayBeInTransit says whether a message that no count shows may be in transit to a member from a
// peer, which may be [mqs.AnyRank].
func (j *job) mayBeInTransit(m *member, source int32) bool {
	counted := m.counted(source)
	switch r := &j.ranks[m.rank]; {
	case !r.confirmed:
		return !counted || j.past.Again || j.vagueSends(m, source)
	case counted:
		return false
	}
	return !j.haveRun(m.comm, m.comm.across(m.side), source)
}

// vagueSends says whether a peer may have a send of which too little is known to match it.
func (j *job) vagueSends(m *member, source int32) bool {
	if source == mqs.AnyRank {
		return j.vagueSend
	}
	r := j.at(m.globalOf(source))
	return r == nil || r.vague[mqs.PendingSends]
}

// haveRun says whether the source, or all members of a side of a communicator if the source is
// [mqs.AnyRank], can have no message in transit: each has run since the previous look, so that what
// it had sent by then was handed on, and has sent nothing since.
func (j *job) haveRun(c *communicator, at int, source int32) bool {
	s := &c.sides[at]
	has := func(rank int32) bool {
		r := j.at(rank)
		return r != nil && r.stays && (r.ran || r.gone())
	}
	if source != mqs.AnyRank {
		return int(source) < len(s.group) && has(s.group[source])
	}
	if !s.evaluated {
		s.evaluated, s.ran = true, true
		for _, rank := range s.group {
			s.ran = s.ran && has(rank)
		}
	}
	return s.ran
}

// holds says whether a dependency counts. It does not if a message in transit may have met it, unless
// the analysis assumes that there is none.
func (j *job) holds(g *dependency) bool { return j.assumeNoTransit || !g.transit }
