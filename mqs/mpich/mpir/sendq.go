package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// SendqEntry is what a library with debugger support remembers of a send.
type SendqEntry struct {
	Rank, Tag int32

	at      inferior.Ptr[sendqItem]
	context uint32
	age     int // 0 for the newest
}

// Sendq is the debugger's queue of sends. Debugger support keeps lists for debuggers, of which
// only that of sends says what the requests do not: 4.0 has no other. It is the newest first,
// and the order of sends is known from it alone.
type Sendq struct {
	// IsKept is true if the library keeps one.
	IsKept bool
	// IsUsers is true if it has the non-blocking sends of the program and no others, as in
	// 4.0. From 4.1 on it has all sends, those of collective operations among them.
	IsUsers bool

	entries map[inferior.Ptr[Request]]*SendqEntry
	// A request points at its own entry, so that one that has outlived its request is known.
	isPointedAt bool
	// The context of an entry is the one that its communicator sends with, not that which it receives with.
	hasSendContext bool
}

// readSendq reads the queue, if there is one.
func (l *Library) readSendq() {
	head, ok := l.Symbols[symSendq]
	if !ok {
		return
	}
	q := &l.Sendq
	q.entries = map[inferior.Ptr[Request]]*SendqEntry{}
	_, q.isPointedAt = inferior.OffsetOf(&l.c.Request, func(r *Request) *inferior.Ptr[sendqItem] { return &r.Sendq })
	switch {
	case l.c.Debugq.Bound():
		q.IsKept = true
		readEntries(l, head.Addr, func(a inferior.Ptr[debugq]) (SendqEntry, inferior.Ptr[Request], inferior.Ptr[debugq], error) {
			e, err := l.c.Debugq.Read(l.Reader, a)
			return SendqEntry{Rank: e.Rank, Tag: e.Tag, context: e.Context}, e.Request, e.Next, err
		})
	case l.c.Sendq.Bound():
		q.IsKept, q.IsUsers, q.hasSendContext = true, true, true
		readEntries(l, head.Addr, func(a inferior.Ptr[sendq]) (SendqEntry, inferior.Ptr[Request], inferior.Ptr[sendq], error) {
			e, err := l.c.Sendq.Read(l.Reader, a)
			return SendqEntry{Rank: e.Rank, Tag: e.Tag, context: e.Context}, e.Request, e.Next, err
		})
	}
}

// readEntries reads the entries of the queue that the pointer at head leads to. read returns an entry, the
// request that it is of and the next one.
func readEntries[T any](l *Library, head inferior.Addr, read func(inferior.Ptr[T]) (SendqEntry, inferior.Ptr[Request], inferior.Ptr[T], error)) {
	first, err := inferior.ReadPointers(l.Reader, inferior.Ptr[inferior.Ptr[T]](head), 1)
	if err != nil {
		l.Remarks.Notef("the debugger's queue of sends can't be read: %v", err)
		return
	}
	var entry SendqEntry
	var request inferior.Ptr[Request]
	next := func(a inferior.Ptr[T]) (inferior.Ptr[T], error) {
		e, of, after, err := read(a)
		entry, request = e, of
		entry.at = inferior.Ptr[sendqItem](a)
		return after, err
	}
	for _, err := range inferior.Walk(first[0], 0, maxObjects, next) {
		if err != nil {
			l.Remarks.Notef("the debugger's queue of sends can't be read to its end: %v", err)
			l.Sendq.IsUsers = false // so that what is missing is not taken for the library's own
			return
		}
		if _, again := l.Sendq.entries[request]; !again {
			entry.age = len(l.Sendq.entries)
			kept := entry
			l.Sendq.entries[request] = &kept
		}
	}
}

// of is the entry of a request, nil if it has none. An entry may have outlived its request, whose place another
// one has then: MPICH forgets none of a persistent request. A request points at its own.
func (q *Sendq) of(at inferior.Ptr[Request], r *Request) *SendqEntry {
	e := q.entries[at]
	if e == nil || r.Kind == KindSend && q.isPointedAt && r.Sendq != e.at {
		return nil
	}
	return e
}

// commOf finds the communicator of a send whose request does not name it: the
// one that has the entry's context, which different ones can have; 0 if it is not the only one.
func (q *Sendq) commOf(e *SendqEntry, comms []*Communicator) inferior.Ptr[Comm] {
	var found inferior.Ptr[Comm]
	for _, c := range comms {
		context := c.RecvContext
		if q.hasSendContext {
			context = c.Context
		}
		if context != e.context || c.Model.Internal {
			continue
		}
		if found != 0 {
			return 0
		}
		found = c.At
	}
	return found
}
