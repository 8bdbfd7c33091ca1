package waitfor

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// wait is what one thread of a rank waits for.
type wait struct {
	thread *mqs.Thread // nil if where threads are is not known
	all    bool        // it waits for all of the goals, else for any
	// vague is true if it waits for some of the goals, and which of them is not known.
	vague bool
	// free is true if it can go on as things are, so nothing else counts.
	free  bool
	goals []goal
	// meaning is, of a collective whose messages are the goals, those that have
	// not entered it, for all of whom it waits by the standard.
	meaning *group
	// unknown says what can't be known of it, as a clause that follows the call; else empty.
	unknown string
}

// goal is one thing that a thread waits for.
type goal struct {
	rank  int32  // or, if it is -1,
	group *group // several ranks
	// The operation, nil for a collective as a whole, and where it is.
	op    *mqs.PendingOperation
	of    *member
	class mqs.OpClass
	// transit is true if a message may be in transit that the goal is for: see [job.holds].
	transit bool
}

// Clauses that say what can't be known of a wait.
const (
	forWhomUnknown  = "for whom it waits can't be told"
	requestsUnknown = "not all of the requests that it waits for are known"
	ownUnknown      = "which pending operation is its own is not known"
	commUnknown     = "the communicator of the call is not known"
	membersUnknown  = "the members of the communicator are not known"
	manyUnknown     = "the communicators that are waited on have more members than are looked at"
	peerUnknown     = "with whom it communicates is not known"
	enteredUnknown  = "whether all members have entered it is not known"
	takenUnknown    = "whether its message has been taken can't be told"
	cutUnknown      = "the snapshot does not have all unexpected messages, so the one that it waits for may have come"
	tagUnknown      = "the tag that it waits for is not known, so one of the messages that have come may be it"
	comeUnknown     = "too little is known of a message that has come, which may be the one that it waits for"
	stateUnknown    = "how far its operation has come is not known"
	readyUnknown    = "which partitions of its operation are ready is not known"
	partUnknown     = "a message is on its way to it, which may be the one that it waits for"
	comingUnknown   = "a message is on its way to a member that has entered it, so others may be through with it"
	progressUnknown = "how far the call has come is not known"
	arrivingUnknown = "messages have come that its MPI has not looked at yet"
	someUnknown     = "for which of its members it waits is not known"
	placeUnknown    = "which call it is in is not known"
	phaseUnknown    = "whether it has left MPI is not known"
	levelUnknown    = "whether another thread of it may call MPI is not known, since the thread level is not"
	lockUnknown     = "a thread of it waits outside of MPI, and for whom is not known"
	queuesUnknown   = "the queues can't be read"
)

// findWaits finds what the threads of all ranks wait for.
func (j *job) findWaits() {
	c := newCollectives(j)
	for i := range j.ranks {
		r := &j.ranks[i]
		r.mobility, r.doubt = j.mobility(r)
		if r.mobility != waiting {
			continue
		}
		if r.process.Threads == nil {
			r.waits = []wait{j.waitByKind(r, nil, func(string) bool { return true })}
			continue
		}
		for k := range r.process.Threads {
			if t := &r.process.Threads[k]; t.Call != "" {
				r.waits = append(r.waits, j.waitOf(int32(i), t, c))
			}
		}
	}
}

// blocks says whether an operation is one that a call waits for in any case.
func blocks(op *mqs.PendingOperation) bool {
	switch op.Kind {
	case "send", "ssend", "rsend", "recv", "mrecv", "probe", "mprobe":
		return op.Status != mqs.Complete
	}
	return false
}

func isProbe(op *mqs.PendingOperation) bool { return strings.HasSuffix(op.Kind, "probe") }

// waitOf finds what a thread in a call that waits waits for.
func (j *job) waitOf(rank int32, t *mqs.Thread, c *collectives) wait {
	r := &j.ranks[rank]
	b := behaviours[t.Call]
	switch {
	case b == finalizes:
		return c.waitFor(t, callKey{nil, finalize}, true)
	case r.unreadable():
		return wait{thread: t, unknown: queuesUnknown}
	case b.collective():
		return j.waitInCollective(r, t, c)
	case b == opaque || b == accesses:
		return wait{thread: t, unknown: forWhomUnknown}
	}
	ops, found := r.operations(t.Requests)
	if b == waitsAll || b == waitsAny {
		isMade := func(o goal) bool { return !o.op.Internal && !blocks(o.op) }
		known := slices.DeleteFunc(ops, func(o goal) bool { return !isMade(o) })
		return j.waitForOperations(wait{thread: t, all: b == waitsAll}, known, found && t.AllRequests && len(known) == len(ops))
	}
	ops = slices.DeleteFunc(ops, func(o goal) bool { return !isOwn(t, o) })
	switch {
	case several(t.Call) && (!found || !t.AllRequests):
		own := single(ops)
		return j.waitForOperations(wait{thread: t, all: true}, own, len(own) > 0 && len(own) == len(ops) && r.noneBeside(own))
	case len(ops) == 1 || len(ops) > 0 && several(t.Call) && len(single(ops)) == len(ops):
		return j.waitForOperations(wait{thread: t, all: true}, ops, true)
	case len(ops) > 1:
		return wait{thread: t, unknown: ownUnknown}
	case b == probes:
		return j.waitInProbe(r, t)
	}
	return j.waitByKind(r, t, func(kind string) bool { return kind == ownKind(t) })
}

// isOwn says whether an operation is of the kind that a blocking call makes: of other
// requests that the call holds it is not the one that waits.
func isOwn(t *mqs.Thread, o goal) bool {
	if several(t.Call) {
		return !o.op.Internal
	}
	isItsClass := does(t.Call, o.class) || t.Call == "MPI_Mrecv" && o.class == mqs.PendingReceives
	return !o.op.Internal && (o.op.Kind == ownKind(t) || o.op.Kind == callstack.KindNotKnown && isItsClass)
}

// several says whether a blocking call may have more than one operation of its own.
func several(call string) bool { return call == "MPI_Sendrecv" || call == "MPI_Sendrecv_replace" }

// single keeps of the operations that such a call holds the send if there is
// one, and the receive if there is one: of several most are others that it has
// nothing to do with.
func single(ops []goal) []goal {
	count := map[mqs.OpClass]int{}
	for _, o := range ops {
		count[o.class]++
	}
	return slices.DeleteFunc(slices.Clone(ops), func(o goal) bool { return count[o.class] > 1 })
}

// noneBeside says whether the operations that such a call holds are all that it
// can have: where it holds none of a queue, none is there that may be its own.
func (r *rank) noneBeside(own []goal) bool {
	for _, class := range mqs.OpClasses[:2] {
		if slices.ContainsFunc(own, func(o goal) bool { return o.class == class }) {
			continue
		}
		for _, m := range r.members {
			if !m.readable(class) || m.cut(class) || slices.ContainsFunc(m.queued(class), func(op mqs.PendingOperation) bool {
				return op.Kind == callstack.KindNotKnown && op.Status != mqs.Complete && !op.Internal
			}) {
				return false
			}
		}
	}
	return true
}

// ownKind is the kind of the operation that a blocking call has made.
func ownKind(t *mqs.Thread) string { return strings.ToLower(strings.TrimPrefix(t.Call, "MPI_")) }

// operations finds the sends and receives of requests, and whether there is just one of each.
func (r *rank) operations(requests []inferior.Addr) ([]goal, bool) {
	wanted := make(map[inferior.Addr]bool, len(requests))
	for _, a := range requests {
		wanted[a] = false
	}
	var out []goal
	missing, twice := len(wanted), false
	for _, m := range r.members {
		for _, class := range mqs.OpClasses[:2] {
			ops := m.queued(class)
			for i := range ops {
				if found, ok := wanted[ops[i].Request.Value]; ok && ops[i].Request.Known {
					out = append(out, goal{op: &ops[i], of: m, class: class})
					twice = twice || found
					if !found {
						wanted[ops[i].Request.Value] = true
						missing--
					}
				}
			}
		}
	}
	return out, missing == 0 && !twice
}

// waitForOperations completes a wait with what operations wait for; complete if
// there are no others.
func (j *job) waitForOperations(w wait, ops []goal, complete bool) wait {
	if !complete {
		w.unknown = requestsUnknown
	}
	w.free = complete && len(ops) == 0
	over := 0
	for _, o := range ops {
		g, unknown, done := j.outcome(o)
		switch {
		case done:
			over++
			w.free = w.free || !w.all && !w.vague
		case unknown != "":
			w.unknown = unknown
		default:
			w.goals = append(w.goals, g)
		}
	}
	switch {
	case w.vague && over > 0 && over < len(ops) && w.unknown == "":
		w.unknown = ownUnknown // it may be that one
	case complete && over == len(ops), w.all && w.unknown == "" && len(w.goals) == 0:
		w.free = true
	}
	return w
}

// waitByKind is that of a call that waits for an operation of its own, of
// which the queues tell only how it was started. If there are several, some
// are other threads': then it waits for any of them, so as not to say too much.
func (j *job) waitByKind(r *rank, t *mqs.Thread, mine func(kind string) bool) wait {
	own := r.ofKind(t, mine)
	if len(own) == 0 {
		return wait{thread: t, unknown: ownUnknown}
	}
	return j.waitForOperations(wait{thread: t, vague: len(own) > 1}, own, true)
}

// ofKind are the operations that may be a call's own by how they were started; none if there
// may be more.
func (r *rank) ofKind(t *mqs.Thread, mine func(kind string) bool) []goal {
	var own []goal
	for _, m := range r.members {
		for _, class := range mqs.OpClasses[:2] {
			if !m.readable(class) || m.cut(class) {
				return nil
			}
			ops := m.queued(class)
			for i := range ops {
				if op := &ops[i]; blocks(op) && mine(op.Kind) && !r.isOthers(t, op) {
					own = append(own, goal{op: op, of: m, class: class})
				}
			}
		}
	}
	return own
}

// isOthers says whether another thread of the rank than t holds an operation, so that it is not t's own.
func (r *rank) isOthers(t *mqs.Thread, op *mqs.PendingOperation) bool {
	if t == nil || !op.Request.Known {
		return false
	}
	for i := range r.process.Threads {
		if o := &r.process.Threads[i]; o != t && slices.Contains(o.Requests, op.Request.Value) {
			return true
		}
	}
	return false
}

// does says whether a blocking call has an operation of its own in a queue, and in no other.
func does(call string, class mqs.OpClass) bool {
	if class == mqs.PendingSends {
		return call == "MPI_Send" || call == "MPI_Ssend" || call == "MPI_Rsend"
	}
	return call == "MPI_Recv"
}

// waitInProbe is that of a probe, which is in a queue with some MPIs and only
// in the call's arguments with others.
func (j *job) waitInProbe(r *rank, t *mqs.Thread) wait {
	name := ownKind(t)
	w := j.waitByKind(r, t, func(kind string) bool { return kind == name })
	if w.unknown != ownUnknown {
		return w
	}
	m := r.member(t.Comm)
	if m == nil || !t.Source.Known {
		return wait{thread: t, unknown: commUnknown}
	}
	op := &mqs.PendingOperation{Status: mqs.Pending, Kind: name, DesiredLocalRank: t.Source,
		TagWild: mqs.Maybe[bool]{Value: t.Tag.Value < 0, Known: t.Tag.Known}}
	if !op.TagWild.Value {
		op.DesiredTag = t.Tag
	}
	return j.waitForOperations(wait{thread: t}, []goal{{op: op, of: m, class: mqs.PendingReceives}}, true)
}
