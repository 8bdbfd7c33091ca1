package ob1

import (
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// Operations yields one queue of a communicator.
func (q *queues) Operations(c *mqs.Communicator, class mqs.OpClass, yield func(mqs.PendingOperation, error) bool) {
	on, all := q.Comms[c.UniqueID], q.allRequests()
	switch class {
	case mqs.PendingSends:
		for _, r := range q.sendsInOrder(on, c, all.sends[on.At]) {
			if !yield(q.send(c, r), nil) {
				return
			}
		}
		if all.sendErr != nil {
			yield(mqs.PendingOperation{}, all.sendErr)
		}
	case mqs.PendingReceives:
		if q.yieldReceives(on, c, yield) && all.recvErr != nil {
			yield(mqs.PendingOperation{}, all.recvErr)
		}
	case mqs.UnexpectedMessages:
		q.yieldUnexpected(on, c, yield)
	}
}

// Size is how many requests of a queue there are.
func (q *queues) Size(c *mqs.Communicator, class mqs.OpClass) int {
	on, ok := q.Comms[c.UniqueID]
	switch {
	case ok && class == mqs.PendingSends:
		return len(q.allRequests().sends[on.At])
	case ok && class == mqs.PendingReceives:
		return len(q.allRequests().recvs[on.At])
	}
	return 0
}

// sendsInOrder puts the sends to each peer into the order in which the peer
// will match them, which their sequence numbers tell. Between peers there is no
// such order: the places that a peer's sends take are kept, which makes it the
// order of posting as long as no request has been used twice.
func (q *queues) sendsInOrder(on *ompi.Comm, c *mqs.Communicator, sends []sendAt) []sendAt {
	if len(sends) < 2 {
		return sends
	}
	peers, err := q.peers(on)
	if err != nil {
		q.Notef("the pending sends of %s may be out of order: %v", c.Label(), err)
		return sends
	}
	places := map[int32][]int{}
	for i, r := range sends {
		places[r.Base.Peer] = append(places[r.Base.Peer], i)
	}
	out := slices.Clone(sends)
	for _, peer := range slices.Sorted(maps.Keys(places)) {
		at := places[peer]
		if len(at) > 1<<16 {
			q.Notef("the pending sends of %s to rank %d are out of order: they are more than %s numbers", c.Label(), peer, name)
		}
		age := ageBefore(peers.procs[int(peer)].SendSequence)
		slices.SortStableFunc(at, func(i, k int) int { return age(sends[k].Base.Sequence) - age(sends[i].Base.Sequence) })
		for k, i := range slices.Sorted(slices.Values(at)) {
			out[i] = sends[at[k]]
		}
	}
	return out
}

// ageBefore returns how long before the last message of a peer one was sent. The
// sequence has 16 bits and wraps around.
func ageBefore(last uint32) func(sequence uint64) int {
	return func(sequence uint64) int { return int(uint16(last) - uint16(sequence)) }
}

// yieldReceives yields the receives in the order of posting, which is that of
// matching: those in the free list and those that only the lists of unmatched
// receives know, since their requests stand on a stack (probes).
// It returns false if it was stopped.
func (q *queues) yieldReceives(on *ompi.Comm, c *mqs.Communicator, yield func(mqs.PendingOperation, error) bool) bool {
	all := q.allRequests().recvs[on.At]
	extra, err := q.postedElsewhere(on)
	if err != nil {
		q.Notef("the posted receives of %s may not be all: %v", c.Label(), err)
	}
	recvs := make([]*recvAt, 0, len(all)+len(extra))
	for _, list := range [][]*recvAt{all, extra} {
		for _, r := range list {
			// A message held by MPI_Mprobe is shown with the unexpected ones.
			if !isTaken(r) {
				recvs = append(recvs, r)
			}
		}
	}
	slices.SortStableFunc(recvs, func(a, b *recvAt) int {
		// The communicator counts its receives with 32 bits.
		return int(int32(uint32(a.Base.Sequence) - uint32(b.Base.Sequence)))
	})
	for _, r := range recvs {
		if !yield(q.recv(c, r), nil) {
			return false
		}
	}
	return true
}

// postedElsewhere returns the unmatched receives whose requests are not in the free list.
func (q *queues) postedElsewhere(on *ompi.Comm) ([]*recvAt, error) {
	lists, err := q.peers(on)
	if err != nil {
		return nil, err
	}
	heads := []inferior.Embedded[ompi.List]{lists.comm.WildReceives}
	for _, rank := range lists.ranks {
		heads = append(heads, lists.procs[rank].SpecificReceives)
	}
	all := q.allRequests()
	var out []*recvAt
	walked := map[inferior.Embedded[ompi.List]]bool{0: true}
	for _, head := range heads {
		if walked[head] {
			continue
		}
		walked[head] = true
		l, err := q.List.Read(q.R, head.Ptr())
		if err != nil {
			return out, err
		}
		q.walks++
		var known *recvAt // at the element that was marked last
		var others inferior.Addrs
		mark := func(item inferior.Ptr[ompi.ListItem]) bool {
			if known = all.recvAt(recvOf(item)); known == nil {
				return others.Add(item.Addr())
			}
			isAgain := known.walked == q.walks
			known.walked = q.walks
			return !isAgain
		}
		next := func(item inferior.Ptr[ompi.ListItem]) (inferior.Ptr[ompi.ListItem], error) {
			if known != nil {
				return known.Base.Next, nil
			}
			return q.NextItem(item)
		}
		for item, err := range inferior.WalkMarking(l.First, l.Sentinel.Ptr(), 1<<26, next, mark) {
			if err != nil {
				return out, err
			}
			if known != nil {
				continue
			}
			at := recvOf(item)
			r, err := q.RecvRequest.Read(q.R, at)
			if err != nil {
				return out, err
			}
			if inUse(r.Base) && r.Base.Comm == on.At {
				out = append(out, &recvAt{at: at, recvRequest: r})
			}
		}
	}
	return out, nil
}

// recvOf is the receive that an element of a list of receives is: a request starts with that.
func recvOf(item inferior.Ptr[ompi.ListItem]) inferior.Ptr[recvRequest] {
	return inferior.Ptr[recvRequest](item)
}
