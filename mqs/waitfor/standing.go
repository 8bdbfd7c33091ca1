package waitfor

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// KeepCalls returns a process with what an earlier sample has shown of calls in which it still waits, where the new sample does
// not show it: the process may have been stopped at an instruction where its call can't be seen to wait. It returns p itself if
// nothing is to be added. It adds only to calls of a process whose MPI counts what it does, and has counted nothing since.
func KeepCalls(p, before *mqs.Process) *mqs.Process {
	if p == before || HasMoved(p, before) || !stillWaits(p, before) {
		return p
	}
	var out *mqs.Process
	for i := range p.Threads {
		t := &p.Threads[i]
		if behaviourOf(t) == goesOn || len(t.Requests) > 0 || t.AllRequests {
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
