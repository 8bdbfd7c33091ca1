package waitfor

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

const finalize = "MPI_Finalize"

// rankSet is a set of ranks for which others wait together. It is one node of the graph, however
// many ranks wait for it.
type rankSet struct {
	id  int32 // index into the job's rankSets
	all bool  // for all of them, else for any
	// someOf is true if it is for some of them, and which ones is not known.
	someOf bool
	ranks  []int32
	// unknown says what is not known of them, as a clause; else it is empty.
	unknown string
	// What is waited for: any message on a communicator, or that ranks enter a call on it. The
	// communicator is nil for MPI_Finalize.
	comm *communicator
	call string
	// everyone is true if those who wait for a call are members of the set themselves.
	everyone bool
}

// affords says whether the graph may have so many more members of sets. A job whose ranks can be
// read has few sets that are as large as the job, while a few bytes can claim any number.
func (j *job) affords(members int) bool {
	most := maxMembers + membersForEach*len(j.ranks)
	j.listed = min(j.listed+members, most+1)
	return j.listed <= most
}

// newRankSet adds a set to the graph.
func (j *job) newRankSet(g rankSet) *rankSet {
	if !j.affords(len(g.ranks)) {
		g.ranks, g.unknown = nil, manyUnknown
	}
	g.id = int32(len(j.rankSets))
	j.rankSets = append(j.rankSets, &g)
	return &g
}

// anyOf returns the members of one side of a communicator, for a message from any of them or, if its source is not known,
// from one of them.
func (j *job) anyOf(c *communicator, side int, isKnown bool) *rankSet {
	s := &c.sides[side]
	at := &s.anyOf
	if !isKnown {
		at = &s.someOf
	}
	if *at == nil {
		g := rankSet{comm: c, ranks: s.group, someOf: !isKnown}
		switch {
		case !slices.Contains(s.group, -1):
		case j.affords(len(s.group)):
			g.ranks, g.unknown = knownRanks(s.group), membersUnknown
		default:
			g.ranks, g.unknown = nil, manyUnknown
		}
		*at = j.newRankSet(g)
	}
	return *at
}

// collective is one collective call that members of a communicator are in.
type collective struct {
	// ranks are those that have not entered it, or may not have, from both sides of an
	// intercommunicator.
	ranks   []int32
	entered []int32
	unknown string
	allOf   *rankSet // all of those that have not entered
	oneOf   *rankSet // any of them
	// progress says why one of those that have entered may still get on by itself, so that members which
	// are not in the call may have left it; else it is empty. transit is true if a message that no count
	// shows may be in transit to one of them.
	progress  string
	transit   bool
	evaluated bool
}

// has says whether a rank has certainly entered.
func (c *collective) has(rank int32) bool {
	_, entered := slices.BinarySearch(c.entered, rank)
	return entered
}

// callKey tells collectives apart.
type callKey struct {
	comm *communicator
	call string
}

// collectives are the collective calls that ranks of the job are in.
type collectives struct {
	j     *job
	calls map[callKey]*collective
	found map[callKey][]int32 // who has entered, in order
}

// newCollectives finds which ranks have entered which calls.
func newCollectives(j *job) *collectives {
	c := &collectives{j, map[callKey]*collective{}, map[callKey][]int32{}}
	for i := range j.ranks {
		r := &j.ranks[i]
		if r.process == nil {
			continue
		}
		if r.process.Phase == mqs.Finished {
			c.enter(callKey{nil, finalize}, int32(i))
		}
		for k := range r.process.Threads {
			t := &r.process.Threads[k]
			if !behaviours[t.Call].collective() {
				continue
			}
			if t.Call == finalize {
				c.enter(callKey{nil, finalize}, int32(i))
			} else if m := r.member(t.Comm); m != nil && m.comm.known {
				c.enter(callKey{m.comm, t.Call}, int32(i))
			}
		}
	}
	return c
}

func (c *collectives) enter(key callKey, rank int32) {
	if ranks := c.found[key]; len(ranks) == 0 || ranks[len(ranks)-1] != rank {
		c.found[key] = append(ranks, rank)
	}
}

// of returns which ranks have not entered a collective that some rank is in.
func (c *collectives) of(key callKey) *collective {
	if found, ok := c.calls[key]; ok {
		return found
	}
	out := &collective{entered: c.found[key]}
	c.calls[key] = out
	if !c.j.affords(c.j.sizeOf(key.comm)) {
		out.unknown = manyUnknown
		return out
	}
	for _, rank := range c.j.membersOf(key.comm) {
		if rank < 0 {
			out.unknown = membersUnknown
			continue
		}
		if out.has(rank) {
			continue
		}
		if c.j.mayHaveEntered(rank, key) {
			out.unknown = enteredUnknown
		} else {
			out.ranks = append(out.ranks, rank)
		}
	}
	if key.comm == nil && (!c.j.worldKnown || len(c.j.which(isAlone)) > 0) {
		out.unknown = membersUnknown
	}
	return out
}

// membersOf returns the global ranks of a communicator's members, -1 for those not known. For nil it
// returns all ranks of the job.
func (j *job) membersOf(c *communicator) []int32 {
	switch {
	case c == nil:
		all := make([]int32, len(j.ranks))
		for i := range all {
			all[i] = int32(i)
		}
		return all
	case c.inter:
		return slices.Concat(c.sides[0].group, c.sides[1].group)
	}
	return c.sides[0].group
}

// sizeOf returns the number of ranks that membersOf returns.
func (j *job) sizeOf(c *communicator) int {
	if c == nil {
		return len(j.ranks)
	}
	return len(c.sides[0].group) + len(c.sides[1].group)
}

// mayHaveEntered says whether a rank that is not known to be in a collective may be in it all the
// same, since too little is known of it.
func (j *job) mayHaveEntered(rank int32, key callKey) bool {
	r := &j.ranks[rank]
	switch {
	case r.process == nil:
		return false
	case key.comm == nil && r.process.Phase == mqs.Exited:
		return true
	case r.gone():
		return false
	case !isPlaced(r.process):
		return true
	case key.comm == nil:
		return false
	}
	for i := range r.process.Threads {
		if t := &r.process.Threads[i]; t.Call == key.call {
			m := r.member(t.Comm)
			if m == nil || !m.comm.known || !slices.ContainsFunc(r.members, func(m *member) bool { return m.comm == key.comm }) {
				return true
			}
		}
	}
	return false
}

// rankSet returns the ranks that have not entered, as one set.
func (c *collectives) rankSet(key callKey, all bool) *rankSet {
	of := c.of(key)
	place := &of.oneOf
	if all {
		place = &of.allOf
	}
	if *place == nil {
		*place = c.j.newRankSet(rankSet{all: all, ranks: of.ranks, unknown: of.unknown, comm: key.comm, call: key.call})
	}
	return *place
}

// waitFor is a wait for the ranks that have not entered a collective: for all of them, or for at
// least one of them. If there are none, the collective is in progress.
func (c *collectives) waitFor(t *mqs.Thread, key callKey, all bool) wait {
	g := c.rankSet(key, all)
	if len(g.ranks) == 0 {
		return wait{thread: t, satisfied: g.unknown == "", unknown: g.unknown}
	}
	return wait{thread: t, all: true, unknown: g.unknown, deps: []dependency{{rank: -1, set: g}}}
}

// waitInCollective is the wait of a thread in a collective call. The call waits for the messages by
// which the library carries it out, if they are known. Else it waits for members that are not in the
// call: these have yet to enter, since they can't have left while nobody who has entered can go on.
func (j *job) waitInCollective(r *rank, t *mqs.Thread, c *collectives) wait {
	b := behaviours[t.Call]
	m := r.member(t.Comm)
	isKnown := m != nil && m.comm.known
	parts := j.waitForParts(r, t)
	switch {
	case isKnown && !m.comm.inter && takesNothing[t.Call] && (parts == nil || j.mayBeOver(r, t)) && c.areAllIn(callKey{m.comm, t.Call}):
		return wait{thread: t, satisfied: true}
	case len(t.Flags) > 0:
		return j.waitForFlags(r, t, c)
	case r.arriving():
		return wait{thread: t, unknown: arrivingUnknown}
	case j.mayBeOver(r, t):
		return wait{thread: t, unknown: progressUnknown}
	case parts != nil: // no other message ends it
		if isKnown && b == synchronises && !m.comm.inter {
			parts.standardMeaning = c.rankSet(callKey{m.comm, t.Call}, true)
		}
		return *parts
	case !isKnown:
		return wait{thread: t, unknown: commUnknown}
	case j.onItsWay(r, m):
		return wait{thread: t, unknown: partUnknown}
	case len(t.Requests) == 0:
		return wait{thread: t, unknown: progressUnknown}
	}
	// It waits through those that have entered, for those that have not.
	key := callKey{m.comm, t.Call}
	if why := c.inProgress(key); why != "" {
		return wait{thread: t, unknown: why}
	}
	w := j.waitForOthers(t, m, c)
	inTransit := j.partsMayBeInTransit(r, m) || c.of(key).transit
	for i := range w.deps {
		g := &w.deps[i]
		g.transit = g.transit || inTransit
	}
	return w
}

// takesNothing has the collectives that nobody leaves before all have entered, and that all members who have entered get
// through, whatever they were given: no root, and neither data nor groups that have to agree.
var takesNothing = map[string]bool{"MPI_Barrier": true, "MPI_Comm_dup": true, "MPI_Comm_dup_with_info": true, "MPI_Comm_split": true, "MPI_Comm_split_type": true,
	"MPI_Win_create": true, "MPI_Win_create_dynamic": true, "MPI_Win_allocate": true, "MPI_Win_allocate_shared": true, "MPI_File_open": true}

// areAllIn says whether all members of a communicator are known to be in a call: in the same one of several, or some in
// the next, for which they can get out of that.
func (c *collectives) areAllIn(key callKey) bool {
	of := c.of(key)
	return len(of.ranks) == 0 && of.unknown == "" && len(of.entered) == c.j.sizeOf(key.comm)
}

// inProgress says why one of the ranks that have entered a call may still get on by itself; it is
// empty if none can. As long as one can, members that are not in the call may have left it already.
func (c *collectives) inProgress(key callKey) string {
	of := c.of(key)
	if of.evaluated {
		return of.progress
	}
	of.evaluated = true
	for _, rank := range of.entered {
		r := &c.j.ranks[rank]
		for i := range r.process.Threads {
			t := &r.process.Threads[i]
			m := r.member(t.Comm)
			if t.Call != key.call || m == nil || m.comm != key.comm {
				continue
			}
			switch {
			case r.arriving():
				of.progress = arrivingUnknown
			case c.j.onItsWay(r, m):
				of.progress = comingUnknown
			case len(t.Requests) == 0 && len(t.Flags) == 0 || c.j.mayPassFlags(r, t) || c.j.mayBeOver(r, t) || c.j.mayGetOn(r, t):
				of.progress = progressUnknown
			}
			of.transit = of.transit || c.j.partsMayBeInTransit(r, m)
		}
	}
	return of.progress
}

// mayBeOver says whether the messages that a call seems to wait for may belong to a non-blocking
// collective of the program's, while the call's own have just come. If the call is still there after
// it has run, with nothing else on its way, they are its own.
func (j *job) mayBeOver(r *rank, t *mqs.Thread) bool {
	ops, _ := r.operations(t.Requests)
	return !r.confirmed && slices.ContainsFunc(ops, func(o dependency) bool { return slices.Contains(o.op.ExtraText, mqs.NonBlockingCollective) })
}

// mayGetOn says whether a member of a collective, or a rank with which it exchanges a message, may
// go on as things are: one of its messages has matched, or may have, or all have been transferred.
func (j *job) mayGetOn(r *rank, t *mqs.Thread) bool {
	ops, _ := r.operations(t.Requests)
	complete := 0
	for _, o := range ops {
		_, unknown, done := j.outcome(o)
		switch {
		case o.op.Status == mqs.Complete:
			complete++
		case done, o.op.Internal && unknown != "":
			return true
		}
	}
	return len(ops) > 0 && complete == len(ops)
}

// waitForOthers is the wait of a member of a collective for those that have not entered it. If
// members may leave before all have entered, it waits for at least one of them, and nobody knows for
// whom else: other members, the root included, may have left already, or may have yet to hand a
// message on.
func (j *job) waitForOthers(t *mqs.Thread, m *member, c *collectives) wait {
	key := callKey{m.comm, t.Call}
	if behaviours[t.Call] == synchronises && !m.comm.inter || m.comm.isAlone() {
		return c.waitFor(t, key, true)
	}
	w := c.waitFor(t, key, false)
	w.satisfied, w.unknown = false, cmp.Or(w.unknown, someUnknown)
	return w
}

// waitForParts is a wait for the messages that a collective call is known to wait for; nil if none
// are known. Other messages of the library's on the communicator may belong to a non-blocking
// collective, with which the call has nothing to do. A send that may be the program's own may be
// one more message of the call.
func (j *job) waitForParts(r *rank, t *mqs.Thread) *wait {
	ops, _ := r.operations(t.Requests)
	more := slices.ContainsFunc(ops, func(o dependency) bool {
		return o.class == mqs.PendingSends && !o.op.Internal && o.op.Status != mqs.Complete
	})
	ops = slices.DeleteFunc(ops, func(o dependency) bool { return !o.op.Internal })
	if len(ops) == 0 {
		return nil
	}
	w := j.waitForOperations(wait{thread: t, all: true}, ops, true)
	if more {
		w.satisfied, w.unknown = false, cmp.Or(w.unknown, requestsUnknown)
	}
	return &w
}

// onItsWay says whether messages of a collective on a communicator may be on their way to a rank.
// The library may send them on communicators of its own.
func (j *job) onItsWay(r *rank, m *member) bool {
	for _, other := range r.members {
		if (other == m || other.Internal) && other.comm.known && other.local >= 0 && !other.comm.isAlone() &&
			j.onTheWay.match(envelope{other.comm.channel(other.side, false), other.local, mqs.AnyRank, anyTag}) {
			return true
		}
	}
	return false
}

// partsMayBeInTransit says whether a message of a collective on a communicator that no count shows
// may be in transit to a rank.
func (j *job) partsMayBeInTransit(r *rank, m *member) bool {
	for _, other := range r.members {
		if (other == m || other.Internal && other.comm.mayBeWithin(m.comm)) && !other.comm.isAlone() && j.mayBeInTransit(other, mqs.AnyRank) {
			return true
		}
	}
	return false
}

// mayBeWithin says whether all members of a communicator may be members of another. That is so for
// the communicators that a library makes for collectives on the other, as for the members that share
// a machine.
func (c *communicator) mayBeWithin(of *communicator) bool {
	return !c.known || !of.known || c.inter || of.inter || len(c.sides[0].group) <= len(of.sides[0].group)
}

// isAlone says whether a communicator has one member only, which needs nobody.
func (c *communicator) isAlone() bool { return c.known && !c.inter && len(c.sides[0].group) == 1 }
