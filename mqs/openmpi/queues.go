package openmpi

import (
	"fmt"
	"iter"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Operations yields one queue of a communicator.
func (s *source) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		if s.pml == ucxPML {
			s.yieldUCX(c, class, yield)
			return
		}
		state, ok := s.comms[c.UniqueID]
		if !ok {
			yield(mqs.PendingOperation{}, fmt.Errorf("no communicator %s", c.UniqueID))
			return
		}
		if s.pml != ob1 {
			yield(mqs.PendingOperation{}, fmt.Errorf("its messages are in pml %s, which mpi-queues can't read", s.pml))
			return
		}
		q := s.allRequests()
		switch class {
		case mqs.PendingSends:
			for _, r := range s.sendsInOrder(state, c, q.sends[state.addr]) {
				if !yield(s.send(c, r), nil) {
					return
				}
			}
			if q.sendErr != nil {
				yield(mqs.PendingOperation{}, q.sendErr)
			}
		case mqs.PendingReceives:
			if s.yieldReceives(state, c, yield) && q.recvErr != nil {
				yield(mqs.PendingOperation{}, q.recvErr)
			}
		case mqs.UnexpectedMessages:
			s.yieldUnexpected(state, c, yield)
		}
	}
}

// sendsInOrder puts the sends to each peer into the order in which the peer
// will match them, which their sequence numbers tell. Between peers there is no
// such order: the places that a peer's sends take are kept, which makes it the
// order of posting as long as no request has been used twice.
func (s *source) sendsInOrder(state *commState, c *mqs.Communicator, sends []sendAt) []sendAt {
	if len(sends) < 2 {
		return sends
	}
	peers, err := s.peers(state)
	if err != nil {
		s.notef("the pending sends of %s may be out of order: %v", c.Label(), err)
		return sends
	}
	places := map[int32][]int{}
	for i, r := range sends {
		places[r.Base.Peer] = append(places[r.Base.Peer], i)
	}
	out := slices.Clone(sends)
	for peer, at := range places {
		if len(at) > 1<<16 {
			s.notef("the pending sends of %s to rank %d are out of order: they are more than ob1 numbers", c.Label(), peer)
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
func (s *source) yieldReceives(state *commState, c *mqs.Communicator, yield func(mqs.PendingOperation, error) bool) bool {
	all := s.requests.recvs[state.addr]
	extra, err := s.postedElsewhere(state)
	if err != nil {
		s.notef("the posted receives of %s may not be all: %v", c.Label(), err)
	}
	recvs := make([]*recvAt, 0, len(all)+len(extra))
	for _, list := range [][]recvAt{all, extra} {
		for i := range list {
			// A message held by MPI_Mprobe is shown with the unexpected ones.
			if !held(&list[i]) {
				recvs = append(recvs, &list[i])
			}
		}
	}
	slices.SortStableFunc(recvs, func(a, b *recvAt) int {
		// The communicator counts its receives with 32 bits.
		return int(int32(uint32(a.Base.Sequence) - uint32(b.Base.Sequence)))
	})
	for _, r := range recvs {
		if !yield(s.recv(c, r), nil) {
			return false
		}
	}
	return true
}

// held tells the request that stands for a message taken by MPI_Mprobe.
func held(r *recvAt) bool {
	return (r.Base.Type == typeImprobe || r.Base.Type == typeMprobe) && r.Base.Complete == requestCompleted
}

// postedElsewhere returns the unmatched receives whose requests are not in the free list.
func (s *source) postedElsewhere(state *commState) ([]recvAt, error) {
	lists, err := s.peers(state)
	if err != nil {
		return nil, err
	}
	heads := []inferior.Place{lists.comm.WildReceives}
	for _, p := range lists.procs {
		heads = append(heads, p.SpecificReceives)
	}
	var out []recvAt
	walked := map[inferior.Place]bool{0: true}
	for _, head := range heads {
		if walked[head] {
			continue
		}
		walked[head] = true
		l, err := s.List.ReadAt(s.r, inferior.Addr(head))
		if err != nil {
			return out, err
		}
		next := func(a inferior.Addr) (inferior.Addr, error) {
			if next, seen := s.requests.seen[a]; seen {
				return next, nil
			}
			item, err := s.ListItem.ReadAt(s.r, a)
			return item.Next, err
		}
		for a, err := range inferior.Walk(l.First, inferior.Addr(l.Sentinel), 1<<26, next) {
			if err != nil {
				return out, err
			}
			if _, seen := s.requests.seen[a]; seen {
				continue
			}
			r, err := s.RecvRequest.ReadAt(s.r, a)
			if err != nil {
				return out, err
			}
			if inUse(r.Base) && r.Base.Comm == state.addr {
				out = append(out, recvAt{a, r})
			}
		}
	}
	return out, nil
}

// peerLists is ob1's state of a communicator.
type peerLists struct {
	comm  comm
	procs map[int]commProc // by local rank; absent before first contact
	ranks []int
}

// peers reads ob1's state of a communicator and of each peer it has been in contact with.
func (s *source) peers(state *commState) (*peerLists, error) {
	if state.PMLComm == 0 {
		return &peerLists{}, nil // MPI_COMM_NULL, or one that is being made
	}
	if err := s.proveClass(state.PMLComm, obComm, s.Comm.Size()); err != nil {
		return nil, err
	}
	c, err := s.Comm.ReadAt(s.r, state.PMLComm)
	if err != nil {
		return nil, err
	}
	if c.NumProcs > maxGroup {
		return nil, fmt.Errorf("it has %d peers", c.NumProcs)
	}
	addrs, err := s.r.Pointers(c.Procs, int(c.NumProcs))
	if err != nil {
		return nil, err
	}
	var ranges []inferior.Range
	for _, a := range addrs {
		ranges = append(ranges, inferior.Range{Addr: a, Len: s.CommProc.Size()})
	}
	if err := s.r.Prefetch(ranges); err != nil {
		return nil, err
	}
	out := &peerLists{comm: c, procs: map[int]commProc{}}
	for rank, a := range addrs {
		if a == 0 {
			continue
		}
		p, err := s.CommProc.ReadAt(s.r, a)
		if err != nil {
			return out, err
		}
		out.procs[rank] = p
		out.ranks = append(out.ranks, rank)
	}
	return out, nil
}
