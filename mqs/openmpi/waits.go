package openmpi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Waits finds out which requests each call waits for. A thread that waits for
// several requests at once puts the address of an ompi_wait_sync_t of its own,
// on its stack, into each of them (ompi/request/req_wait.c, 4.1 to 6.0), as it
// does for a single one where there are threads. Else it looks again and again at
// a request whose address it holds, see [source.ownRequest]. The stack keeps old
// values, so a request of the program's own that a call holds and has not been shown
// to wait for is left out; of the library's own, those that a blocking collective has made are not.
func (s *source) Waits(threads []mqs.Thread) {
	calls, err := callstack.Calls(s.r)
	if err != nil || s.pml != ob1 && s.pml != ucxPML {
		return
	}
	isAlone := callsThatSend(calls) <= 1
	for _, c := range calls {
		at := slices.IndexFunc(threads, func(t mqs.Thread) bool { return t.Number == c.Thread })
		if at < 0 {
			continue
		}
		t := &threads[at]
		if root, ok := argument(&c, "root"); ok {
			t.Root = mqs.Known(int32(root))
		}
		waited, comm := s.waitedFor(&c, t, isAlone)
		for _, w := range waited {
			t.Requests = append(t.Requests, w.addr)
		}
		if comm == 0 {
			comm = commOf(waited)
		}
		for id, state := range s.comms {
			if comm != 0 && state.addr == comm {
				t.Comm = mqs.Known(id)
			}
		}
	}
}

// argument returns the value of an argument of a call, or of a function inside of it that it calls
// itself: those inside of where it looks after messages belong to whatever else is on its way.
func argument(c *callstack.Call, name string) (int64, bool) {
	outer := callstack.Call{Frames: c.Frames}
	for i, f := range slices.Backward(c.Frames) {
		if looksAfterMessages[f.Function] {
			outer.Frames = c.Frames[i:]
			break
		}
	}
	return outer.Argument(name)
}

// waiting is a request that a call may wait for; most are not complete.
type waiting struct {
	addr inferior.Addr
	request
	mode int32 // of a send
	// own is true if a blocking call has made it for itself, as far as that is known.
	own bool
}

// waitedFor returns the requests that a call waits for and says in the thread
// whether they are all; and the communicator, if the call gives it. It is alone if no other
// thread's call may have made a send for itself.
func (s *source) waitedFor(c *callstack.Call, t *mqs.Thread, isAlone bool) ([]waiting, inferior.Addr) {
	comm := inferior.Addr(0)
	if v, ok := argument(c, "comm"); ok {
		comm = inferior.Addr(v)
	}
	open := s.incomplete()
	synced := slices.DeleteFunc(slices.Clone(open), func(w waiting) bool { return !c.Holds(inferior.Addr(w.Complete)) })
	if len(synced) > 0 {
		t.AllRequests = s.areAll(c, synced)
		return synced, comm
	}
	if c.Function == "MPI_Probe" || c.Function == "MPI_Mprobe" {
		found := s.probes(c, open)
		t.AllRequests = len(found) == 1
		return found, comm
	}
	held := slices.DeleteFunc(slices.Clone(open), func(w waiting) bool { return !c.Words[w.addr] && !c.Holds(w.addr) })
	_, sends := callstack.BlockingSends[c.Function]
	_, receives := callstack.BlockingRecvs[c.Function]
	isAll := true
	switch {
	case !isPointToPoint(c.Function):
		own := slices.DeleteFunc(held, func(w waiting) bool { return !isOfCollective(w.request) })
		if len(own) == 0 && agreesOnContext(c) {
			own = ofOneNonBlocking(open)
		}
		return own, comm
	case s.marks() && (s.pml == ob1 || c.Function == "MPI_Wait"):
		return nil, comm // what it waits for is complete, or it has not come to wait
	case c.Function == "MPI_Wait" && isWaiting(c):
		held = s.ofHandle(c, held)
	case sends && receives && isWaiting(c) && (s.pml == ob1 || isAlone):
		held, isAll = s.exchanged(c, held)
	case sends && receives:
		return nil, comm
	case (sends || receives) && s.pml == ucxPML:
		// UCX has no marks: a call may hold what another thread's waits for, but for what stands on
		// its own stack.
		held = slices.DeleteFunc(held, func(w waiting) bool { return !w.own || !isAlone && !c.Holds(w.addr) })
		isAll = len(held) == 1
	case sends || receives:
		held = s.ownRequest(c)
	default:
		return nil, comm
	}
	held = slices.DeleteFunc(held, func(w waiting) bool { return w.Complete == requestCompleted })
	t.AllRequests = isAll && len(held) > 0
	return held, comm
}

// callsThatSend counts the calls that may have made a send for themselves: collectives send, too.
func callsThatSend(calls []callstack.Call) (n int) {
	for _, c := range calls {
		if _, sends := callstack.BlockingSends[c.Function]; sends || !isPointToPoint(c.Function) {
			n++
		}
	}
	return n
}

// incomplete are the requests that are in use and not complete.
func (s *source) incomplete() []waiting {
	if s.pml == ucxPML {
		return s.incompleteInUCX()
	}
	q := s.allRequests()
	var out []waiting
	add := func(a inferior.Addr, r request) {
		if r.State != requestInactive && r.Complete != requestCompleted {
			out = append(out, waiting{addr: a, request: r})
		}
	}
	for _, list := range q.sends {
		for _, r := range list {
			add(r.addr, r.Base)
		}
	}
	for _, list := range q.recvs {
		for _, r := range list {
			add(r.addr, r.Base)
		}
	}
	// Requests on several communicators may have the same number.
	slices.SortFunc(out, func(a, b waiting) int {
		return cmp.Or(int(int32(a.Sequence)-int32(b.Sequence)), cmp.Compare(a.addr, b.addr))
	})
	return out
}

// areAll says whether a call has put its mark into no other request. Where the
// mark is, those are counted that must still complete: of MPI_Waitany and
// MPI_Waitsome that is one, so theirs are looked for in the array that the program
// has passed, whose address the call holds.
func (s *source) areAll(c *callstack.Call, synced []waiting) bool {
	mark := inferior.Addr(synced[0].Complete)
	if c.Function != "MPI_Waitany" && c.Function != "MPI_Waitsome" {
		count, err := s.r.Int(mark, 4)
		return err == nil && int(count) == len(synced)
	}
	known := map[inferior.Addr]bool{}
	for _, w := range synced {
		known[w.addr] = true
	}
	if !s.Request.Bound() || s.prefetchWords(c) != nil {
		return false
	}
	for a := range c.Words {
		if s.isArray(a, mark, known) {
			return true
		}
	}
	return false
}

// prefetchWords brings what a call's words may point at into the cache.
func (s *source) prefetchWords(c *callstack.Call) error {
	var ranges []inferior.Range
	for a := range c.Words {
		ranges = append(ranges, inferior.Range{Addr: a, Len: s.r.Info().PointerSize})
	}
	return s.r.Prefetch(ranges)
}

const (
	maxArray     = 1 << 16 // elements of an array of requests that are looked at
	maxClassName = 64      // bytes
)

// isArray says whether at a stands an array of requests with all known ones and
// no other one that has the mark.
func (s *source) isArray(a, mark inferior.Addr, known map[inferior.Addr]bool) bool {
	width := inferior.Addr(s.r.Info().PointerSize)
	if a%width != 0 {
		return false
	}
	found := 0
	for i := range inferior.Addr(maxArray) {
		p, err := s.r.Pointers(a+i*width, 1)
		if err != nil {
			break
		}
		switch r := p[0]; {
		case known[r]:
			found++
		case r == 0 || r != s.symbols[symNullRequest].Addr && !s.isRequest(r):
			return found == len(known)
		case r != s.symbols[symNullRequest].Addr:
			if q, err := s.Request.ReadAt(s.r, r); err != nil || inferior.Addr(q.Complete) == mark {
				return false
			}
		}
	}
	return found == len(known)
}

// isRequest says whether an object of some class of requests stands at a.
func (s *source) isRequest(a inferior.Addr) bool {
	if a%inferior.Addr(s.r.Info().PointerSize) != 0 {
		return false
	}
	c, err := s.classOf(a)
	if err != nil {
		return false
	}
	name, err := c.Name.Read(s.r, maxClassName)
	return err == nil && strings.Contains(name, "request")
}

// ofHandle returns the request that MPI_Wait waits for, which it was given the address
// of a handle for: it holds both. It returns none if there is another such pair.
func (s *source) ofHandle(c *callstack.Call, held []waiting) []waiting {
	if !s.Request.Bound() || s.prefetchWords(c) != nil {
		return nil
	}
	var own []waiting
	seen := map[inferior.Addr]bool{s.symbols[symNullRequest].Addr: true}
	for a := range c.Words {
		if c.Holds(a) {
			continue
		}
		p, err := s.r.Pointers(a, 1)
		if err != nil || seen[p[0]] || !c.Words[p[0]] {
			continue
		}
		seen[p[0]] = true
		at := slices.IndexFunc(held, func(w waiting) bool { return w.addr == p[0] })
		switch {
		case at >= 0:
			own = append(own, held[at])
		case s.isRequest(p[0]): // one of another kind, as of a collective, or a complete one
			return nil
		}
	}
	if len(own) != 1 || isInternal(own[0].request) {
		return nil
	}
	return own
}

// probes are the requests on a call's part of the stack, which MPI_Probe has made, and those that
// it holds of MPI_Mprobe, which come from the library's list.
func (s *source) probes(c *callstack.Call, open []waiting) []waiting {
	out := slices.DeleteFunc(slices.Clone(open), func(w waiting) bool { return w.Type != typeMprobe || !c.Words[w.addr] })
	for _, state := range s.comms {
		extra, _ := s.postedElsewhere(state) // what can't be read has been said where it is shown
		for _, r := range extra {
			if c.Holds(r.addr) {
				out = append(out, waiting{addr: r.addr, request: r.Base})
			}
		}
	}
	return out
}

// commOf is the communicator that all requests of a call are on, 0 if there is
// no such one.
func commOf(waited []waiting) inferior.Addr {
	if len(waited) == 0 || slices.ContainsFunc(waited, func(w waiting) bool { return w.Comm != waited[0].Comm }) {
		return 0
	}
	return waited[0].Comm
}

func isInternal(r request) bool { return r.Tag < 0 && r.Tag != anyTag }

// Tags of the library's own messages (ompi/mca/coll/base/coll_tags.h, 4.1 to 6.0): those of blocking
// collectives, MCA_COLL_BASE_TAG_ALLGATHER to SCATTERV, and of blocking ones among neighbours,
// NEIGHBOR_BASE to NEIGHBOR_END. Most between them are reserved one by one for non-blocking
// collectives, which are on their way whatever the program does meanwhile.
const (
	firstCollectiveTag, lastCollectiveTag = -10, -26
	firstNeighbourTag, lastNeighbourTag   = -1<<30 + 1, firstNeighbourTag - 1024
)

// isOfCollective says whether a request is one that a blocking collective has made for itself.
func isOfCollective(r request) bool {
	return r.Tag <= firstCollectiveTag && r.Tag >= lastCollectiveTag || r.Tag <= firstNeighbourTag && r.Tag >= lastNeighbourTag
}

// isOfNonBlocking says whether a request is one of a non-blocking collective's, whose tags are
// those between.
func isOfNonBlocking(r request) bool { return r.Tag < lastCollectiveTag && r.Tag > firstNeighbourTag }

// agreesOnContext says whether a call that makes a communicator waits until its members have
// agreed on the context, by non-blocking collectives on the communicator that it was given
// (ompi/communicator/comm_cid.c, 4.1 to 6.0). From 5.0 on, a function of the library's own,
// which has no name there, waits for it.
func agreesOnContext(c *callstack.Call) bool {
	for i, f := range slices.Backward(c.Frames) {
		if looksAfterMessages[f.Function] {
			by := c.Frames[i+1:]
			if len(by) > 1 && by[0].Function == "" {
				by = by[1:]
			}
			return len(by) > 0 && by[0].Function == "ompi_comm_nextcid"
		}
	}
	return false
}

// ofOneNonBlocking are the requests of the only non-blocking collective that is on its way. None
// are returned if there are more: which one a call has begun is not read.
func ofOneNonBlocking(open []waiting) []waiting {
	out := slices.DeleteFunc(slices.Clone(open), func(w waiting) bool { return !isOfNonBlocking(w.request) })
	if slices.ContainsFunc(out, func(w waiting) bool { return w.Tag != out[0].Tag || w.Comm != out[0].Comm }) {
		return nil
	}
	return out
}

// isPointToPoint tells the calls that wait for the program's own messages.
func isPointToPoint(call string) bool {
	_, send := callstack.BlockingSends[call]
	_, recv := callstack.BlockingRecvs[call]
	return send || recv || strings.HasPrefix(call, "MPI_Wait") || strings.HasPrefix(call, "MPI_Test")
}

// Traffic counts messages by ob1's sequence numbers, of 16 bits on the wire.
func (s *source) Traffic(c *mqs.Communicator) []mqs.Traffic {
	state, ok := s.comms[c.UniqueID]
	if !ok || s.pml != ob1 {
		return nil
	}
	peers, err := s.peers(state)
	if err != nil {
		return nil
	}
	out := []mqs.Traffic{}
	for _, rank := range peers.ranks {
		p := peers.procs[rank]
		if p.ExpectedAt == 0 {
			return nil
		}
		t := mqs.Traffic{Peer: int32(rank), Sent: uint16(p.SendSequence), Arrived: p.ExpectedSequence - 1}
		if t.Sent != 0 || t.Arrived != 0 {
			out = append(out, t)
		}
	}
	return out
}
