package openmpi

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// incompleteInUCX are the requests of pml ucx that are in use and not complete.
func (s *source) incompleteInUCX() []waiting {
	q, err := s.ucxQueues()
	if err != nil {
		return nil
	}
	var out []waiting
	for id, c := range s.comms {
		for _, r := range q.receives[id] {
			if r.State != transport.Complete {
				w := s.waitingInUCX(c, r.ucxRequest, r.Tag, r.Mask)
				w.Type = typeRecv
				out = append(out, w)
			}
		}
		for _, r := range q.sends[id] {
			if r.State != transport.Complete && !q.isDone(r.Done, symBsendDone, symBsendDoneNbx) {
				w := s.waitingInUCX(c, r.ucxRequest, r.Tag, ^uint64(0))
				w.Type = typeSend
				w.own = w.own || q.isDone(r.Done, symSendDoneEmpty)
				out = append(out, w)
			}
		}
	}
	slices.SortFunc(out, func(a, b waiting) int { return cmp.Compare(a.addr, b.addr) })
	return out
}

// waitingInUCX is a request as ob1 would have it, as far as that is of interest to
// those who wait for it.
func (s *source) waitingInUCX(c *commState, r ucxRequest, tag, mask uint64) waiting {
	w := waiting{addr: r.handle, own: r.call != nil, request: request{Comm: c.addr, Tag: anyTag, State: requestActive}}
	if mask&ucxTagValueMask != 0 {
		w.Tag = envelopeOf(tag).tag
	}
	switch {
	case r.started != nil:
		w.Complete = r.started.Complete
	case r.call == nil:
		if q, err := s.Request.ReadAt(s.r, r.handle); err == nil {
			w.Complete = q.Complete
		}
	}
	return w
}
