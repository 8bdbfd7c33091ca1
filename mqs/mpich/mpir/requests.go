package mpir

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Kinds of requests (MPIR_Request_kind_t in src/include/mpir_request.h).
const (
	KindSend           = 1
	KindRecv           = 2
	kindPersistentSend = 3
	kindPersistentRecv = 4
	kindMprobe         = 11
)

// Operation is a request in use, and what else is known of it.
type Operation struct {
	At inferior.Ptr[Request]
	Request
	// Owner is the persistent request that has started this one, if any: the one that
	// the program has.
	Owner *Operation
	// Noted is its entry in the debugger's queue of sends, nil if there is no queue or it is not in
	// that. A persistent one's is that of when it was made.
	Noted *SendqEntry
	// IsPosted is true of a receive in a list of those that nothing has matched.
	IsPosted bool
}

// IsTaken tells a message that MPI_Mprobe has taken. From 4.1 its kind has one more before it.
func (r *Operation) IsTaken() bool {
	if r.Enqueue != 0 {
		return r.Kind == kindMprobe+1
	}
	return r.Kind == kindMprobe
}

// IsCollective tells the request of a non-blocking or persistent collective.
func (r *Operation) IsCollective() bool {
	kind := r.otherKind()
	return kind == otherKinds[kindCollective] || kind == otherKinds[kindPersistentCollective]
}

// IsComplete is what MPI_Test would find.
func (r *Operation) IsComplete() bool { return r.Pending == 0 }

// IsCancelled is known of complete requests.
func (r *Operation) IsCancelled() bool { return r.CountHi&1 != 0 }

// Bytes is the count of the request's status, whose lowest bit of the higher
// half says whether it was cancelled.
func (r *Operation) Bytes() int64 { return int64(r.CountHi>>1)<<32 | int64(r.CountLo) }

// user is the request that the program has: the persistent one, if it is one's.
func (r *Operation) user() *Operation {
	if r.Owner != nil {
		return r.Owner
	}
	return r
}

// requests are the requests of the process that stand for operations, and the
// device's lists of those that are not matched.
type requests struct {
	byAddr map[inferior.Ptr[Request]]*Operation

	sends, receives, taken []*Operation // in the order of the pools
	partitioned            []*Operation // the same
	collectives            []*Operation // the same, persistent ones and what these have started included
	posted                 []*Operation // unmatched receives, in the order of matching
	unexpected             []*Operation // in the order of matching
	toSelf                 []*Operation // unmatched sends on communicators of one process, the same

	// freed are the communicators that are no more, but on which something is under way.
	freed []*Communicator
	// unattributed counts the pending sends of which it is not known what communicator they are on.
	unattributed int

	// What was read stands above even if the rest of it can't be.
	err, postedErr, unexpectedErr, strayErr error
}

// readRequests reads all requests.
func (s *Source) readRequests() *requests {
	comms := s.communicators()
	q := &requests{byAddr: map[inferior.Ptr[Request]]*Operation{}}
	s.lib.readSendq()
	order, err := s.lib.poolRequests(q.byAddr)
	q.err = err
	q.posted, q.postedErr = q.listed(s.lib, s.device.Posted)
	q.unexpected, q.unexpectedErr = q.listed(s.lib, s.device.Unexpected)
	isUnexpected := map[*Operation]bool{}
	for _, r := range q.unexpected {
		isUnexpected[r] = true
	}
	var freed []*Communicator
	q.posted, freed = s.device.Join(q.byAddr, comms.all, q.posted)
	q.freed = freed
	for _, r := range q.posted {
		r.IsPosted = true
	}
	order = append(order, q.linkPersistent(s.lib, order)...)
	for _, c := range freed {
		comms.byID[c.Model.UniqueID] = c
	}
	known := slices.Concat(comms.all, freed)
	for _, r := range order {
		switch {
		case isUnexpected[r] || s.device.IsPartner(r):
		case r.Kind == KindSend:
			q.attribute(r, &s.lib.Sendq, known)
			q.sends = append(q.sends, r)
		case r.Kind == KindRecv:
			q.receives = append(q.receives, r)
		case r.IsTaken():
			q.taken = append(q.taken, r)
		case isPartitioned(r):
			q.partitioned = append(q.partitioned, r)
		case r.IsCollective():
			q.collectives = append(q.collectives, r)
		}
	}
	q.orderToSelf(s)
	switch n := q.strays(); {
	case n == 1:
		q.strayErr = errors.New("a request without a communicator stands in no list of the library's")
	case n > 1:
		q.strayErr = fmt.Errorf("%d requests without a communicator stand in no list of the library's", n)
	}
	return q
}

// strays counts receives that are under way and were made for no communicator: those of unexpected messages. One that is
// in no list shows that what was read is not the list.
func (q *requests) strays() int {
	n := 0
	for _, r := range q.receives {
		if r.Comm == 0 && !r.IsPosted && !r.IsComplete() && r.Owner == nil {
			n++
		}
	}
	return n
}

// linkPersistent tells requests which persistent ones have started them, and returns those of the library's that
// stand for operations which were complete from the start.
func (q *requests) linkPersistent(l *Library, all []*Operation) (complete []*Operation) {
	for _, r := range all {
		if real := q.byAddr[r.Started]; r.Kind == kindPersistentCollective && real != nil {
			real.Owner = r
		}
		if r.Kind != kindPersistentSend && r.Kind != kindPersistentRecv || r.Real == 0 {
			continue
		}
		real := q.byAddr[r.Real]
		if real == nil {
			read, err := l.c.Request.Read(l.Reader, r.Real)
			if err != nil {
				continue
			}
			real = &Operation{At: r.Real, Request: read}
			real.Comm, real.Kind = r.Comm, r.Kind-kindPersistentSend+KindSend
			complete = append(complete, real)
		}
		real.Owner = r
		if real.Comm == 0 {
			real.Comm = r.Comm
		}
	}
	return complete
}

// attribute finds the communicator of a send that a netmod has: such a request
// has none.
func (q *requests) attribute(r *Operation, noted *Sendq, comms []*Communicator) {
	if r.Comm == 0 && r.Noted != nil {
		r.Comm = noted.commOf(r.Noted, comms)
	}
	if r.Comm == 0 && !r.IsComplete() {
		q.unattributed++
	}
}

// orderToSelf puts the sends of communicators of one process that no receive has matched behind the
// others, in the order of matching where the library's list of them can be read.
func (q *requests) orderToSelf(s *Source) {
	head, ok := s.device.SentToSelf()
	if !ok {
		return
	}
	list, err := q.listed(s.lib, func() ([]inferior.Ptr[Request], error) { return []inferior.Ptr[Request]{head}, nil })
	if err != nil {
		return // then their order is not known, which a note says
	}
	place := map[*Operation]int{}
	for i, r := range list {
		place[r] = i + 1
	}
	slices.SortStableFunc(q.sends, func(a, b *Operation) int { return cmp.Compare(place[a], place[b]) })
	q.toSelf = list
}

// poolRequests reads the requests that are in use, of all pools, into all, and returns them in the order of
// the pools.
func (l *Library) poolRequests(all map[inferior.Ptr[Request]]*Operation) ([]*Operation, error) {
	var order []*Operation
	heads := inferior.Ptr[pool](l.Symbols[SymRequestPools].Addr)
	if err := l.Reader.Prefetch([]inferior.Range{inferior.RangeOf(&l.c.Pool, heads, requestPools)}); err != nil {
		return nil, err
	}
	for i := range requestPools {
		p, err := readPool(l, inferior.At(&l.c.Pool, heads, i), fmt.Sprintf("%s[%d]", SymRequestPools, i), &l.c.Request)
		if err != nil {
			return order, err
		}
		err = p.eachUsed(func(a inferior.Ptr[Request]) error {
			r, err := l.c.Request.Read(l.Reader, a)
			if all[a] != nil {
				return fmt.Errorf("the request at %s is in two pools", a)
			}
			if err == nil && r.RefCount > 0 {
				op := &Operation{At: a, Request: r, Noted: l.Sendq.of(a, &r)}
				all[a] = op
				order = append(order, op)
			}
			return err
		})
		if err != nil {
			return order, err
		}
	}
	return order, nil
}

// listed reads lists of requests that are linked by their member next.
func (q *requests) listed(l *Library, heads func() ([]inferior.Ptr[Request], error)) ([]*Operation, error) {
	var out []*Operation
	first, err := heads()
	if err != nil {
		return nil, err
	}
	seen := map[inferior.Ptr[Request]]bool{}
	for _, a := range first {
		var r Request
		next := func(a inferior.Ptr[Request]) (inferior.Ptr[Request], error) {
			var err error
			r, err = l.c.Request.Read(l.Reader, a)
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
			op := q.byAddr[a]
			if op == nil {
				if r.RefCount <= 0 {
					return out, fmt.Errorf("the list leads to a request at %s that is not in use", a)
				}
				op = &Operation{At: a, Request: r}
				q.byAddr[a] = op
			}
			out = append(out, op)
		}
	}
	return out, nil
}

// ofComm picks the requests on a communicator.
func ofComm(list []*Operation, c *Communicator) []*Operation {
	var out []*Operation
	for _, r := range list {
		if r.Comm == c.At {
			out = append(out, r)
		}
	}
	return out
}
