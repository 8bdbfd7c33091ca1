package mpir

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// firstNonBlocking is the tag that the first non-blocking collective on a communicator gets. The others count up
// from it up to MPI_TAG_UB, and begin again (MPIR_FIRST_NBC_TAG in src/include/mpir_tags.h and
// MPIDU_Sched_next_tag in src/mpid/common/sched/mpidu_sched.c, 4.0 to 5.0).
const firstNonBlocking = 287

const (
	maxSchedules = 1 << 20
	maxEntries   = 1 << 16 // of one schedule
)

// schedule is MPIDU_Sched, of which each non-blocking collective that is under way has one.
type schedule struct {
	Index   uint64                 `c:"idx"` // of the first entry that is not over
	Count   int32                  `c:"num_entries"`
	Tag     int32                  `c:"tag"`
	Request inferior.Ptr[Request]  `c:"req"`
	Entries inferior.Ptr[entry]    `c:"entries"`
	Next    inferior.Ptr[schedule] `c:"next"`
}

// entry is MPIDU_Sched_entry: a message, or something that the library does by itself.
type entry struct {
	Kind    uint32                `c:"type"`
	Status  uint32                `c:"status"`
	Send    inferior.Ptr[Request] `c:"u.send.sreq"`
	Receive inferior.Ptr[Request] `c:"u.recv.rreq"`
}

// Values of MPIDU_Sched_entry (src/mpid/common/sched/mpidu_sched.h).
const (
	entrySend      = 1
	entryRecv      = 2
	entryToSend    = 3 // with a tag of its own
	entryToRecv    = 4 // the same
	entryIsStarted = 1
)

// nonBlockingNumber is the number, from 1, of the collective that has a tag.
func nonBlockingNumber(tag int32) mqs.Maybe[int64] {
	if tag < firstNonBlocking {
		return mqs.Maybe[int64]{}
	}
	return mqs.Known(int64(tag) - firstNonBlocking + 1)
}

// CollectiveRequests are those of non-blocking and persistent collectives (read.Collector): first those that are under
// way, as the library lists them, then the others in the order of the pools; nil if they are not known.
func (s *Source) CollectiveRequests() []mqs.CollectiveRequest {
	q := s.requests()
	if q.err != nil || !s.lib.c.Schedule.Bound() || !s.lib.c.Entry.Bound() || !s.lib.tellsStarted() {
		return nil
	}
	first, isThere := s.lib.Symbols[symSchedules]
	if !isThere {
		return s.hiddenCollectives(q)
	}
	head, err := s.lib.Reader.Pointers(first.Addr, 1)
	var out []mqs.CollectiveRequest
	if err == nil {
		out, err = s.readCollectives(q, inferior.Ptr[schedule](head[0]))
	}
	if err != nil {
		s.lib.Remarks.Notef("requests of collectives are not known: %v", err)
		return nil
	}
	return out
}

// errGraph means that a collective is carried out by a graph of its messages (MPII_Genutil_sched_t), which is not read.
var errGraph = errors.New("some are carried out in a way that is not read")

// readCollectives reads those whose schedules are in a list, and the others: none of these may be under way.
func (s *Source) readCollectives(q *requests, first inferior.Ptr[schedule]) ([]mqs.CollectiveRequest, error) {
	out := []mqs.CollectiveRequest{}
	var last schedule
	next := func(a inferior.Ptr[schedule]) (inferior.Ptr[schedule], error) {
		var err error
		last, err = s.lib.c.Schedule.Read(s.lib.Reader, a)
		return last.Next, err
	}
	underWay := map[*Operation]bool{}
	for a, err := range inferior.Walk(first, 0, maxSchedules, next) {
		if err != nil {
			return nil, err
		}
		r := q.byAddr[last.Request]
		if r == nil || underWay[r] {
			return nil, fmt.Errorf("the schedule at %s is of no request of its own", a)
		}
		underWay[r] = true
		c := s.collective(r)
		if c.Sequence = nonBlockingNumber(last.Tag); c.Sequence.Known {
			c.Tag = mqs.Known(last.Tag)
		}
		if c.Messages, err = s.messagesOf(&last); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, r := range q.collectives {
		switch {
		case underWay[r] || r.Owner != nil || r.Kind == kindPersistentCollective && underWay[s.started(r)]:
		case s.lib.isInactive(r) || s.started(r).IsComplete():
			out = append(out, s.collective(r))
		default:
			return nil, errGraph
		}
	}
	return out, nil
}

// messagesOf are the requests of the messages of a schedule that are under way.
func (s *Source) messagesOf(of *schedule) ([]inferior.Addr, error) {
	out := []inferior.Addr{}
	if of.Count < 0 || of.Count > maxEntries || of.Index > uint64(of.Count) {
		return nil, fmt.Errorf("a schedule is at entry %d of %d", of.Index, of.Count)
	}
	first, n := inferior.At(&s.lib.c.Entry, of.Entries, int(of.Index)), int(of.Count)-int(of.Index)
	if err := s.lib.Reader.Prefetch([]inferior.Range{inferior.RangeOf(&s.lib.c.Entry, first, n)}); err != nil {
		return nil, err
	}
	for i := range n {
		e, err := s.lib.c.Entry.Read(s.lib.Reader, inferior.At(&s.lib.c.Entry, first, i))
		if err != nil {
			return nil, err
		}
		if e.Status != entryIsStarted {
			continue
		}
		switch e.Kind {
		case entrySend, entryToSend:
			out = append(out, e.Send.Addr())
		case entryRecv, entryToRecv:
			out = append(out, e.Receive.Addr())
		}
	}
	return out, nil
}

// tellsStarted says whether it is known which persistent collectives are started.
func (l *Library) tellsStarted() bool {
	return hasMember(&l.c.Request, func(r *Request) *inferior.Ptr[Request] { return &r.Started })
}

// isInactive says whether a request is that of a persistent collective that is known not to be started. One that never
// was does not count as complete.
func (l *Library) isInactive(r *Operation) bool {
	return r.Kind == kindPersistentCollective && r.Started == 0 && l.tellsStarted()
}

// collective describes the request of a collective, but for its number.
func (s *Source) collective(r *Operation) mqs.CollectiveRequest {
	of := r.user()
	out := mqs.CollectiveRequest{Request: of.At.Addr(), Status: mqs.Pending, Persistent: of.Kind == kindPersistentCollective}
	if c := s.communicators().byID[r.Comm.Addr()]; c != nil && r.Comm != 0 {
		out.Comm = mqs.Known(c.Model.UniqueID)
	}
	switch {
	case s.lib.isInactive(of):
		out.Status = mqs.Inactive
	case s.started(r).IsComplete():
		out.Status = mqs.Complete
	}
	return out
}
