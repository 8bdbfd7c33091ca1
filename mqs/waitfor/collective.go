package waitfor

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

const finalize = "MPI_Finalize"

// group is several ranks that others wait for together: one node of the graph,
// however many wait for it.
type group struct {
	id    int32 // among the job's groups
	all   bool  // for all of them, else for any
	ranks []int32
	// unknown says what can't be known of them, as a clause; else empty.
	unknown string
	// What is waited for: any message on a communicator, or that ranks enter a
	// call on it. The communicator is nil for MPI_Finalize.
	comm *communicator
	call string
}

// affords says whether the graph may have as many members of groups more. A job whose ranks
// can be looked at has few groups that are as large as itself, and a few bytes can claim any number.
func (j *job) affords(members int) bool {
	most := maxMembers + membersForEach*len(j.ranks)
	j.listed = min(j.listed+members, most+1)
	return j.listed <= most
}

// newGroup makes a group that the graph will have.
func (j *job) newGroup(g group) *group {
	if !j.affords(len(g.ranks)) {
		g.ranks, g.unknown = nil, manyUnknown
	}
	g.id = int32(len(j.groups))
	j.groups = append(j.groups, &g)
	return &g
}

// anyOf is the members of one side of a communicator, for a message from any of them.
func (j *job) anyOf(c *communicator, side int) *group {
	s := &c.sides[side]
	if s.anyOf == nil {
		g := group{comm: c, ranks: s.group}
		switch {
		case !slices.Contains(s.group, -1):
		case j.affords(len(s.group)):
			g.ranks, g.unknown = known(s.group), membersUnknown
		default:
			g.ranks, g.unknown = nil, manyUnknown
		}
		s.anyOf = j.newGroup(g)
	}
	return s.anyOf
}

// collective is one function that members of a communicator are in.
type collective struct {
	// ranks are those that have not entered, or may not have; members of both
	// sides of an intercommunicator.
	ranks   []int32
	entered []int32
	unknown string
	allOf   *group // all of those that have not entered
	oneOf   *group // any of them
	// progress says, of those that have entered, why one of them may still get on by itself, so
	// that members which are not in the call may have left it; else empty. transit is true if a
	// message may be in transit to one of them that no count shows.
	progress string
	transit  bool
	asked    bool
}

// has says whether a rank has entered for certain.
func (c *collective) has(rank int32) bool {
	_, entered := slices.BinarySearch(c.entered, rank)
	return entered
}

// callKey tells collectives apart.
type callKey struct {
	comm *communicator
	call string
}

// collectives are those that ranks of the job are in.
type collectives struct {
	j     *job
	calls map[callKey]*collective
	found map[callKey][]int32 // who has entered, in order
}

// newCollectives finds who has entered what.
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

// of returns who has not entered a collective that somebody is in.
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
	if key.comm == nil && !c.j.worldKnown {
		out.unknown = membersUnknown
	}
	return out
}

// membersOf are the ranks of a communicator, those of all ranks if it is nil;
// -1 for those not known.
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

// sizeOf is how many ranks membersOf has.
func (j *job) sizeOf(c *communicator) int {
	if c == nil {
		return len(j.ranks)
	}
	return len(c.sides[0].group) + len(c.sides[1].group)
}

// mayHaveEntered says whether a rank that is not known to be in a collective
// may be all the same, since what is known of it does not suffice.
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

// group returns those that have not entered, as one to wait for.
func (c *collectives) group(key callKey, all bool) *group {
	of := c.of(key)
	place := &of.oneOf
	if all {
		place = &of.allOf
	}
	if *place == nil {
		*place = c.j.newGroup(group{all: all, ranks: of.ranks, unknown: of.unknown, comm: key.comm, call: key.call})
	}
	return *place
}

// waitFor is a wait for those that have not entered a collective: for all of them, or for
// one of them at least. Once all are in a call that nobody leaves before, it is in progress.
func (c *collectives) waitFor(t *mqs.Thread, key callKey, all bool) wait {
	g := c.group(key, all)
	if len(g.ranks) == 0 {
		return wait{thread: t, free: g.unknown == "", unknown: g.unknown}
	}
	return wait{thread: t, all: true, unknown: g.unknown, goals: []goal{{rank: -1, group: g}}}
}

// waitInCollective is that of a thread in a collective call. The call waits for the messages by
// which the library carries it out, if they are known. If they are not, it waits for members that
// are not in the call: these have not come yet, since they can't have left as long as nobody who
// has entered can go on.
func (j *job) waitInCollective(r *rank, t *mqs.Thread, c *collectives) wait {
	b := behaviours[t.Call]
	m := r.member(t.Comm)
	isKnown := m != nil && m.comm.known
	parts := j.parts(r, t)
	switch {
	case r.arriving():
		return wait{thread: t, unknown: arrivingUnknown}
	case j.mayBeOver(r, t):
		return wait{thread: t, unknown: progressUnknown}
	case parts != nil: // no other message ends it
		if isKnown && b == synchronises && !m.comm.inter {
			parts.meaning = c.group(callKey{m.comm, t.Call}, true)
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
	for i := range w.goals {
		g := &w.goals[i]
		g.transit = g.transit || inTransit
	}
	return w
}

// inProgress says why one of those that have entered a call may still get on by itself. Unless
// none can, those that are not in the call may be through with it.
func (c *collectives) inProgress(key callKey) string {
	of := c.of(key)
	if of.asked {
		return of.progress
	}
	of.asked = true
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
			case len(t.Requests) == 0 || c.j.mayBeOver(r, t) || c.j.mayGetOn(r, t):
				of.progress = progressUnknown
			}
			of.transit = of.transit || c.j.partsMayBeInTransit(r, m)
		}
	}
	return of.progress
}

// mayBeOver says whether the messages that a call has been found to wait for may be those of a
// non-blocking collective of the program's: its own may have come this moment. Where it is still
// there after it has run, with nothing else on its way, they are its own.
func (j *job) mayBeOver(r *rank, t *mqs.Thread) bool {
	ops, _ := r.operations(t.Requests)
	return !r.confirmed && slices.ContainsFunc(ops, func(o goal) bool { return slices.Contains(o.op.ExtraText, mqs.NonBlockingCollective) })
}

// mayGetOn says whether a member of a collective can go on as things are, or one that it
// exchanges a message with: one of its messages has found its other side, or may have, or
// all have been transferred.
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

// waitForOthers is that of a member of a collective for those that have not entered it. If
// members may leave before all have, it waits for one of them at least, and nobody knows for
// whom else: the others may be through, a root included, or be what its messages come over.
func (j *job) waitForOthers(t *mqs.Thread, m *member, c *collectives) wait {
	key := callKey{m.comm, t.Call}
	if behaviours[t.Call] == synchronises && !m.comm.inter || m.comm.isAlone() {
		return c.waitFor(t, key, true)
	}
	w := c.waitFor(t, key, false)
	w.free, w.unknown = false, cmp.Or(w.unknown, someUnknown)
	return w
}

// parts is a wait for the messages that a collective call has been shown to wait for, nil if
// none are known. Others of the library's own on the communicator may be those of a
// non-blocking collective, which the call has nothing to do with. A send of which it is not
// known that it is the library's own may be one more of them.
func (j *job) parts(r *rank, t *mqs.Thread) *wait {
	ops, _ := r.operations(t.Requests)
	more := slices.ContainsFunc(ops, func(o goal) bool {
		return o.class == mqs.PendingSends && !o.op.Internal && o.op.Status != mqs.Complete
	})
	ops = slices.DeleteFunc(ops, func(o goal) bool { return !o.op.Internal })
	if len(ops) == 0 {
		return nil
	}
	w := j.waitForOperations(wait{thread: t, all: true}, ops, true)
	if more {
		w.free, w.unknown = false, cmp.Or(w.unknown, requestsUnknown)
	}
	return &w
}

// onItsWay says whether messages of a collective on a communicator may be on
// their way to a rank: the library may use communicators of its own.
func (j *job) onItsWay(r *rank, m *member) bool {
	for _, other := range r.members {
		if (other == m || other.Internal) && other.comm.known && other.local >= 0 && !other.comm.isAlone() &&
			j.onTheWay.any(envelope{other.comm.lane(other.side, false), other.local, mqs.AnyRank, anyTag}) {
			return true
		}
	}
	return false
}

// partsMayBeInTransit says whether a message of a collective on a communicator may be in
// transit to a rank that no count shows.
func (j *job) partsMayBeInTransit(r *rank, m *member) bool {
	for _, other := range r.members {
		if (other == m || other.Internal && other.comm.mayBeWithin(m.comm)) && !other.comm.isAlone() && j.mayBeInTransit(other, mqs.AnyRank) {
			return true
		}
	}
	return false
}

// mayBeWithin says whether all members of a communicator may be of another: what a library
// makes for the collectives on one, as for those of its members that share a machine, is.
func (c *communicator) mayBeWithin(of *communicator) bool {
	return !c.known || !of.known || c.inter || of.inter || len(c.sides[0].group) <= len(of.sides[0].group)
}

// isAlone says whether a communicator has one member, who needs nobody.
func (c *communicator) isAlone() bool { return c.known && !c.inter && len(c.sides[0].group) == 1 }
