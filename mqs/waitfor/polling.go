package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A program that asks in a loop, as with MPI_Test, waits for what it asks about, unless it leaves the loop for
// another reason. So a job of which nothing proves a deadlock is analysed once more, as if those threads waited
// that were met in such a loop. A deadlock that is found then is claimed on that condition only.

// leastPolls is the number of looks at which a thread has to have been in polling calls of one function of the
// program's, while nothing moved, to be taken to poll in a loop.
const leastPolls = 2

// Poll is a polling call in which a thread was met since its process last moved.
type Poll struct {
	Thread mqs.Thread // as it was met
	Looks  int        // how often
}

// Polling returns the calls that poll, or that access other ranks' memory, in which the threads of a process are met, now and since it
// last moved.
// before is the process at the previous look, and earlier what this function returned then. A thread outside of
// MPI is still in its loop if it is in the same function of the program's.
func Polling(p, before *mqs.Process, earlier []Poll) []Poll {
	var out []Poll
	if before != nil && (!HasMoved(p, before) || !gotOn(p, before)) {
		out = slices.Clone(earlier)
	}
	for i := range p.Threads {
		t := &p.Threads[i]
		isAsking := isPoll(t.Call) || isRemote(t.Call)
		out = slices.DeleteFunc(out, func(o Poll) bool {
			mayBeInLoop := isAsking || t.Call == "" && (t.Activity == mqs.Computes || t.Activity == mqs.Sleeps)
			isElsewhere := t.Function == "" || o.Thread.Function != t.Function || o.Thread.File != t.File
			return o.Thread.Number == t.Number && (!mayBeInLoop || isElsewhere)
		})
		if !isAsking {
			continue
		}
		at := slices.IndexFunc(out, func(o Poll) bool {
			return o.Thread.Number == t.Number && o.Thread.Call == t.Call && o.Thread.Line == t.Line
		})
		if at < 0 {
			out = append(out, Poll{Thread: *t, Looks: 1})
			continue
		}
		// Where a thread is inside its call differs from look to look, and with it what is known of the call.
		if out[at].Looks++; t.AllRequests || t.Source.Known || !out[at].Thread.AllRequests && !out[at].Thread.Source.Known {
			out[at].Thread = *t
		}
	}
	return out
}

// inLoops returns a snapshot, and the earlier processes, as if the threads that poll in loops waited for what they
// ask about; false if there are none.
func inLoops(s *mqs.Snapshot, past Past) (*mqs.Snapshot, map[int]*mqs.Process, bool) {
	out := &mqs.Snapshot{Processes: slices.Clone(s.Processes)}
	earlier := map[int]*mqs.Process{}
	is := false
	for i, p := range s.Processes {
		before := past.Earlier[p.PID]
		if before == nil {
			continue
		}
		earlier[p.PID] = before
		if loops := loopsOf(Polling(p, before, past.polls(p, before))); past.Ran[p.PID] && len(loops) > 0 {
			out.Processes[i], earlier[p.PID] = waitingIn(p, loops), waitingIn(before, loops)
			is = true
		}
	}
	return out, earlier, is
}

// polls returns the polls of a process at the previous look, at which it was before.
func (past *Past) polls(p, before *mqs.Process) []Poll {
	if known, ok := past.Polls[p.PID]; ok {
		return known
	}
	return Polling(before, nil, nil)
}

// loopsOf returns the polls of threads that were met in them often enough.
func loopsOf(polls []Poll) []mqs.Thread {
	polls = slices.DeleteFunc(slices.Clone(polls), func(o Poll) bool { return !isPoll(o.Thread.Call) })
	looks := map[int]int{}
	for _, o := range polls {
		looks[o.Thread.Number] += o.Looks
	}
	var out []mqs.Thread
	for _, o := range polls {
		if looks[o.Thread.Number] >= leastPolls {
			o.Thread.Polls = true
			out = append(out, o.Thread)
		}
	}
	return out
}

// waitingIn returns a process whose threads wait in loops. One that asks about several things in turn waits in
// each of its calls.
func waitingIn(p *mqs.Process, loops []mqs.Thread) *mqs.Process {
	out := *p
	out.Threads = slices.DeleteFunc(slices.Clone(p.Threads), func(t mqs.Thread) bool {
		return slices.ContainsFunc(loops, func(l mqs.Thread) bool { return l.Number == t.Number })
	})
	out.Threads = append(out.Threads, loops...)
	return &out
}

// isPoll says whether a call polls: it asks whether something has come, and returns at once.
func isPoll(call string) bool {
	return strings.HasPrefix(call, "MPI_Test") && call != "MPI_Test_cancelled" || isProbeCall(call) || strings.HasPrefix(call, "MPI_Request_get_status") ||
		call == "MPI_Parrived" || call == "MPI_Win_test"
}

// isProbeCall says whether a call asks for a message.
func isProbeCall(call string) bool { return call == "MPI_Iprobe" || call == "MPI_Improbe" }

// waitInPoll is the wait of a thread in a polling call, as if it waited for what it asks about. Which of its
// requests that is need not be known: it hangs if all of them do.
func (j *job) waitInPoll(r *rank, t *mqs.Thread, c *collectives) wait {
	switch {
	case r.unreadable():
		return wait{thread: t, unknown: queuesUnknown}
	case isProbeCall(t.Call):
		return j.waitInProbe(r, t)
	case t.Call == "MPI_Win_test":
		waits := *t
		waits.Call, waits.Polls = "MPI_Win_wait", false
		w := j.waitOf(r.number, &waits, c)
		w.thread = t
		return w
	}
	ops, found := r.operations(t.Requests)
	known := slices.DeleteFunc(slices.Clone(ops), func(o dependency) bool { return o.op.Internal || blocks(o.op) })
	areAll := found && t.AllRequests && len(known) == len(ops) && len(t.Requests) > 0
	w := wait{thread: t, all: areAll && len(known) == 1, someOf: len(known) > 1} // one that is not known may come
	return j.waitForOperations(w, known, areAll)
}

// loops returns the ranks that hang as long as they poll.
func (a *analysis) loops() []int32 {
	return a.which(func(r *rank) bool {
		return a.hangs(r.number) && r.process != nil && slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return t.Polls })
	})
}

// whyPolling says on which condition ranks that poll are deadlocked.
func (a *analysis) whyPolling(ranks []int32) string {
	var out []string
	for i, rank := range ranks {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("%d more ranks poll.", len(ranks)-i))
			break
		}
		threads := a.ranks[rank].process.Threads
		t := &threads[slices.IndexFunc(threads, func(t mqs.Thread) bool { return t.Polls })]
		out = append(out, fmt.Sprintf("Rank %d polls in %s.", rank, callWords(t)))
	}
	return strings.Join(append(out, "What is not known is whether the program leaves that loop by itself, as after a time, or asks for something else in it."), " ")
}
