package tagged

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// owner is what a request of a transport is to Open MPI.
type owner struct {
	handle  inferior.Addr   // what the program has, or the transport's own request if it has none
	started *persistent     // by which it was started, nil if by none
	call    *callstack.Call // on whose stack it is, nil if on none
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
	pml     pml
	calls   []callstack.Call
	started map[inferior.Ptr[ompi.Request]]*persistent
}

func (o *owners) of(r *transport.Request) owner {
	handle := o.pml.handle(r)
	out := owner{handle: handle.Addr(), started: o.started[handle]}
	if at := slices.IndexFunc(o.calls, func(c callstack.Call) bool { return c.OnStack(r.Addr) }); at >= 0 {
		out.call, out.handle = &o.calls[at], r.Addr // there is nothing behind it
	}
	if out.started != nil {
		out.handle = out.started.at.Addr()
	}
	return out
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
	for _, r := range append(matched, all.matcher.Queues().Posted...) {
		tag := r.Tag
		if r.State == transport.Complete && !r.Cancelled {
			tag = r.SenderTag // one that found its message at once has not noted what it asked for
		}
		id := q.byContext(all, q.tags.Envelope(tag).Context)
		all.receives[id] = append(all.receives[id], receive{r, of.of(&r.Request)})
	}
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
	err = ompi.EachElement(q.Process, inferior.Ptr[ompi.FreeList](list.Addr), symMessages, func(at inferior.Ptr[ompi.Message]) error {
		h, err := q.Message.Read(q.R, at)
		if err != nil || h.Next != 0 || h.Taken == 0 {
			return err
		}
		m, err := all.matcher.MessageAt(h.Taken)
		id := inferior.Addr(q.tags.Envelope(m.Tag).Context)
		if c := q.Comms[id]; err == nil && c != nil && c.At == h.Comm {
			all.unexpected[id] = append(all.unexpected[id], unexpected{m, true})
		}
		return err
	})
	if err != nil {
		q.Notef("messages that MPI_Mprobe has taken may be missing: %v", err)
	}
}
