package waitfor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// All members give a non-blocking collective the same number on its communicator, and each counts those that
// it has entered. Who has entered one carries it on in every MPI call that it is in, whatever that waits for, and
// in none while it computes. So a request waits for one of the members that have not entered the collective or
// that are in no MPI call, as long as those that have entered it wait, too, for messages of it that have not come.

// Clauses that say what is not known of a wait for a non-blocking collective.
const (
	numberUnknown     = "which of the non-blocking collectives on its communicator it is, is not known"
	whoEnteredUnknown = "which of its members have entered the non-blocking collective is not known"
	roundUnknown      = "how far a member has come with the non-blocking collective is not known"
)

// farApart is the least difference between two members' counts that is taken for that of one whose count has
// begun again: it has no more than some 2^18 numbers in some MPICH.
const farApart = 1 << 16

// nonBlockingKey tells the non-blocking collectives of a job apart. The number of a persistent one says that it
// was made, not that it was started.
type nonBlockingKey struct {
	comm         *communicator
	number       int64
	isPersistent bool
}

// nonBlocking is a non-blocking collective that some rank waits for.
type nonBlocking struct {
	// releasers are the members of which one has to do something; all, if it is nobody's turn.
	releasers *rankSet
	missing   []int32 // those that have certainly not entered it, in order
	entered   []int32 // those that have certainly entered it, in order
	unknown   string  // what is not known of it, as a clause; else empty
	// transit is true if a message that no count shows may be in transit to a member that has entered it.
	transit bool
	// goesOn is true if a member that has entered it is sure to get on with it by itself, isVague if that is
	// not known of some.
	goesOn, isVague bool
}

// operationsAndCollectives finds what requests stand for, and says whether that is known of each.
func (r *rank) operationsAndCollectives(requests []inferior.Addr) ([]dependency, bool) {
	var out []dependency
	others := slices.DeleteFunc(slices.Clone(requests), func(a inferior.Addr) bool {
		at := slices.IndexFunc(r.process.CollectiveRequests, func(c mqs.CollectiveRequest) bool { return c.Request == a })
		if at < 0 {
			return false
		}
		c := &r.process.CollectiveRequests[at]
		out = append(out, dependency{request: c, member: r.member(c.Comm), by: r})
		return true
	})
	ops, found := r.operations(others)
	return append(out, ops...), found
}

// nonBlocking is the outcome of the request of a non-blocking collective.
func (j *job) nonBlocking(g dependency) (_ dependency, unknown string, done bool) {
	switch g.request.Status {
	case mqs.Complete, mqs.Inactive: // of one that is not started nobody waits
		return g, "", true
	case mqs.Pending:
	default:
		return g, stateUnknown, false
	}
	switch {
	case g.by.arriving():
		return g, arrivingUnknown, false
	case g.member == nil || !g.member.comm.known:
		return g, membersUnknown, false
	case !g.request.Sequence.Known:
		return g, numberUnknown, false
	}
	n := j.nonBlockingOf(nonBlockingKey{g.member.comm, g.request.Sequence.Value, g.request.Persistent})
	g.set, g.transit = n.releasers, n.transit
	return g, n.unknown, n.unknown == "" && n.releasers == nil
}

// nonBlockingOf finds who has entered a collective, once.
func (j *job) nonBlockingOf(key nonBlockingKey) *nonBlocking {
	if n := j.nonBlockings[key]; n != nil {
		return n
	}
	n := &nonBlocking{}
	if j.nonBlockings == nil {
		j.nonBlockings = map[nonBlockingKey]*nonBlocking{}
	}
	j.nonBlockings[key] = n
	members := j.membersOf(key.comm)
	if slices.Contains(members, -1) {
		n.unknown = membersUnknown
		return n
	}
	if !j.affords(len(members)) {
		n.unknown = manyUnknown
		return n
	}
	var releasers []int32
	for _, rank := range members {
		if j.mayRelease(n, key, rank) {
			releasers = append(releasers, rank)
		}
	}
	slices.Sort(n.missing)
	slices.Sort(n.entered)
	isNobodys := len(releasers) == 0
	if isNobodys {
		releasers = members
	}
	switch {
	case isNobodys && len(members) == 1:
		n.unknown = roundUnknown // it needs nobody else
	case isNobodys && n.goesOn && !n.isVague:
		n.unknown = "" // it is about to be over
	case n.unknown == "":
		n.releasers = j.newRankSet(rankSet{ranks: releasers, comm: key.comm, call: numbered(key.number), someOf: len(releasers) > 1, everyone: isNobodys})
		n.unknown = n.releasers.unknown
	}
	return n
}

// mayRelease says whether a collective may go on when a member does something, as far as it is not known that
// it goes on anyway.
func (j *job) mayRelease(n *nonBlocking, key nonBlockingKey, rank int32) bool {
	r := &j.ranks[rank]
	m := r.memberOf(key.comm)
	if r.unreadable() || m == nil || !m.NonBlockingCollectives.Known {
		return true
	}
	switch count := m.NonBlockingCollectives.Value; {
	case count-key.number > farApart || key.number-count > farApart:
		n.unknown = whoEnteredUnknown
		return true
	case count < key.number:
		n.missing = append(n.missing, rank)
		return true
	case !key.isPersistent:
		n.entered = append(n.entered, rank)
	}
	at := slices.IndexFunc(r.process.CollectiveRequests, func(c mqs.CollectiveRequest) bool {
		return c.Comm == mqs.Known(m.UniqueID) && c.Sequence == mqs.Known(key.number) && c.Status == mqs.Pending
	})
	switch {
	case r.process.CollectiveRequests != nil && at < 0 && !key.isPersistent && !r.mayBegin():
		return false // it has done its part
	case r.mobility != waiting || !r.progresses():
		return true
	case r.process.CollectiveRequests == nil:
		n.unknown, n.isVague = roundUnknown, true
	case at >= 0:
		n.unknown = cmp.Or(j.mayCarryOn(n, m, &r.process.CollectiveRequests[at]), n.unknown)
	}
	return key.isPersistent
}

// mayCarryOn says, in a clause, why a member that has entered a collective may get on with it by itself; it is empty
// if it can't.
func (j *job) mayCarryOn(n *nonBlocking, m *member, c *mqs.CollectiveRequest) string {
	r := &j.ranks[m.rank]
	switch {
	case r.arriving():
		n.goesOn = true
		return arrivingUnknown
	case j.onItsWay(r, m):
		n.goesOn = true
		return comingUnknown
	}
	n.transit = n.transit || j.partsMayBeInTransit(r, m)
	parts, areAll := r.partsOf(m, c)
	isStuck, isVague := false, !areAll
	for _, o := range parts {
		switch g, unknown, done := j.outcome(o); {
		case unknown != "":
			isVague = true
		case !done:
			isStuck = true // it needs all of them
			n.transit = n.transit || g.transit
		}
	}
	if isStuck {
		return ""
	}
	n.goesOn, n.isVague = n.goesOn || !isVague, n.isVague || isVague
	return roundUnknown
}

// partsOf are the messages of a collective for which a member waits now, and whether these are all: those that its
// library lists, or else those on its communicator that have its tag.
func (r *rank) partsOf(m *member, c *mqs.CollectiveRequest) (out []dependency, areAll bool) {
	if c.Messages != nil {
		return r.operations(c.Messages)
	}
	areAll = c.Tag.Known && !m.comm.inter
	for _, class := range mqs.OpClasses[:2] {
		areAll = areAll && m.readable(class) && !m.cut(class)
		ops := m.queued(class)
		for i := range ops {
			if op := &ops[i]; op.Internal && c.Tag.Known && op.DesiredTag == c.Tag {
				out = append(out, dependency{op: op, member: m, class: class})
			}
		}
	}
	return out, areAll
}

// holds says whether the request of a collective can't be over before a message is received.
func (g *dependency) holds() bool {
	if g.member == nil || g.request.Status != mqs.Pending {
		return false
	}
	parts, _ := g.by.partsOf(g.member, g.request)
	return slices.ContainsFunc(parts, func(o dependency) bool { return o.class == mqs.PendingReceives && o.op.Status == mqs.Pending })
}

// memberOf is the rank's side of a communicator of the job, nil if it has none.
func (r *rank) memberOf(c *communicator) *member {
	if at := slices.IndexFunc(r.members, func(m *member) bool { return m.comm == c }); at >= 0 {
		return r.members[at]
	}
	return nil
}

// progresses says whether all calls that the rank waits in carry on what it has entered. Those that access
// another's memory or a file, or ask the launcher, need not.
func (r *rank) progresses() bool {
	for _, t := range blockedIn(r.process) {
		switch b := behaviourOf(&t); b {
		case pointToPoint, probes, waitsAll, waitsAny, asks:
		default:
			if !b.collective() || b == finalizes || strings.HasPrefix(t.Call, "MPI_File_") {
				return false
			}
		}
	}
	return true
}

// mayBegin says whether a thread is in a call that may be about to begin a collective: one that has its number,
// and that no request shows yet.
func (r *rank) mayBegin() bool {
	return slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool {
		switch behaviours[t.Call] {
		case pointToPoint, probes, waitsAll, waitsAny:
			return false
		}
		return t.Call != "" && !isPoll(t.Call)
	})
}

// numbered names a non-blocking collective.
func numbered(number int64) string { return fmt.Sprintf("non-blocking collective number %d", number) }

// hasEntered says of a rank that another waits for whether it has entered the collective, as the rest of a sentence.
func (j *job) hasEntered(g *dependency, rank int32) string {
	if g.request == nil {
		return ""
	}
	n := j.nonBlockingOf(nonBlockingKey{g.member.comm, g.request.Sequence.Value, g.request.Persistent})
	if _, is := slices.BinarySearch(n.missing, rank); is {
		return fmt.Sprintf(", which rank %d has not entered", rank)
	}
	if _, is := slices.BinarySearch(n.entered, rank); is {
		return fmt.Sprintf(", which rank %d has entered", rank)
	}
	return ""
}
