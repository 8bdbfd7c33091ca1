package waitfor

import (
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Past is what earlier looks at a job that may be running have shown. The zero value is of
// a job that is looked at for the first time, and of core files and snapshots.
type Past struct {
	// Looks is how often the job was looked at before.
	Looks int
	// Watched is how long ago that was for the first time, 0 if it makes no difference: the
	// processes have been held since.
	Watched time.Duration
	// Earlier are the processes as they were then, by process id. Of one that has not run
	// since it was looked at last it is how that one was before it ran.
	Earlier map[int]*mqs.Process
	// Ran are those that have since run for long enough to take what had been in transit.
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
		if before != nil {
			if at := slices.IndexFunc(before.Threads, func(t mqs.Thread) bool { return isPoll(t.Call) }); at >= 0 {
				r.polled = before.Threads[at].Call
			}
		}
		r.stays = r.gone() && !r.moved || before != nil && !r.moved && stays(r.process, before)
		r.confirmed = r.stays && r.ran && stillWaits(r.process, before)
	}
	return j.analyse()
}

// HasMoved says whether a process has got on with MPI since it was looked at before: it has
// done an operation, or has left a call that waits or entered one. One that polls has not.
func HasMoved(p, before *mqs.Process) bool {
	switch {
	case p.Phase != "" && before.Phase != "" && p.Phase != before.Phase,
		p.Progress.Known && before.Progress.Known && p.Progress != before.Progress,
		trafficOf(p) != nil && trafficOf(before) != nil && !sameTraffic(p, before):
		return true
	case !isPlaced(p) || !isPlaced(before):
		return false
	}
	now, then := blockedIn(p), blockedIn(before)
	if len(now) != len(then) {
		return true
	}
	for _, t := range now {
		at := slices.IndexFunc(then, func(other mqs.Thread) bool {
			// A call that has made no request yet may be the same one.
			sameRequests := len(t.Requests) == 0 || len(other.Requests) == 0 || slices.Equal(t.Requests, other.Requests)
			return t.Call == other.Call && t.Function == other.Function && t.File == other.File && t.Line == other.Line && sameRequests
		})
		if at < 0 {
			return true
		}
		then = slices.Delete(then, at, at+1)
	}
	return false
}

// stillWaits says whether it is known that a process that has not moved is in the same calls
// as before: that they look the same does not suffice, it needs something that counts.
func stillWaits(p, before *mqs.Process) bool {
	counted := p.Progress.Known && before.Progress.Known || trafficOf(p) != nil && trafficOf(before) != nil
	return counted && isPlaced(p) && isPlaced(before) && len(blockedIn(p)) > 0
}

// stays says whether a process that has not moved has started nothing since it was looked at
// before, as far as it is in calls that wait: one that had yet to make its requests may since
// have sent a message that is in transit.
func stays(p, before *mqs.Process) bool {
	if !isPlaced(p) || !isPlaced(before) {
		return false
	}
	then := blockedIn(before)
	for _, t := range blockedIn(p) {
		same := func(o mqs.Thread) bool {
			return o.Number == t.Number && o.Call == t.Call && slices.Equal(o.Requests, t.Requests)
		}
		if !slices.ContainsFunc(then, same) {
			return false
		}
	}
	return true
}

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
