package ompi

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// SetWaits finds out which requests each call waits for. A thread that waits for
// several requests at once puts the address of an ompi_wait_sync_t of its own,
// on its stack, into each of them (ompi/request/req_wait.c, 4.0 to 6.0), as it
// does for a single one where there are threads. Else it looks again and again at
// a request whose address it holds, see [Queues.Own]. The stack keeps old
// values, so a request that a call holds is left out unless the call has been shown to wait for it, or is a
// collective and the request one that a blocking collective has made.
func (p *Process) SetWaits(q Queues, threads []mqs.Thread) {
	calls, err := p.Calls()
	if err != nil {
		return
	}
	isAlone := callsThatSend(calls) <= 1
	callstack.SetWaits(threads, calls, func(c *callstack.Call) callstack.Wait {
		var w callstack.Wait
		waited, all := p.waitedFor(q, c, isAlone)
		w.All = all
		for _, r := range waited {
			w.Requests = append(w.Requests, callstack.Request{Addr: r.Addr, Comm: p.idOf(r.Comm)})
		}
		if root, ok := argument(c, "root"); ok {
			w.Root = mqs.Known(p.givenRank(root))
		}
		if comm, ok := argument(c, "comm"); ok {
			w.Comm = p.idOf(inferior.Ptr[Communicator](p.given(mqs.CommHandle, comm)))
		}
		if count, datatype, ok := c.Data(); ok {
			of := p.DatatypeInfo(inferior.Ptr[Datatype](p.given(mqs.DatatypeHandle, datatype)))
			w.SetData(count, of.Name, of.Size)
		}
		if op, ok := c.Reduction(); ok {
			w.Operation = p.operationName(p.given(mqs.OpHandle, op))
		}
		if probed, ok := p.probed(q, c); ok {
			w.Comm, w.Source, w.Tag = p.idOf(probed.Comm), mqs.Known(probed.Source), mqs.Known(probed.Tag)
			if probed.Tag == AnyTag {
				w.Tag = mqs.Known[int32](-1)
			}
		}
		p.setObjects(c, &w)
		return w
	})
}

// operationName is the name of a reduction's operation, empty of one that the program has made.
func (p *Process) operationName(at inferior.Addr) mqs.Maybe[string] {
	h := &mqs.Handle{Kind: mqs.OpHandle, Value: uint64(at)}
	p.resolveOp(h, inferior.Ptr[op](at))
	if h.State == mqs.LiveHandle {
		return mqs.Known("")
	}
	return h.Name
}

// idOf returns the unique id of the communicator at an address that a call is on, if there is one. The collectives of an
// intercommunicator also use the communicator of the local group inside it, which no program has (c_local_comm): the
// intercommunicator is returned for that.
func (p *Process) idOf(at inferior.Ptr[Communicator]) mqs.Maybe[inferior.Addr] {
	c := p.interBy[at]
	if c == nil {
		c = p.CommAt(at)
	}
	if c == nil {
		return mqs.Maybe[inferior.Addr]{}
	}
	return mqs.Known(c.Model.UniqueID)
}

// waitedFor returns the requests that a call waits for, and whether they are all. It is alone if no other
// thread's call may have made a send for itself.
func (p *Process) waitedFor(q Queues, c *callstack.Call, isAlone bool) (waited []Waitable, all bool) {
	open := q.Incomplete()
	if strings.HasPrefix(c.Function, "MPI_Wait") {
		open = slices.Concat(open, p.openCollectives())
	}
	synced := slices.DeleteFunc(slices.Clone(open), func(w Waitable) bool { return !c.OnStack(inferior.Addr(w.Complete)) })
	if len(synced) > 0 {
		return synced, p.areAll(c, synced)
	}
	held := slices.DeleteFunc(slices.Clone(open), func(w Waitable) bool { return !c.CandidatePointers[w.Addr] && !c.OnStack(w.Addr) })
	_, sends := callstack.BlockingSends[c.Function]
	_, receives := callstack.BlockingRecvs[c.Function]
	switch {
	case c.Function == "MPI_Probe" || c.Function == "MPI_Mprobe":
		waited = q.Probes(c)
		return waited, len(waited) == 1
	case testsRequests(c.Function):
		return p.asked(c, open)
	case !callstack.IsPointToPoint(c.Function):
		waited = slices.DeleteFunc(slices.Clone(held), func(w Waitable) bool { return !isOfCollective(w.Tag) })
		switch {
		case len(waited) > 0:
		case c.Function == "MPI_Intercomm_create" && IsWaiting(c), c.Function == "MPI_Comm_create_group":
			waited = withProgramsTag(c, open, held)
		case agreesOnContext(c):
			waited = ofOneNonBlocking(open)
		}
		return waited, false
	case c.Function == "MPI_Wait" && !p.HasMarks() && IsWaiting(c):
		waited, all = p.ofHandle(c, held), true
	case sends || receives:
		waited, all = q.Own(c, held, isAlone)
	}
	if over := p.completed(c); c.Function == "MPI_Wait" && len(waited) == 0 && over.Addr != 0 {
		return []Waitable{over}, true
	}
	// What has its mark no more, or has not come to wait, waits for nothing that is known.
	waited = slices.DeleteFunc(waited, func(w Waitable) bool { return w.Complete == RequestCompleted })
	return waited, all && len(waited) > 0
}

// callsThatSend counts the calls that may have made a send for themselves: collectives send, too.
func callsThatSend(calls []callstack.Call) (n int) {
	for _, c := range calls {
		if _, sends := callstack.BlockingSends[c.Function]; sends || !callstack.IsPointToPoint(c.Function) {
			n++
		}
	}
	return n
}

// areAll says whether a call has put its mark into no other request. Where the
// mark is, those are counted that must still complete: of MPI_Waitany and
// MPI_Waitsome that is one, so theirs are looked for in the array that the program
// has passed, whose address the call holds.
func (p *Process) areAll(c *callstack.Call, synced []Waitable) bool {
	mark := inferior.Addr(synced[0].Complete)
	if c.Function != "MPI_Waitany" && c.Function != "MPI_Waitsome" {
		count, err := p.R.Int(mark, 4)
		return err == nil && int(count) == len(synced)
	}
	known := map[inferior.Addr]bool{}
	for _, w := range synced {
		known[w.Addr] = true
	}
	if !p.Request.Bound() || p.prefetchWords(c) != nil {
		return false
	}
	for a := range c.CandidatePointers {
		if p.isArray(a, mark, known) {
			return true
		}
	}
	return false
}

// prefetchWords brings what a call's words may point at into the cache.
func (p *Process) prefetchWords(c *callstack.Call) error {
	var ranges []inferior.Range
	for a := range c.CandidatePointers {
		ranges = append(ranges, inferior.Range{Addr: a, Len: p.R.Info().PointerSize})
	}
	return p.R.Prefetch(ranges)
}

// maxArray bounds the elements of an array of requests that are looked at.
const maxArray = 1 << 16

// isArray says whether at a stands an array of requests with all known ones and
// no other one that has the mark.
func (p *Process) isArray(a, mark inferior.Addr, known map[inferior.Addr]bool) bool {
	width := inferior.Addr(p.R.Info().PointerSize)
	if a%width != 0 {
		return false
	}
	found := 0
	for i := range inferior.Addr(maxArray) {
		word, err := p.R.Pointers(a+i*width, 1)
		if err != nil {
			break
		}
		switch r := word[0]; {
		case known[r]:
			found++
		case r == 0 || r != p.Symbols[symNullRequest].Addr && !p.isRequest(r):
			return found == len(known)
		case r != p.Symbols[symNullRequest].Addr:
			if q, err := p.Request.Read(p.R, inferior.Ptr[Request](r)); err != nil || inferior.Addr(q.Complete) == mark {
				return false
			}
		}
	}
	return found == len(known)
}

// isRequest says whether an object of some class of requests stands at a.
func (p *Process) isRequest(a inferior.Addr) bool {
	if a%inferior.Addr(p.R.Info().PointerSize) != 0 {
		return false
	}
	name, err := p.ClassName(inferior.Ptr[Object](a))
	return err == nil && strings.Contains(name, "request")
}

// ofHandle returns the request that MPI_Wait waits for, which it was given the address
// of a handle for: it holds both. It returns none if there is another such pair.
func (p *Process) ofHandle(c *callstack.Call, held []Waitable) []Waitable {
	if !p.Request.Bound() || p.prefetchWords(c) != nil {
		return nil
	}
	var own []Waitable
	seen := map[inferior.Addr]bool{p.Symbols[symNullRequest].Addr: true}
	for a := range c.CandidatePointers {
		if c.OnStack(a) {
			continue
		}
		word, err := p.R.Pointers(a, 1)
		if err != nil || seen[word[0]] || !c.CandidatePointers[word[0]] {
			continue
		}
		seen[word[0]] = true
		if p.isInParts(a) {
			continue
		}
		at := slices.IndexFunc(held, func(w Waitable) bool { return w.Addr == word[0] })
		switch {
		case at >= 0 && IsInternal(held[at].Tag): // no program has its handle
		case at >= 0:
			own = append(own, held[at])
		case p.isRequest(word[0]): // one of another kind, as of a collective, or a complete one
			return nil
		}
	}
	if len(own) != 1 {
		return nil
	}
	return own
}

// completed is the request that MPI_Wait still waits for though it is complete, as a library does that has lost the wake-up: the
// call holds the address of the program's handle, which stays until the call is over, and the request's. It is a zero
// value if there is none, or another such pair.
func (p *Process) completed(c *callstack.Call) (own Waitable) {
	if c.Function != "MPI_Wait" || !IsWaiting(c) || !p.Request.Bound() || p.prefetchWords(c) != nil {
		return own
	}
	seen := map[inferior.Addr]bool{p.Symbols[symNullRequest].Addr: true}
	for a := range c.CandidatePointers {
		if c.OnStack(a) {
			continue
		}
		word, err := p.R.Pointers(a, 1)
		if err != nil || seen[word[0]] || !c.CandidatePointers[word[0]] {
			continue
		}
		if seen[word[0]] = true; p.isInParts(a) || !p.isRequest(word[0]) {
			continue
		}
		r, err := p.Request.Read(p.R, inferior.Ptr[Request](word[0]))
		if err != nil || own.Addr != 0 || r.Complete != RequestCompleted {
			return Waitable{}
		}
		own = Waitable{Addr: word[0], Complete: r.Complete}
	}
	return own
}

// ofOneNonBlocking are the requests of the only non-blocking collective that is on its way. None
// are returned if there are more: which one a call has begun is not read.
func ofOneNonBlocking(open []Waitable) []Waitable {
	out := slices.DeleteFunc(slices.Clone(open), func(w Waitable) bool { return !IsOfNonBlocking(w.Tag) })
	if slices.ContainsFunc(out, func(w Waitable) bool { return w.Tag != out[0].Tag || w.Comm != out[0].Comm }) {
		return nil
	}
	return out
}

// probed returns what a call asks for that looks for a message and returns at once; false if that is not known.
func (p *Process) probed(q Queues, c *callstack.Call) (Probed, bool) {
	if c.Function != "MPI_Iprobe" && c.Function != "MPI_Improbe" {
		return Probed{}, false
	}
	source, isSource := argument(c, "source")
	tag, isTag := argument(c, "tag")
	comm, isComm := argument(c, "comm")
	if isSource && isTag && isComm {
		return Probed{inferior.Ptr[Communicator](p.given(mqs.CommHandle, comm)), p.givenRank(source), p.givenTag(tag)}, true
	}
	return q.Probed(c)
}
