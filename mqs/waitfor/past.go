package waitfor

import (
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Past is what earlier looks at a running job have shown. The zero value stands for a first look,
// and for core files and snapshots.
type Past struct {
	// Looks is the number of earlier looks.
	Looks int
	// Watched is the time since the first look. It is 0 if the processes have been held stopped since,
	// so that the time means nothing.
	Watched time.Duration
	// Earlier are the processes as they were at the previous look, by process id. If a process has not
	// run between some looks, these count as one, the first of them.
	Earlier map[int]*mqs.Process
	// Ran are the processes that have since used two ticks of processor time or more: by then, a
	// library that waits has taken what had been in transit.
	Ran map[int]bool
	// Polls is what [Polling] returned of processes at the previous look, by process id.
	Polls map[int][]Poll
	// Outside is what [Outside] returned of processes at the previous look, by process id.
	Outside map[int]map[int]int
	// Again is true if another look can follow at once. A deadlock is then claimed only of ranks that
	// have run and still wait for the same: even where messages are counted, a look can meet a library
	// that has counted a message and not matched it yet.
	Again bool
	// Settled is true if each rank that may have hung at one of these looks ([Report.Open]) has left its call by now:
	// see [HasLeft].
	Settled bool
	// Apart is true if the ranks were not stopped at one moment, as on several machines. A deadlock is then claimed
	// only of ranks that are known to have stood as they stand since the previous look, and so at one moment
	// between the two. So are what looks like mistakes.
	Apart bool
	// standing has ranks that are not known to stand be ranks of which too little is known.
	standing bool
}

// Analyse analyses the ranks of a snapshot together. It needs no operations of the library's own,
// but can conclude more with them.
func Analyse(s *mqs.Snapshot) *Report { return AnalyseLive(s, Past{}) }

// AnalyseLive analyses a running job. If an MPI keeps no message counts, a rank is taken to be stuck only
// if it waited for the same requests at the previous look and has run since.
//
// A deadlock, and that there is none, are claimed only if nothing unknown could make it otherwise:
// see [Verdict].
func AnalyseLive(s *mqs.Snapshot, past Past) *Report {
	s, past = placed(s, past)
	r := analyseApart(s, past)
	of := byRank(s)
	r.Threads = threadsOf(of, r.Ranks)
	r.Notes = append(r.Notes, pythonNotes(of, r.Ranks)...)
	return r
}

// analyseApart claims no deadlock of ranks that were not stopped at one moment, unless they are known to have stayed where they were.
func analyseApart(s *mqs.Snapshot, past Past) *Report {
	a := analyseThreads(s, past)
	r := a.report
	if !past.Apart || !claimsDeadlock(r) || r.Verdict != DeadlockedUnlessPollingEnds && r.Verdict != DeadlockedUnlessThreadActs && a.allStand() {
		// A deadlock that was there before this look began would have been seen by it.
		return a.complete()
	}
	past.standing = true
	strict := analyseThreads(s, past).complete()
	strict.Moving = strict.Moving || !claimsDeadlock(strict) || !slices.EqualFunc(strict.Deadlocks, r.Deadlocks, haveSameRanks)
	return strict
}

// allStand says whether each rank that does not move is known to stand, so that to take only such ranks for standing changes
// nothing.
func (j *job) allStand() bool {
	return len(j.which(func(r *rank) bool { return !r.stays && r.doesNotMove() })) == 0
}

func haveSameRanks(a, b Deadlock) bool { return slices.Equal(a.Ranks, b.Ranks) }

func claimsDeadlock(r *Report) bool {
	switch r.Verdict {
	case Deadlocked, DeadlockedUnless, DeadlockedUnlessPollingEnds, DeadlockedUnlessThreadActs:
		return true
	}
	return false
}

// analyseThreads analyses a job, and once more without the threads that can act if nothing is claimed with them.
func analyseThreads(s *mqs.Snapshot, past Past) *analysis {
	a := analysePolling(s, past)
	if v := a.report.Verdict; claimsDeadlock(a.report) || v == NoDeadlock {
		return a
	}
	without, pastWithout, is := idle(s, past)
	if !is {
		return a
	}
	b := analysePolling(without, pastWithout)
	r := b.report
	switch {
	case claimsDeadlock(r):
		hangs := func(rank int32) bool { return b.at(rank) != nil && b.hangs(rank) }
		r.Verdict, r.Why, r.Moving = DeadlockedUnlessThreadActs, joined(r.Why, b.whyActing(s, hangs), actingCondition), true
	case r.Verdict == HeldUp && a.report.Verdict != HeldUp:
		r.Why, r.Moving = joined(r.Why, b.whyActing(s, func(int32) bool { return true }), actingCondition), true
	case r.Verdict == Unknown && a.report.Verdict != Unknown || a.report.Verdict == HeldUp:
		return a
	default:
		b.note("%s While such a thread runs, it may call MPI and release other threads or ranks.", b.whyActing(s, func(int32) bool { return true }))
	}
	return b
}

// actingCondition is what is not known of threads that can act.
const actingCondition = "It is unknown whether such a thread calls MPI; if it does, it may release these ranks."

// analysePolling takes ranks that poll in a loop for waiting ones if nothing else explains that the job hangs.
func analysePolling(s *mqs.Snapshot, past Past) *analysis {
	a := analyseLive(s, past)
	v := a.report.Verdict
	if v == Deadlocked || v == DeadlockedUnless || v == NoDeadlock {
		return a
	}
	loops, earlier, is := inLoops(s, past)
	if !is {
		return a
	}
	past.Earlier = earlier
	polling := analyseLive(loops, past)
	if polling.report.Verdict == DeadlockedUnlessPollingEnds {
		return polling
	}
	if v == NoProgress || v == HeldUp || v == Unknown {
		if found := polling.complete().NearMisses; slices.ContainsFunc(found, isOfEnvelope) {
			a.nearer = found
		}
	}
	return a
}

// isOfEnvelope says whether a near miss shows a message that differs from what is asked for.
func isOfEnvelope(n NearMiss) bool {
	return n.Kind == OtherTag || n.Kind == OtherSource || n.Kind == OtherCommunicator
}

func analyseLive(s *mqs.Snapshot, past Past) *analysis {
	j := newJob(s)
	j.past = past
	for i := range j.ranks {
		r := &j.ranks[i]
		r.number = int32(i)
		if r.process == nil {
			continue
		}
		before := past.Earlier[r.process.PID]
		r.ran = past.Ran[r.process.PID]
		r.moved = before != nil && HasMoved(r.process, before)
		r.gotOn = r.moved && gotOn(r.process, before)
		r.loop = loopOf(r.process, before, past)
		if before != nil {
			if at := slices.IndexFunc(before.Threads, func(t mqs.Thread) bool { return isPoll(t.Call) }); at >= 0 {
				r.polled = before.Threads[at].Call
			}
		}
		r.same = before != nil && !r.moved && isSame(r.process, before)
		r.confirmed = r.same && r.ran && stillWaits(r.process, before)
	}
	return j.decide()
}

// HasMoved says whether a process has moved since the previous look: it has done an operation, or
// it has left a call that waits, or entered one. Polling is no move.
func HasMoved(p, before *mqs.Process) bool {
	return p != before && (hasCounted(p, before) || inOtherCalls(p, before))
}

// hasCounted says whether a process has sent, received or completed something since the previous
// look, as far as its MPI counts that.
func hasCounted(p, before *mqs.Process) bool {
	return p.Progress.Known && before.Progress.Known && p.Progress != before.Progress || hasRaised(p, before) ||
		trafficOf(p) != nil && trafficOf(before) != nil && !sameTraffic(p, before)
}

// hasRaised says whether a process has raised one of its flags on a communicator.
func hasRaised(p, before *mqs.Process) bool {
	then := map[inferior.Addr][]mqs.Flag{}
	for _, q := range before.Communicators {
		then[q.UniqueID] = q.Flags
	}
	return slices.ContainsFunc(p.Communicators, func(q *mqs.Queues) bool {
		return len(q.Flags) > 0 && len(then[q.UniqueID]) > 0 && !slices.Equal(q.Flags, then[q.UniqueID])
	})
}

// inOtherCalls says whether a process is in other waiting calls than before. Accesses to another
// rank's memory do not count as such: a program may repeat them in a loop, as it may MPI_Test.
func inOtherCalls(p, before *mqs.Process) bool {
	switch {
	case p.Phase != "" && before.Phase != "" && p.Phase != before.Phase:
		return true
	case !isPlaced(p) || !isPlaced(before):
		return false
	}
	now, then := withoutAccesses(blockedIn(p)), withoutAccesses(blockedIn(before))
	if len(now) != len(then) {
		return true
	}
	for _, t := range now {
		at := slices.IndexFunc(then, func(other mqs.Thread) bool {
			// A call that has made no request yet may be the same one.
			sameRequests := len(t.Requests) == 0 || len(other.Requests) == 0 || areSame(t.Requests, other.Requests)
			return t.Call == other.Call && t.Function == other.Function && t.File == other.File && t.Line == other.Line && haveSameCallers(&t, &other) &&
				sameRequests && haveSameFlags(&t, &other) && !differ(p, before, t.Requests)
		})
		if at < 0 {
			return true
		}
		then = slices.Delete(then, at, at+1)
	}
	return false
}

// haveSameCallers says whether two calls were not made from different places, as far as that is known of both.
func haveSameCallers(a, b *mqs.Thread) bool {
	return len(a.Callers) == 0 || len(b.Callers) == 0 || slices.Equal(a.Callers, b.Callers)
}

// areSame says whether two calls wait for the same requests: they are in no order.
func areSame(a, b []inferior.Addr) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// gotOn says whether a process that has moved has done more than read a value in another rank's
// memory again, which an MPI may count too.
func gotOn(p, before *mqs.Process) bool {
	return inOtherCalls(p, before) || hasCounted(p, before) && !isAccessing(p) && !isAccessing(before)
}

func isAccess(t mqs.Thread) bool { return behaviourOf(&t) == accesses }

func isAccessing(p *mqs.Process) bool {
	return slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool { return isRemote(t.Call) })
}

func withoutAccesses(threads []mqs.Thread) []mqs.Thread { return slices.DeleteFunc(threads, isAccess) }

// stillWaits says whether a process that has not moved is known to be in the same calls as before.
// Calls that look the same do not suffice: something has to be counted.
func stillWaits(p, before *mqs.Process) bool {
	counted := p.Progress.Known && before.Progress.Known || trafficOf(p) != nil && trafficOf(before) != nil
	return counted && isPlaced(p) && isPlaced(before) && len(blockedIn(p)) > 0
}

// haveSameFlags reports whether a call may still be waiting for the flags of an earlier sample. A call that has not reached its wait has
// no flags, and some of the flags may have been raised since.
func haveSameFlags(now, then *mqs.Thread) bool {
	isNew := func(f mqs.Flag) bool { return !slices.Contains(then.Flags, f) }
	return len(now.Flags) == 0 || len(then.Flags) == 0 || !slices.ContainsFunc(now.Flags, isNew)
}

// isSame says whether the waiting calls of a process that has not moved look the same as before,
// requests included: a call that had yet to make its requests may since have sent a message that is
// in transit.
func isSame(p, before *mqs.Process) bool {
	if p == before || !isPlaced(p) || !isPlaced(before) {
		return p == before && isPlaced(p)
	}
	then := blockedIn(before)
	for _, t := range blockedIn(p) {
		same := func(o mqs.Thread) bool {
			return o.Number == t.Number && o.Call == t.Call && areSame(o.Requests, t.Requests) && slices.Equal(o.Flags, t.Flags) && o.Window == t.Window && o.Target == t.Target
		}
		if !slices.ContainsFunc(then, same) {
			return false
		}
	}
	return p.ThreadMultiple.Known && !p.ThreadMultiple.Value || awaitTheSame(p, before)
}

// awaitTheSame says whether the threads outside of MPI that wait for other threads of their process did so at the
// previous look. Else they may have called MPI since.
func awaitTheSame(p, before *mqs.Process) bool {
	return !slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool {
		return t.Call == "" && !slices.ContainsFunc(before.Threads, func(o mqs.Thread) bool {
			return o.Number == t.Number && o.Call == "" && o.Activity == t.Activity && threadAwaitedBy(&o) == threadAwaitedBy(&t) &&
				o.Function == t.Function && o.File == t.File && o.Line == t.Line
		}) && waitsForThread(p, &t)
	})
}

// differ says whether requests of a process stand for other operations than before. The library
// uses the memory of requests again.
func differ(p, before *mqs.Process, requests []inferior.Addr) bool {
	if len(requests) == 0 {
		return false
	}
	wanted := addressSet(requests)
	collectives := map[inferior.Addr][]mqs.CollectiveRequest{}
	for _, then := range before.CollectiveRequests {
		collectives[then.Request] = append(collectives[then.Request], then)
	}
	for _, now := range p.CollectiveRequests {
		if wanted[now.Request] && slices.ContainsFunc(collectives[now.Request], func(then mqs.CollectiveRequest) bool {
			return now.Comm != then.Comm || now.Sequence != then.Sequence
		}) {
			return true
		}
	}
	then := operationsOf(before, requests)
	had := map[inferior.Addr]bool{} // the requests that had an operation, wherever it was
	for key := range then {
		had[key.request] = true
	}
	for key, now := range operationsOf(p, requests) {
		if op := then[key]; op != nil && isOther(now, op) || op == nil && had[key.request] {
			return true
		}
	}
	return false
}

func addressSet(addrs []inferior.Addr) map[inferior.Addr]bool {
	out := make(map[inferior.Addr]bool, len(addrs))
	for _, a := range addrs {
		out[a] = true
	}
	return out
}

// operationKey is the place of a request's operation.
type operationKey struct {
	request, comm inferior.Addr
	class         mqs.OpClass
}

// operationsOf returns the operations of requests.
func operationsOf(p *mqs.Process, requests []inferior.Addr) map[operationKey]*mqs.PendingOperation {
	wanted, out := addressSet(requests), map[operationKey]*mqs.PendingOperation{}
	for _, q := range p.Communicators {
		for _, class := range mqs.OpClasses[:2] {
			if q.Queue[class] == nil {
				continue
			}
			ops := q.Queue[class].Operations
			for i := range ops {
				if ops[i].Request.Known && wanted[ops[i].Request.Value] {
					out[operationKey{ops[i].Request.Value, q.UniqueID, class}] = &ops[i]
				}
			}
		}
	}
	return out
}

// isOther says whether two operations can't be the same one, as far as they are known.
func isOther(a, b *mqs.PendingOperation) bool {
	return disagree(a.DesiredLocalRank, b.DesiredLocalRank) || disagree(a.TagWild, b.TagWild) || disagree(a.DesiredTag, b.DesiredTag) ||
		disagree(a.DesiredLength, b.DesiredLength) || disagree(a.Buffer, b.Buffer) || disagree(a.Count, b.Count) || disagree(a.MessageID, b.MessageID)
}

func disagree[T comparable](a, b mqs.Maybe[T]) bool { return a.Known && b.Known && a.Value != b.Value }

// blockedIn returns the threads of a process that are in waiting calls.
func blockedIn(p *mqs.Process) []mqs.Thread {
	return slices.DeleteFunc(slices.Clone(p.Threads), func(t mqs.Thread) bool { return behaviourOf(&t) == goesOn })
}

// trafficOf returns the communicators of a process on which messages are counted.
func trafficOf(p *mqs.Process) []*mqs.Queues {
	var out []*mqs.Queues
	for _, q := range p.Communicators {
		if q.Traffic != nil {
			out = append(out, q)
		}
	}
	return out
}

// sameTraffic says whether a process has the same communicators as before, and the same counts on them.
func sameTraffic(p, before *mqs.Process) bool {
	return slices.EqualFunc(trafficOf(p), trafficOf(before), func(a, b *mqs.Queues) bool {
		return a.UniqueID == b.UniqueID && a.Context == b.Context && slices.Equal(a.Traffic, b.Traffic)
	})
}
