package tagged

import (
	"errors"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// owner is what a request of a transport is to Open MPI.
type owner struct {
	handle inferior.Addr   // what the program has, or the transport's own request if it has none
	own    *ownRequest     // the pml's own request, nil if there is none
	call   *callstack.Call // on whose stack it is, or whose it is otherwise, nil if no call's
	// mayBlock is true of one that may or may not be a blocking call's.
	mayBlock bool
}

type send struct {
	transport.Send
	owner
	peer mqs.Maybe[int32] // local rank
}

type receive struct {
	transport.Receive
	owner
}

type unexpected struct {
	transport.Message
	isTaken bool // by MPI_Mprobe
}

// symMessages are the messages that programs have taken out of the queues. It is in .dynsym of stripped
// libraries too.
const symMessages = "ompi_message_free_list" // opal_free_list_t

// owners says whose requests of a transport are.
type owners struct {
	pml   pml
	calls []callstack.Call
	own   map[inferior.Ptr[ompi.Request]]*ownRequest
}

func (o *owners) of(r *transport.Request) owner {
	handle := o.pml.handle(r)
	out := owner{handle: handle.Addr(), own: o.own[handle]}
	if at := slices.IndexFunc(o.calls, func(c callstack.Call) bool { return c.OnStack(r.Addr) }); at >= 0 {
		out.call, out.handle = &o.calls[at], r.Addr // there is nothing behind it
	}
	if out.own != nil {
		out.handle = out.own.at.Addr()
	}
	return out
}

// holder is the only call that may have made a send for itself, nil if several may, or none that is known.
func (o *owners) holder(s *transport.Send) (of *callstack.Call) {
	for i := range o.calls {
		c := &o.calls[i]
		if _, isSending := callstack.BlockingSends[c.Function]; !isSending || !c.CandidatePointers[s.Addr] {
			continue
		}
		if of != nil {
			return nil
		}
		of = c
	}
	return of
}

// eachWord calls f with every place on a call's stack: the requests of blocking calls
// stand there, those of a collective's own too, and some of them are in no queue. What former
// calls have left of theirs stands there too, but a call asks the transport about its own one by a pointer
// to what is behind it (mca_pml_ucx_send and _recv, 4.1 to 6.0), so that it holds that.
func eachWord(r *inferior.Reader, c *callstack.Call, f func(inferior.Addr)) {
	width := inferior.Addr(r.Info().PointerSize)
	for a := c.Stack.Addr; c.OnStack(a); a += width {
		f(a)
	}
}

func (q *queues) assignReceives(all *contents, of *owners) {
	matched := slices.Clone(all.matcher.Queues().Matched)
	for i := range of.calls {
		eachWord(q.R, &of.calls[i], func(a inferior.Addr) {
			if r, ok := all.matcher.ReceiveAt(a); ok && of.calls[i].CandidatePointers[r.User] {
				matched = append(matched, r)
			}
		})
	}
	posted := all.matcher.Queues().Posted
	for i, r := range append(matched, posted...) {
		tag := r.Tag
		if r.State == transport.Complete && !r.Cancelled {
			tag = r.SenderTag // one that found its message at once has not noted what it asked for
		}
		by := of.of(&r.Request)
		id := q.byContext(all, q.tags.Envelope(tag).Context)
		if by.own != nil {
			id = q.idOf(all, by.own)
		}
		if by.own != nil && by.own.isOnce && by.call == nil {
			by.call, by.mayBlock = q.receiver(of.calls, posted, by.own, i+1 == len(matched)+len(posted))
		}
		all.receives[id] = append(all.receives[id], receive{r, by})
	}
}

// receiver finds the blocking call whose a receive is that stands among those of the program, as those of calls do in
// pml cm of 6.0, and says whether there may be one. It is the one whose mark the receive has. Where calls leave no
// marks, it is one that holds the receive and waits, if that was posted last: no other call can have done so since. A call
// that has a receive on its stack has no other.
func (q *queues) receiver(calls []callstack.Call, posted []transport.Receive, own *ownRequest, isLast bool) (of *callstack.Call, mayBlock bool) {
	for i := range calls {
		c := &calls[i]
		kind, isBlocking := callstack.BlockingRecvs[c.Function]
		switch {
		case !isBlocking:
		case c.OnStack(inferior.Addr(own.complete)):
			return c, true
		case c.CandidatePointers[own.at.Addr()] && !slices.ContainsFunc(posted, func(r transport.Receive) bool { return c.OnStack(r.Addr) }):
			if isLast && kind != callstack.KindNotKnown && !q.HasMarks() && ompi.IsWaiting(c) {
				return c, true
			}
			mayBlock = true
		}
	}
	return nil, mayBlock
}

func (q *queues) assignMessages(all *contents) {
	for _, m := range all.matcher.Queues().Unexpected {
		id := q.byContext(all, q.tags.Envelope(m.Tag).Context)
		all.unexpected[id] = append(all.unexpected[id], unexpected{Message: m})
	}
	list, err := q.R.Symbol(symMessages)
	if err != nil || list == nil || !q.Message.Bound() {
		return
	}
	seen := map[inferior.Addr]bool{} // mtl ofi leaves one that was received where it was
	err = ompi.EachElement(q.Process, inferior.Ptr[ompi.FreeList](list.Addr), symMessages, func(at inferior.Ptr[ompi.Message]) error {
		h, err := q.Message.Read(q.R, at)
		if err != nil || h.Next != 0 || h.Taken == 0 || seen[h.Taken] {
			return err
		}
		m, err := all.matcher.MessageAt(h.Taken)
		if errors.Is(err, transport.ErrNoMessage) {
			return nil
		}
		id := inferior.Addr(q.tags.Envelope(m.Tag).Context)
		if c := q.Comms[id]; err == nil && c != nil && c.At == h.Comm {
			seen[h.Taken] = true
			all.unexpected[id] = append(all.unexpected[id], unexpected{m, true})
		}
		return err
	})
	if err != nil {
		q.Notef("messages that MPI_Mprobe has taken may be missing: %v", err)
	}
}
