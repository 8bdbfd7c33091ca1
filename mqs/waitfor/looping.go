package waitfor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A program may access another rank's memory again and again until it reads a certain value there, as for a lock that it makes of
// MPI_Compare_and_swap. Each call returns, so such a rank waits for nobody that MPI knows of. Whether the loop ever ends is unknown,
// so the rank holds up those that wait for it, as one that computes does. Samples do not show whether a rank is still in the same call.

// isRemote reports whether a call accesses another rank's memory, or completes such an access.
func isRemote(call string) bool {
	if behaviours[call] == accesses {
		return true
	}
	name, _ := strings.CutPrefix(call, "MPI_")
	switch name {
	case "Get", "Put", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "Rget", "Rput", "Raccumulate", "Rget_accumulate", "Win_sync":
		return true
	}
	return false
}

// loopOf returns a thread of a process that keeps accessing other ranks' memory from one function of the program: samples found it there
// at least leastPolls times, and nowhere else in between. It returns nil if there is none. At least one sample must be in a call that
// waits for accesses: a call that only starts an access returns at once, so why a thread stays in it is unknown.
func loopOf(p, before *mqs.Process, past Past) *mqs.Thread {
	if before == nil || !past.Ran[p.PID] {
		return nil
	}
	polls := slices.DeleteFunc(Polling(p, before, past.polls(p, before)), func(o Poll) bool { return !isRemote(o.Thread.Call) })
	looks := map[int]int{}
	for _, o := range polls {
		looks[o.Thread.Number] += o.Looks
	}
	at := slices.IndexFunc(polls, func(o Poll) bool { return isAccess(o.Thread) && looks[o.Thread.Number] >= leastPolls })
	if at < 0 {
		return nil
	}
	return &polls[at].Thread
}

// isLooping reports whether a rank is in such a loop and waits for nothing in it. A rank in a call that starts an access does not count:
// whether such a call carries out what others wait for is unknown.
func (r *rank) isLooping() bool {
	return r.loop != nil && !slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return t.Call != "" && !isAccess(t) }) &&
		!slices.ContainsFunc(r.waits, func(w wait) bool { return !w.satisfied })
}

// loopWords says what ranks like this one do in their loop, as the rest of a sentence.
func (a *analysis) loopWords(r *rank, ranks []int32) string {
	what := "other ranks' memory"
	if win, _ := a.windowOf(r, r.loop); win != nil {
		if what = win.comm.label(); win.comm.name == "" {
			what = "a " + what
		}
	}
	where := ""
	switch t := r.loop; {
	case t.Function != "" && t.File != "":
		where = fmt.Sprintf(" in %s (%s)", t.Function, path.Base(t.File))
	case t.Function != "":
		where = " in " + t.Function
	}
	return fmt.Sprintf("still %s %s%s, as in a polling loop", verb(ranks, "accesses", "access"), what, where)
}
