package waitfor

import (
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// wait is what one thread of a rank waits for.
type wait struct {
	thread *mqs.Thread // nil if where threads are is not known
	all    bool        // it waits for all dependencies, else for any of them
	// someOf is true if it waits for some of the dependencies, and which ones is not known.
	someOf bool
	// satisfied is true if it can go on as things are, so nothing else counts.
	satisfied bool
	deps      []dependency
	// standardMeaning is set if the dependencies are the library's messages of a collective: the
	// members that have not entered it, for all of whom the call waits by the standard.
	standardMeaning *rankSet
	// what says for what it waits, where that is no operation of MPI's.
	what string
	// unknown says what is not known of the wait, as a clause that follows the call; else it is empty.
	unknown string
	// unsure is such a clause where the wait may be over already: nothing unknown can lengthen it.
	unsure string
}

// dependency is one thing for which a thread waits.
type dependency struct {
	rank int32    // or, if it is -1,
	set  *rankSet // several ranks
	// The operation, nil for a collective as a whole, and its member and queue.
	op *mqs.PendingOperation
	// request is that of a non-blocking collective, else nil; there is no operation then.
	request *mqs.CollectiveRequest
	by      *rank // whose request it is
	member  *member
	class   mqs.OpClass
	// words say what is waited for, if it is neither an operation nor a set.
	words string
	// transit is true if a message in transit may have met the dependency: see [job.holds].
	transit bool
}

// Clauses that say what is not known of a wait.
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
	fromUnknown     = "the rank that it waits for is not known, so one of the messages that have come or are on their way may be it"
	comeUnknown     = "too little is known of a message that has come, which may be the one that it waits for"
	stateUnknown    = "how far its operation has come is not known"
	readyUnknown    = "which partitions of its operation are ready is not known"
	partUnknown     = "a message is on its way to it, which may be the one that it waits for"
	comingUnknown   = "a message is on its way to a member that has entered it, so others may be through with it"
	progressUnknown = "how far the call has come is not known"
	arrivingUnknown = "messages have come that its MPI has not looked at yet"
	someUnknown     = "for which of its members it waits is not known"
	placeUnknown    = "which call it is in is not known"
	apartDoubt      = "that it stood so while the others stood as they do is not known, since ranks of several machines are not stopped at one moment"
	phaseUnknown    = "whether it has left MPI is not known"
	levelUnknown    = "whether another thread of it may call MPI is not known, since the thread level is not"
	gpuUnknown      = "it waits for a GPU, and whether that ends is not known"
	queuesUnknown   = "the queues can't be read"
)

// findWaits finds what the threads of all ranks wait for.
func (j *job) findWaits() {
	c := newCollectives(j)
	for i := range j.ranks {
		r := &j.ranks[i]
		if r.mobility, r.doubt = j.mobility(r); j.past.standing && !r.stays && r.doesNotMove() {
			r.mobility, r.doubt = uncertain, apartDoubt
		}
	}
	for i := range j.ranks {
		r := &j.ranks[i]
		if r.mobility != waiting {
			continue
		}
		if r.process.Threads == nil {
			r.waits = []wait{j.waitByKind(r, nil, func(string) bool { return true })}
			continue
		}
		if areClosed(r.process) {
			r.waits = waitsAmongThreads(int32(i), r.process)
			continue
		}
		for k := range r.process.Threads {
			switch t := &r.process.Threads[k]; {
			case j.lockingRanks(t) != nil:
				r.waits = append(r.waits, j.waitForFileLock(t))
			case t.Call != "":
				r.waits = append(r.waits, j.waitOf(int32(i), t, c))
			}
		}
	}
}

// blocks says whether an operation is that of a blocking call, which waits for it in any case.
func blocks(op *mqs.PendingOperation) bool {
	switch op.Kind {
	case "send", "ssend", "rsend", "recv", "mrecv", "probe", "mprobe":
		return op.Status != mqs.Complete
	}
	return false
}

func isProbe(op *mqs.PendingOperation) bool { return strings.HasSuffix(op.Kind, "probe") }

// waitOf finds what a thread in a waiting call waits for.
func (j *job) waitOf(rank int32, t *mqs.Thread, c *collectives) wait {
	r := &j.ranks[rank]
	b := behaviourOf(t)
	switch {
	case t.Activity == mqs.UsesGPU:
		return wait{thread: t, unknown: gpuUnknown}
	case waitsForFile(t):
		return wait{thread: t, unknown: "it " + outsideWords(t) + ", and whether that ends is unknown"}
	case b == asks:
		return j.waitInPoll(r, t, c)
	case b == finalizes && isAlone(r):
		return wait{thread: t, satisfied: true}
	case b == finalizes:
		return c.waitFor(t, callKey{nil, finalize}, true)
	case b == starts:
		return j.waitInInit(t)
	case r.unreadable():
		return wait{thread: t, unknown: queuesUnknown}
	case b.collective():
		return j.waitInCollective(r, t, c)
	case b == comesAndGoes:
		return j.waitInDynamic(r, t)
	case b == detaches:
		return j.waitForBuffer(r, t)
	case b == accesses || b == exposes:
		return j.waitInAccess(r, t)
	}
	if b == waitsAll || b == waitsAny {
		ops, found := r.operationsAndCollectives(t.Requests)
		isMade := func(o dependency) bool { return o.request != nil || !o.op.Internal && !blocks(o.op) }
		known := slices.DeleteFunc(ops, func(o dependency) bool { return !isMade(o) })
		switch {
		case t.SomeRequests && found && len(known) == len(ops):
			return j.waitForSome(r, wait{thread: t}, known)
		case t.SomeRequests:
			return wait{thread: t, unknown: requestsUnknown}
		}
		return j.waitForOperations(wait{thread: t, all: b == waitsAll}, known, found && t.AllRequests && len(known) == len(ops))
	}
	ops, found := r.operations(t.Requests)
	ops = slices.DeleteFunc(ops, func(o dependency) bool { return !isOwn(t, o) })
	switch {
	case hasSeveralOperations(t.Call) && (!found || !t.AllRequests):
		own := onePerQueue(ops)
		return j.waitForOperations(wait{thread: t, all: true}, own, len(own) > 0 && len(own) == len(ops) && r.hasNoOthers(own))
	case len(ops) == 1 || len(ops) > 0 && hasSeveralOperations(t.Call) && len(onePerQueue(ops)) == len(ops):
		return j.waitForOperations(wait{thread: t, all: true}, ops, true)
	case len(ops) > 1:
		return wait{thread: t, unknown: ownUnknown}
	case b == probes:
		return j.waitInProbe(r, t)
	}
	return j.waitByKind(r, t, func(kind string) bool { return kind == ownKind(t) })
}

// isOwn says whether an operation is of the kind that a blocking call makes. Other requests that
// the call holds are not the one that it waits for.
func isOwn(t *mqs.Thread, o dependency) bool {
	if hasSeveralOperations(t.Call) {
		return !o.op.Internal
	}
	isItsClass := ownsOperationIn(t.Call, o.class) || t.Call == "MPI_Mrecv" && o.class == mqs.PendingReceives
	return !o.op.Internal && (o.op.Kind == ownKind(t) || o.op.Kind == callstack.KindNotKnown && isItsClass)
}

// hasSeveralOperations says whether a blocking call may have more than one operation of its own.
func hasSeveralOperations(call string) bool {
	return call == "MPI_Sendrecv" || call == "MPI_Sendrecv_replace"
}

// onePerQueue keeps the send if such a call holds one send, and the receive if it holds one receive.
// Of several, most are others with which the call has nothing to do.
func onePerQueue(ops []dependency) []dependency {
	count := map[mqs.OpClass]int{}
	for _, o := range ops {
		count[o.class]++
	}
	return slices.DeleteFunc(slices.Clone(ops), func(o dependency) bool { return count[o.class] > 1 })
}

// hasNoOthers says whether the operations that such a call holds are all that it
// can have: where it holds none of a queue, none is there that may be its own.
func (r *rank) hasNoOthers(own []dependency) bool {
	for _, class := range mqs.OpClasses[:2] {
		if slices.ContainsFunc(own, func(o dependency) bool { return o.class == class }) {
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

// operations finds the sends and receives of requests, and says whether each request has just one.
func (r *rank) operations(requests []inferior.Addr) ([]dependency, bool) {
	wanted := make(map[inferior.Addr]bool, len(requests))
	for _, a := range requests {
		wanted[a] = false
	}
	var out []dependency
	missing, twice := len(wanted), false
	for _, m := range r.members {
		for _, class := range mqs.OpClasses[:2] {
			ops := m.queued(class)
			for i := range ops {
				if found, ok := wanted[ops[i].Request.Value]; ok && ops[i].Request.Known {
					out = append(out, dependency{op: &ops[i], member: m, class: class})
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

// waitForOperations adds to a wait the dependencies of operations, whose list it takes for them. complete is true if the call
// has no other operations.
func (j *job) waitForOperations(w wait, ops []dependency, complete bool) wait {
	if !complete {
		w.unknown = requestsUnknown
	}
	w.satisfied = complete && len(ops) == 0
	over := 0
	if len(ops) > 0 {
		w.deps = ops[:0]
	}
	for _, o := range ops {
		g, unknown, done := j.outcome(o)
		switch {
		case done:
			over++
			w.satisfied = w.satisfied || !w.all && !w.someOf
		case unknown != "":
			w.unknown = unknown
		default:
			w.deps = append(w.deps, g)
		}
	}
	switch {
	case w.someOf && over > 0 && over < len(ops) && w.unknown == "":
		w.unsure = ownUnknown // one of those that are over may be the call's
	case complete && over == len(ops), w.all && w.unknown == "" && len(w.deps) == 0:
		w.satisfied = true
	}
	return w
}

// waitForSome adds to a wait operations of which a call waits for some, if it does not happen to be about to return: only
// one that stays is known not to be.
func (j *job) waitForSome(r *rank, w wait, ops []dependency) wait {
	w.someOf = len(ops) > 1
	w = j.waitForOperations(w, ops, true)
	if !r.confirmed && !w.satisfied {
		w.unsure = progressUnknown
	}
	return w
}

// waitByKind is the wait of a call for an operation of its own, if the queues tell only how the
// operation was started. If there are several such operations, some are other threads'; the wait is
// then for any of them, so as not to claim too much.
func (j *job) waitByKind(r *rank, t *mqs.Thread, mine func(kind string) bool) wait {
	own := r.operationsOfKind(t, mine)
	if len(own) == 0 {
		return wait{thread: t, unknown: ownUnknown}
	}
	return j.waitForOperations(wait{thread: t, someOf: len(own) > 1}, own, true)
}

// operationsOfKind are the operations that may be a call's own by how they were started; none if there
// may be more.
func (r *rank) operationsOfKind(t *mqs.Thread, mine func(kind string) bool) []dependency {
	var own []dependency
	held := r.heldByOthers(t)
	for _, m := range r.members {
		for _, class := range mqs.OpClasses[:2] {
			if !m.readable(class) || m.cut(class) {
				return nil
			}
			ops := m.queued(class)
			for i := range ops {
				if op := &ops[i]; blocks(op) && mine(op.Kind) && (!op.Request.Known || !held[op.Request.Value]) {
					own = append(own, dependency{op: op, member: m, class: class})
				}
			}
		}
	}
	return own
}

// heldByOthers returns the requests that threads of the rank other than t hold, whose operations are not t's own. Nothing is
// known of the other threads if t is nil.
func (r *rank) heldByOthers(t *mqs.Thread) map[inferior.Addr]bool {
	held := map[inferior.Addr]bool{}
	for i := range r.process.Threads {
		if o := &r.process.Threads[i]; t != nil && o != t {
			maps.Copy(held, addressSet(o.Requests))
		}
	}
	return held
}

// ownsOperationIn says whether a blocking call has an operation of its own in a queue, and in no other.
func ownsOperationIn(call string, class mqs.OpClass) bool {
	if class == mqs.PendingSends {
		return call == "MPI_Send" || call == "MPI_Ssend" || call == "MPI_Rsend"
	}
	return call == "MPI_Recv"
}

// waitInProbe is the wait of a probe. Some MPIs have it in a queue, others only in the arguments of
// the call.
func (j *job) waitInProbe(r *rank, t *mqs.Thread) wait {
	name := ownKind(t)
	w := j.waitByKind(r, t, func(kind string) bool { return kind == name })
	if w.unknown != ownUnknown && w.unsure != ownUnknown {
		return w
	}
	m := r.member(t.Comm)
	if m == nil {
		return wait{thread: t, unknown: commUnknown}
	}
	op := &mqs.PendingOperation{Status: mqs.Pending, Kind: name, DesiredLocalRank: t.Source,
		TagWild: mqs.Maybe[bool]{Value: t.Tag.Value < 0, Known: t.Tag.Known}}
	if !op.TagWild.Value {
		op.DesiredTag = t.Tag
	}
	return j.waitForOperations(wait{thread: t}, []dependency{{op: op, member: m, class: mqs.PendingReceives}}, true)
}
