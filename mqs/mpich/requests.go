package mpich

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Kinds of requests (MPIR_Request_kind_t in src/include/mpir_request.h).
const (
	kindSend           = 1
	kindRecv           = 2
	kindPersistentSend = 3
	kindPersistentRecv = 4
	kindMprobe         = 11
)

// requestAt is a request and where it is.
type requestAt struct {
	at inferior.Addr
	request
	// The persistent request that has started this one, if any: the one that
	// the program has.
	owner *requestAt
	// Its place in the debugger's queue of sends, if there is one and it is in
	// that. A persistent one's is that of when it was made.
	noted *envelope
}

// isHeld tells a message that MPI_Mprobe has taken. From 4.1 its kind has one more before it.
func isHeld(r *requestAt) bool {
	if r.Enqueue != 0 {
		return r.Kind == kindMprobe+1
	}
	return r.Kind == kindMprobe
}

// complete is what MPI_Test would find.
func (r *requestAt) complete() bool { return r.Pending == 0 }

// cancelled is known of complete requests.
func (r *requestAt) cancelled() bool { return r.CountHi&1 != 0 }

// bytes is the count of the request's status, whose lowest bit of the higher
// half says whether it was cancelled.
func (r *requestAt) bytes() int64 {
	return int64(r.CountHi>>1)<<32 | int64(r.CountLo)
}

// user is the request that the program has: the persistent one, if it is one's.
func (r *requestAt) user() *requestAt {
	if r.owner != nil {
		return r.owner
	}
	return r
}

// requests are the requests of the process that stand for operations, and the
// device's lists of those that are not matched.
type requests struct {
	sends, recvs, held []*requestAt // in the order of the pools
	partitioned        []*requestAt // the same
	posted             []*requestAt // unmatched receives, in the order of matching
	unexpected         []*requestAt // in the order of matching
	toSelf             []*requestAt // unmatched sends on communicators of one process, the same
	isPosted           map[inferior.Addr]bool

	// What was read stands above even if the rest of it can't be.
	err, postedErr, unexpectedErr error
}

// allRequests reads all requests, once.
func (s *source) allRequests() *requests {
	if s.requests != nil {
		return s.requests
	}
	q := &requests{isPosted: map[inferior.Addr]bool{}}
	s.requests = q
	s.readDebugQueues()
	all, order, err := s.poolRequests()
	q.err = err
	s.byAddr = all
	q.posted, q.postedErr = s.listed(s.device.posted)
	q.unexpected, q.unexpectedErr = s.listed(s.device.unexpected)
	listed := map[inferior.Addr]bool{}
	for _, r := range q.posted {
		q.isPosted[r.at] = true
	}
	for _, r := range q.unexpected {
		listed[r.at] = true
	}
	if d, ok := s.device.(*ch4ucx); ok {
		d.join(q)
	}
	for _, r := range order {
		if r.Kind != kindPersistentSend && r.Kind != kindPersistentRecv || r.Real == 0 {
			continue
		}
		real := all[r.Real]
		if real == nil {
			// One of the library's requests that are complete from the start.
			read, err := s.Request.ReadAt(s.r, r.Real)
			if err != nil {
				continue
			}
			real = &requestAt{at: r.Real, request: read}
			real.Comm, real.Kind = r.Comm, r.Kind-kindPersistentSend+kindSend
			order = append(order, real)
		}
		real.owner = r
		if real.Comm == 0 {
			real.Comm = r.Comm
		}
	}
	for _, r := range order {
		switch {
		case listed[r.at] || s.device.isHalf(r, q.isPosted):
		case r.Kind == kindSend:
			s.attribute(r)
			q.sends = append(q.sends, r)
		case r.Kind == kindRecv:
			q.recvs = append(q.recvs, r)
		case isHeld(r):
			q.held = append(q.held, r)
		case isPartitioned(r):
			q.partitioned = append(q.partitioned, r)
		}
	}
	s.orderToSelf(q)
	return q
}

// orderToSelf puts the sends of communicators of one process that no receive has matched behind the
// others, in the order of matching where the library's list of them can be read.
func (s *source) orderToSelf(q *requests) {
	head, ok := s.device.sentToSelf()
	if !ok {
		return
	}
	list, err := s.listed(func() ([]inferior.Addr, error) { return []inferior.Addr{head}, nil })
	if err != nil {
		return // then their order is not known, which a note says
	}
	place := map[*requestAt]int{}
	for i, r := range list {
		place[r] = i + 1
	}
	slices.SortStableFunc(q.sends, func(a, b *requestAt) int { return cmp.Compare(place[a], place[b]) })
	q.toSelf = list
}

// attribute finds the communicator of a send that a netmod has: such a request
// has none.
func (s *source) attribute(r *requestAt) {
	switch {
	case r.Comm != 0:
	case r.noted != nil:
		r.Comm = s.commOf(r.noted)
	}
	if r.Comm == 0 && !r.complete() {
		s.strayed++
	}
}

// poolRequests reads the requests that are in use, of all pools.
func (s *source) poolRequests() (map[inferior.Addr]*requestAt, []*requestAt, error) {
	all := map[inferior.Addr]*requestAt{}
	var order []*requestAt
	heads := s.symbols[symRequestPools].Addr
	if err := s.r.Prefetch([]inferior.Range{{Addr: heads, Len: requestPools * s.Pool.Size()}}); err != nil {
		return all, nil, err
	}
	for i := range requestPools {
		p, err := s.openPool(heads+inferior.Addr(i*s.Pool.Size()), fmt.Sprintf("%s[%d]", symRequestPools, i), s.Request.Size())
		if err != nil {
			return all, order, err
		}
		err = s.eachUsed(p, func(a inferior.Addr) error {
			r, err := s.Request.ReadAt(s.r, a)
			if all[a] != nil {
				return fmt.Errorf("the request at %s is in two pools", a)
			}
			if err == nil && r.RefCount > 0 {
				at := &requestAt{at: a, request: r, noted: s.noteOf(a, &r)}
				all[a] = at
				order = append(order, at)
			}
			return err
		})
		if err != nil {
			return all, order, err
		}
	}
	return all, order, nil
}

// listed reads lists of requests that are linked by their member next.
func (s *source) listed(heads func() ([]inferior.Addr, error)) ([]*requestAt, error) {
	var out []*requestAt
	first, err := heads()
	if err != nil {
		return nil, err
	}
	seen := map[inferior.Addr]bool{}
	for _, a := range first {
		var r request
		next := func(a inferior.Addr) (inferior.Addr, error) {
			var err error
			r, err = s.Request.ReadAt(s.r, a)
			return r.Next, err
		}
		for a, err := range inferior.Walk(a, 0, maxObjects, next) {
			if err != nil {
				return out, err
			}
			if seen[a] {
				return out, fmt.Errorf("the request at %s is in two lists", a)
			}
			seen[a] = true
			at := s.byAddr[a]
			if at == nil {
				if r.RefCount <= 0 {
					return out, fmt.Errorf("the list leads to a request at %s that is not in use", a)
				}
				at = &requestAt{at: a, request: r}
				s.byAddr[a] = at
			}
			out = append(out, at)
		}
	}
	return out, nil
}
