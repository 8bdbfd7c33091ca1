package waitfor

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// KeepCalls returns a copy of p in which calls that still wait have the requests and communicators shown by an earlier sample, if
// the new sample lacks them: p may have been stopped at an instruction that does not show the wait. It returns p itself if there
// is nothing to add. It completes a call only if the MPI counts the process's progress and has counted none since.
func KeepCalls(p, before *mqs.Process) *mqs.Process {
	if p == before || HasMoved(p, before) || !stillWaits(p, before) {
		return p
	}
	var out *mqs.Process
	for i := range p.Threads {
		t := &p.Threads[i]
		if behaviourOf(t) == goesOn || len(t.Requests) > 0 || len(t.Flags) > 0 || t.AllRequests {
			continue
		}
		at := slices.IndexFunc(before.Threads, func(o mqs.Thread) bool { return isSameCall(t, &o) && len(o.Requests) > 0 })
		if at < 0 || !hasOperations(p, before, before.Threads[at].Requests) {
			continue
		}
		if out == nil {
			whole := *p
			out, whole.Threads = &whole, slices.Clone(p.Threads)
		}
		now, then := &out.Threads[i], &before.Threads[at]
		now.Requests, now.AllRequests, now.SomeRequests = then.Requests, then.AllRequests, then.SomeRequests
		if !now.Comm.Known {
			now.Comm = then.Comm
		}
	}
	return cmp.Or(out, p)
}

// isSameCall reports whether two samples of a thread may be of one call, as far as the program's source tells.
func isSameCall(now, then *mqs.Thread) bool {
	return now.Number == then.Number && now.Call == then.Call && now.Function == then.Function && now.File == then.File && now.Line == then.Line &&
		haveSameCallers(now, then)
}

// hasOperations reports whether all requests of an earlier sample still stand for the operations that they stood for.
func hasOperations(p, before *mqs.Process, requests []inferior.Addr) bool {
	now := operationsOf(p, requests)
	then := operationsOf(before, requests)
	if len(now) != len(then) || len(then) == 0 {
		return false
	}
	for key, op := range then {
		if is := now[key]; is == nil || isOther(is, op) || is.Status != op.Status {
			return false
		}
	}
	return true
}
