package waitfor

import (
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Past is what earlier looks at a job that may be running have shown. The zero value is of
// a job that is looked at for the first time, and of core files and snapshots.
type Past struct {
	// Looks is how often the job was looked at before.
	Looks int
	// Watched is how long ago that was for the first time, 0 if it makes no difference: the
	// processes have been held since.
	Watched time.Duration
	// Earlier are the processes as they were at the look before, by process id. Looks between
	// which a process has not run count as one, the first of them.
	Earlier map[int]*mqs.Process
	// Ran are those that have since had two ticks of processor time or more (leastTicks in
	// cmd/mpi-queues): a library that waits has by then taken what had been in transit.
	Ran map[int]bool
	// Again is true if the job can be looked at again at once: then a deadlock is claimed only
	// of ranks that have run and still wait for the same. One look, even one that counts
	// messages, can meet a library that has counted a message and not matched it yet.
	Again bool
}

// Analyse looks at the ranks of a snapshot together. It works with and without
// the library's own operations, with which more can be concluded.
func Analyse(s *mqs.Snapshot) *Report { return Look(s, Past{}) }

// Look is [Analyse] for a job that was looked at before.
//
// Both a deadlock and that there is none are claimed only where nothing that is unknown
// could make it otherwise: see [Verdict].
func Look(s *mqs.Snapshot, past Past) *Report {
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
		if before != nil {
			if at := slices.IndexFunc(before.Threads, func(t mqs.Thread) bool { return isPoll(t.Call) }); at >= 0 {
				r.polled = before.Threads[at].Call
			}
		}
		r.same = before != nil && !r.moved && isSame(r.process, before)
		r.confirmed = r.same && r.ran && stillWaits(r.process, before)
	}
	return j.analyse()
}

// HasMoved says whether a process has got on with MPI since it was looked at before: it has
// done an operation, or has left a call that waits or entered one. One that polls has not.
func HasMoved(p, before *mqs.Process) bool { return hasCounted(p, before) || isElsewhere(p, before) }

// hasCounted says whether a process has sent, received or completed something since it was
// looked at before, as far as its MPI counts that.
func hasCounted(p, before *mqs.Process) bool {
	return p.Progress.Known && before.Progress.Known && p.Progress != before.Progress ||
		trafficOf(p) != nil && trafficOf(before) != nil && !sameTraffic(p, before)
}

// isElsewhere says whether a process is in other calls that wait than before. Accesses to
// another rank's memory are no such calls: as with MPI_Test, it may ask again and again.
func isElsewhere(p, before *mqs.Process) bool {
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
			return t.Call == other.Call && t.Function == other.Function && t.File == other.File && t.Line == other.Line && sameRequests &&
				!differ(p, before, t.Requests)
		})
		if at < 0 {
			return true
		}
		then = slices.Delete(then, at, at+1)
	}
	return false
}

// areSame says whether two calls wait for the same requests: they are in no order.
func areSame(a, b []inferior.Addr) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// gotOn says whether a process that has moved has done more than ask again for a value in
// another rank's memory, which may be counted too.
func gotOn(p, before *mqs.Process) bool {
	return isElsewhere(p, before) || hasCounted(p, before) && !isAccessing(p) && !isAccessing(before)
}

func isAccess(t mqs.Thread) bool { return behaviours[t.Call] == accesses }

func isAccessing(p *mqs.Process) bool { return slices.ContainsFunc(p.Threads, isAccess) }

func withoutAccesses(threads []mqs.Thread) []mqs.Thread { return slices.DeleteFunc(threads, isAccess) }

// stillWaits says whether it is known that a process that has not moved is in the same calls
// as before: that they look the same does not suffice, it needs something that counts.
func stillWaits(p, before *mqs.Process) bool {
	counted := p.Progress.Known && before.Progress.Known || trafficOf(p) != nil && trafficOf(before) != nil
	return counted && isPlaced(p) && isPlaced(before) && len(blockedIn(p)) > 0
}

// isSame says whether a process that has not moved is in calls that look the same as before, as
// far as it is in calls that wait: one that had yet to make its requests may since have sent a
// message that is in transit.
func isSame(p, before *mqs.Process) bool {
	if !isPlaced(p) || !isPlaced(before) {
		return false
	}
	then := blockedIn(before)
	for _, t := range blockedIn(p) {
		same := func(o mqs.Thread) bool {
			return o.Number == t.Number && o.Call == t.Call && areSame(o.Requests, t.Requests)
		}
		if !slices.ContainsFunc(then, same) {
			return false
		}
	}
	return true
}

// differ says whether other operations stand behind requests of a process than before: the
// library uses the memory of requests again.
func differ(p, before *mqs.Process, requests []inferior.Addr) bool {
	if len(requests) == 0 {
		return false
	}
	then := behind(before, requests)
	for key, now := range behind(p, requests) {
		if op := then[key]; op != nil && isOther(now, op) || op == nil && hasAnother(then, key) {
			return true
		}
	}
	return false
}

// slot is where an operation of a request is.
type slot struct {
	request, comm inferior.Addr
	class         mqs.OpClass
}

// behind finds the operations of requests.
func behind(p *mqs.Process, requests []inferior.Addr) map[slot]*mqs.PendingOperation {
	out := map[slot]*mqs.PendingOperation{}
	for _, q := range p.Communicators {
		for _, class := range mqs.OpClasses[:2] {
			if q.Queue[class] == nil {
				continue
			}
			ops := q.Queue[class].Operations
			for i := range ops {
				if ops[i].Request.Known && slices.Contains(requests, ops[i].Request.Value) {
					out[slot{ops[i].Request.Value, q.UniqueID, class}] = &ops[i]
				}
			}
		}
	}
	return out
}

// hasAnother says whether a request had an operation in another place.
func hasAnother(then map[slot]*mqs.PendingOperation, key slot) bool {
	for other := range then {
		if other.request == key.request {
			return true
		}
	}
	return false
}

// isOther says whether two operations can't be one, as far as they are known.
func isOther(a, b *mqs.PendingOperation) bool {
	return disagree(a.DesiredLocalRank, b.DesiredLocalRank) || disagree(a.TagWild, b.TagWild) || disagree(a.DesiredTag, b.DesiredTag) ||
		disagree(a.DesiredLength, b.DesiredLength) || disagree(a.Buffer, b.Buffer) || disagree(a.Count, b.Count) || disagree(a.MessageID, b.MessageID)
}

func disagree[T comparable](a, b mqs.Maybe[T]) bool { return a.Known && b.Known && a.Value != b.Value }

// blockedIn are the threads of a process that are in calls that wait.
func blockedIn(p *mqs.Process) []mqs.Thread {
	return slices.DeleteFunc(slices.Clone(p.Threads), func(t mqs.Thread) bool { return behaviours[t.Call] == goesOn })
}

// trafficOf are the communicators of a process on which messages are counted, nil if there are none.
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
