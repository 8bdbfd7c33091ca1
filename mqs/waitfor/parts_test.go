package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A message matches a posted receive of its source and tag, of any of either, or of both.
func TestPostedReceivesMatch(t *testing.T) {
	message := envelope{channel: 4, dest: 1, source: 2, tag: 7}
	with := func(source, tag int32) envelope { return envelope{channel: 4, dest: 1, source: source, tag: tag} }
	for name, c := range map[string]struct {
		receive envelope
		want    bool
	}{
		"exactly":         {message, true},
		"any source":      {with(mqs.AnyRank, 7), true},
		"any tag":         {with(2, anyTag), true},
		"any of both":     {with(mqs.AnyRank, anyTag), true},
		"another source":  {with(3, 7), false},
		"another tag":     {with(2, 8), false},
		"another channel": {envelope{channel: 5, dest: 1, source: 2, tag: 7}, false},
		"another process": {envelope{channel: 4, dest: 0, source: 2, tag: 7}, false},
	} {
		if got := (postedReceives{c.receive: 1}).match(message); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		if (postedReceives{c.receive: 0}).match(message) {
			t.Errorf("%s, which has matched: true", name)
		}
	}
	if (postedReceives{}).match(message) {
		t.Error("none: true")
	}
}

// The operations of requests are those of a call only if each request has just one.
func TestOperationsOfRequests(t *testing.T) {
	queued := func(class mqs.OpClass, requests ...inferior.Addr) *member {
		q := &mqs.Queues{Queue: [3]*mqs.Queue{{}, {}, {}}}
		for _, a := range requests {
			q.Queue[class].Operations = append(q.Queue[class].Operations, mqs.PendingOperation{Request: mqs.Known(a)})
		}
		return &member{Queues: q}
	}
	for name, c := range map[string]struct {
		members []*member
		n       int
		isWhole bool
	}{
		"each has one":            {[]*member{queued(mqs.PendingSends, 1), queued(mqs.PendingReceives, 2, 9)}, 2, true},
		"one is missing":          {[]*member{queued(mqs.PendingSends, 1, 8)}, 1, false},
		"the first has two":       {[]*member{queued(mqs.PendingSends, 1), queued(mqs.PendingReceives, 1, 2)}, 3, false},
		"the first two have two":  {[]*member{queued(mqs.PendingSends, 1, 1), queued(mqs.PendingReceives, 2)}, 3, false},
		"the last has two":        {[]*member{queued(mqs.PendingSends, 1, 2), queued(mqs.PendingReceives, 2)}, 3, false},
		"one has two, then a one": {[]*member{queued(mqs.PendingSends, 2, 2), queued(mqs.PendingReceives, 1)}, 3, false},
	} {
		r := &rank{members: c.members}
		if got, isWhole := r.operations([]inferior.Addr{1, 2}); len(got) != c.n || isWhole != c.isWhole {
			t.Errorf("%s: %d operations, all of them: %t", name, len(got), isWhole)
		}
	}
}

// A thread is at its line, or in its file, or in its function, as far as that is known.
func TestWhereThreadIs(t *testing.T) {
	for want, thread := range map[string]mqs.Thread{
		"ring.c:42":         {File: "/home/ann/ring.c", Line: 42, Function: "main"},
		"ring.c":            {File: "/home/ann/ring.c", Function: "main"},
		"main":              {Function: "main", Line: 42},
		"":                  {Line: 42},
		"close from io.c:7": {File: "/home/ann/io.c", Line: 7, Function: "save", Callers: []mqs.Caller{{Function: "close", Object: "/lib/libio.so"}, {Function: "save", File: "/home/ann/io.c", Line: 7}}},
	} {
		if got := at(&thread); got != want {
			t.Errorf("%+v is at %q, not %q", thread, got, want)
		}
	}
}

// A rank that can move is in its function, whose place is in parentheses if it is another word.
func TestDoing(t *testing.T) {
	for want, thread := range map[string]mqs.Thread{
		"is now in MPI_Recv (ring.c:42)":        {Call: "MPI_Recv", File: "ring.c", Line: 42, Function: "main"},
		"computes in main (ring.c:42)":          {Activity: mqs.Computes, File: "ring.c", Line: 42, Function: "main"},
		"computes in main":                      {Activity: mqs.Computes, Function: "main"},
		"computes in ring.c:42":                 {Activity: mqs.Computes, File: "ring.c", Line: 42},
		"computes in a place that is not known": {Activity: mqs.Computes},
	} {
		thread.Placed = true
		r := &rank{process: &mqs.Process{Threads: []mqs.Thread{thread}}, mobility: mobile}
		if got := r.doing().words([]int32{1}); got != want {
			t.Errorf("%+v: %q, not %q", thread, got, want)
		}
	}
}

// A process is known to wait still only if something is counted at both looks, and its threads are placed.
func TestStillWaits(t *testing.T) {
	look := func(change func(p *mqs.Process)) *mqs.Process {
		p := &mqs.Process{Progress: mqs.Known(uint64(3)), Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv"}}}
		change(p)
		return p
	}
	same := func(*mqs.Process) {}
	uncounted := func(p *mqs.Process) { p.Progress = mqs.Maybe[uint64]{} }
	traffic := func(p *mqs.Process) {
		uncounted(p)
		p.Communicators = []*mqs.Queues{{Traffic: []mqs.Traffic{}}}
	}
	unplaced := func(p *mqs.Process) { p.Threads = append(p.Threads, mqs.Thread{Number: 2}) }
	for name, c := range map[string]struct {
		now, before func(*mqs.Process)
		want        bool
	}{
		"counted":             {same, same, true},
		"messages counted":    {traffic, traffic, true},
		"not counted":         {uncounted, uncounted, false},
		"not counted now":     {uncounted, same, false},
		"not counted before":  {same, uncounted, false},
		"counted otherwise":   {traffic, same, false},
		"not placed now":      {unplaced, same, false},
		"not placed before":   {same, unplaced, false},
		"in no call":          {func(p *mqs.Process) { p.Threads[0].Call = "" }, same, false},
		"in no call any more": {func(p *mqs.Process) { p.Threads = nil }, same, false},
	} {
		if got := stillWaits(look(c.now), look(c.before)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The thread that says most: the first in a call that waits or, of a rank that can move, the first one that is at a known place
// and does not wait.
func TestThreadThatSaysMost(t *testing.T) {
	waits, polls, computes := mqs.Thread{Number: 2, Call: "MPI_Recv"}, mqs.Thread{Number: 3, Call: "MPI_Test"}, mqs.Thread{Number: 4, Function: "f"}
	inFile, nowhere := mqs.Thread{Number: 5, File: "a.c"}, mqs.Thread{Number: 1}
	for name, c := range map[string]struct {
		mobility mobility
		threads  []mqs.Thread
		want     int
	}{
		"one that waits":                 {waiting, []mqs.Thread{nowhere, polls, waits}, 2},
		"none that waits":                {waiting, []mqs.Thread{nowhere, polls}, 1},
		"one that polls":                 {mobile, []mqs.Thread{nowhere, waits, polls, computes}, 3},
		"one that computes":              {mobile, []mqs.Thread{nowhere, waits, computes, polls}, 4},
		"one of which the file is known": {mobile, []mqs.Thread{nowhere, waits, inFile, computes}, 5},
		"none of which anything is":      {mobile, []mqs.Thread{nowhere, waits}, 1},
	} {
		r := &rank{process: &mqs.Process{Threads: c.threads}, mobility: c.mobility}
		if got := r.thread(); got.Number != c.want {
			t.Errorf("%s: thread %d, want %d", name, got.Number, c.want)
		}
	}
	if (&rank{}).thread() != nil || (&rank{process: &mqs.Process{}}).thread() != nil {
		t.Error("there is a thread where none is")
	}
}
