package tagged

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Incomplete are the requests that are in use and not complete, in the order of their addresses.
func (q *queues) Incomplete() []ompi.Waitable {
	all, err := q.contents()
	if err != nil {
		return nil
	}
	var out []ompi.Waitable
	for id, c := range q.Comms {
		for i := range all.receives[id] {
			if r := &all.receives[id][i]; r.State != transport.Complete {
				w := q.waitable(c, mqs.PendingReceives, &r.owner)
				if !q.tags.IsAnyTag(&r.Receive) {
					w.Tag = q.tags.Envelope(r.Tag).Tag
				}
				out = append(out, w)
			}
		}
		for i := range all.sends[id] {
			r := &all.sends[id][i]
			made := q.pml.maker(&r.Request)
			if r.State != transport.Complete && made != madeForBuffer {
				w := q.waitable(c, mqs.PendingSends, &r.owner)
				w.Tag, w.Own = q.tags.Envelope(r.Tag).Tag, w.Own || made == madeForCall
				out = append(out, w)
			}
		}
	}
	slices.SortFunc(out, func(a, b ompi.Waitable) int { return cmp.Compare(a.Addr, b.Addr) })
	return out
}

// waitable is a request of any tag.
func (q *queues) waitable(c *ompi.Comm, class mqs.OpClass, r *owner) ompi.Waitable {
	w := ompi.Waitable{Addr: r.handle, Class: class, Comm: c.At, Tag: ompi.AnyTag, Own: r.call != nil}
	switch {
	case r.own != nil:
		w.Complete = r.own.complete
	case r.call == nil:
		if kept, err := q.requestAt(r.handle); err == nil {
			w.Complete = kept.Complete
		}
	}
	return w
}

// Own are the requests of its own that a blocking call waits for. A transport knows no marks: a call may hold
// what another thread's waits for, but for what stands on its own stack.
func (q *queues) Own(c *callstack.Call, held []ompi.Waitable, isAlone bool) (own []ompi.Waitable, all bool) {
	_, sends := callstack.BlockingSends[c.Function]
	_, receives := callstack.BlockingRecvs[c.Function]
	if sends && receives {
		if !isAlone || !ompi.IsWaiting(c) {
			return nil, false
		}
		return ompi.Exchanged(c, func(class mqs.OpClass) []ompi.Waitable { return q.exchanged(c, class, held) })
	}
	own = slices.DeleteFunc(slices.Clone(held), func(w ompi.Waitable) bool {
		isItsSend := sends && w.Class == mqs.PendingSends && (isAlone || c.OnStack(w.Addr))
		// Those of calls are on their stacks, but for pml cm's from 6.0: see [queues.receiver].
		isItsReceive := receives && w.Class == mqs.PendingReceives && (c.OnStack(w.Addr) || !q.HasMarks() && ompi.IsWaiting(c))
		return !w.Own || !isItsSend && !isItsReceive
	})
	return own, len(own) == 1
}

// exchanged returns the send or the receive of MPI_Sendrecv, which has one; none if it may be any of several.
func (q *queues) exchanged(c *callstack.Call, class mqs.OpClass, held []ompi.Waitable) []ompi.Waitable {
	words := q.OwnWords(c)
	may := slices.DeleteFunc(slices.Clone(held), func(w ompi.Waitable) bool {
		isItsReceive := class == mqs.PendingReceives && words[w.Addr]
		return w.Class != class || !w.Own && !isItsReceive
	})
	if len(may) != 1 {
		return nil
	}
	return may
}
