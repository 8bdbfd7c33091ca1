package mpich

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// envelope is what a library with debugger support remembers of a send.
type envelope struct {
	at        inferior.Addr
	rank, tag int32
	context   uint32
	age       int // 0 for the newest
}

// Debugger support keeps lists for debuggers, of which only that of sends says
// what the requests do not: 4.0 has no other. It is the newest first, and the
// order of sends is known from it alone.
//
// 4.0 notes the non-blocking sends of the program and no others; 4.1 and later
// note all, the collective operations' among them.

// readDebugQueues reads the queue of sends, if there is one.
func (s *source) readDebugQueues() {
	s.noted = map[inferior.Addr]*envelope{}
	head, ok := s.symbols[symSendq]
	if !ok {
		return
	}
	read := s.readSendq
	switch {
	case s.Debugq.Bound():
		read = s.readDebugq
	case s.Sendq.Bound():
		s.notesUserSends = true
	default:
		return
	}
	s.notesSends = true
	_, s.pointsAtNotes = s.layouts.Field(s.Request.Name(), "u.send.dbg_next")
	if !s.pointsAtNotes {
		_, s.pointsAtNotes = s.layouts.Field(s.Request.Name(), "send")
	}
	first, err := s.r.Pointers(head.Addr, 1)
	if err != nil {
		s.notef("the debugger's queue of sends can't be read: %v", err)
		return
	}
	var entry envelope
	var request inferior.Addr
	next := func(a inferior.Addr) (inferior.Addr, error) {
		e, at, after, err := read(a)
		entry, request = e, at
		entry.at = a
		return after, err
	}
	for _, err := range inferior.Walk(first[0], 0, maxObjects, next) {
		if err != nil {
			s.notef("the debugger's queue of sends can't be read to its end: %v", err)
			s.notesUserSends = false // so that what is missing is not taken for the library's own
			return
		}
		if _, again := s.noted[request]; !again {
			entry.age = len(s.noted)
			noted := entry
			s.noted[request] = &noted
		}
	}
}

// noteOf is what is noted of a request. A note may have outlived its request, whose place another
// one has then: MPICH forgets none of a persistent request. A request points at its own.
func (s *source) noteOf(at inferior.Addr, r *request) *envelope {
	e := s.noted[at]
	if e == nil || r.Kind == kindSend && s.pointsAtNotes && r.SendNote != e.at {
		return nil
	}
	return e
}

func (s *source) readSendq(a inferior.Addr) (envelope, inferior.Addr, inferior.Addr, error) {
	q, err := s.Sendq.ReadAt(s.r, a)
	return envelope{rank: q.Rank, tag: q.Tag, context: q.Context}, q.Request, q.Next, err
}

func (s *source) readDebugq(a inferior.Addr) (envelope, inferior.Addr, inferior.Addr, error) {
	q, err := s.Debugq.ReadAt(s.r, a)
	return envelope{rank: q.Rank, tag: q.Tag, context: q.Context}, q.Request, q.Next, err
}

// commOf finds the communicator of a send whose request does not name it: the
// one that has the noted context, which different ones can have.
func (s *source) commOf(e *envelope) inferior.Addr {
	var found inferior.Addr
	for a, c := range s.comms {
		context := c.RecvContext
		if s.Sendq.Bound() && !s.Debugq.Bound() {
			context = c.Context
		}
		if context != e.context || c.model.Internal {
			continue
		}
		if found != 0 {
			return 0
		}
		found = a
	}
	return found
}
