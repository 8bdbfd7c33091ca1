package waitfor

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// polls lets the rank ask for a receive, in a loop at a line.
func (r *madeRank) polls(call string, line int, tag int32) *mqs.Thread {
	t := r.thread(call, line, r.irecv(worldID, 1-r.me, tag))
	t.Number = 1
	return t
}

// probes lets the rank ask for a message in a loop.
func (r *madeRank) probes(tag int32) *mqs.Thread {
	t := r.thread("MPI_Iprobe", 20)
	t.Comm, t.Source, t.Tag = mqs.Known(worldID), mqs.Known(1-r.me), mqs.Known(tag)
	return t
}

// leaves lets the rank be outside of its call, at another line of the same function or in another one.
func (r *madeRank) leaves(function string, does mqs.Activity) {
	r.Threads = nil
	t := r.thread("", 22)
	t.Function, t.Activity = function, does
}

// polled is a job of two ranks as two looks see it: rank 1 waits for rank 0.
func polled(then, now func(r *madeRank)) (*mqs.Snapshot, Past) {
	job := func(f func(r *madeRank)) *mqs.Snapshot {
		m := newMade(2)
		for i, p := range m.Processes {
			p.PID, p.ThreadMultiple = 100+i, mqs.Known(false)
		}
		m.rank(1).recv(worldID, 0, 7)
		f(m.rank(0))
		return m.Snapshot
	}
	p := past(job(then), 0, 1)
	p.Again = true
	return job(now), p
}

// A rank that asks over and over for what can't come is deadlocked unless it leaves its loop. It is not said to be
// where it did something else meanwhile, or what it asks about is not known, or may come.
func TestPolling(t *testing.T) {
	asks := func(r *madeRank) { r.polls("MPI_Test", 20, 7) }
	asksAny := func(r *madeRank) { r.polls("MPI_Request_get_status_any", 20, 7) }
	for name, c := range map[string]struct {
		then, now func(r *madeRank)
		want      Verdict
		miss      string
	}{
		"a receive":       {asks, asks, DeadlockedUnlessPollingEnds, ""},
		"two of any":      {func(r *madeRank) { r.twice() }, func(r *madeRank) { r.twice() }, DeadlockedUnlessPollingEnds, ""},
		"a status of any": {asksAny, asksAny, DeadlockedUnlessPollingEnds, ""},
		"a message":       {func(r *madeRank) { r.probes(7) }, func(r *madeRank) { r.probes(7) }, DeadlockedUnlessPollingEnds, ""},
		"a message that has another tag": {func(r *madeRank) { r.probes(7) }, func(r *madeRank) {
			r.probes(7)
			r.of.rank(1).message(worldID, 0, 8)
		}, DeadlockedUnlessPollingEnds, "but the one that has come from rank 1 has tag 8"},
		"a message that has come": {func(r *madeRank) { r.probes(7) }, func(r *madeRank) {
			r.probes(7)
			r.of.rank(1).message(worldID, 0, 7)
		}, NoProgress, ""},
		"once only":                {func(r *madeRank) { r.leaves("main", mqs.Computes) }, asks, NoProgress, ""},
		"once, and the rest of it": {asks, func(r *madeRank) { r.leaves("main", mqs.Computes) }, NoProgress, ""},
		"elsewhere now":            {asks, func(r *madeRank) { r.leaves("work", mqs.Computes) }, NoProgress, ""},
		"of another function": {asks, func(r *madeRank) {
			asks(r)
			r.Threads[0].Function = "other"
		}, NoProgress, ""},
		"it has received since": {asks, func(r *madeRank) {
			asks(r)
			r.counts(worldID, 1, 0, 1)
			r.of.rank(1).counts(worldID, 0, 1, 0)
		}, NoDeadlock, ""},
		"not all of its requests are known": {asks, func(r *madeRank) {
			asks(r)
			r.Threads[0].AllRequests = false
		}, DeadlockedUnlessPollingEnds, ""}, // they were known at the look before
		"its requests are not known": {func(r *madeRank) { r.unknownRequests() }, func(r *madeRank) { r.unknownRequests() }, NoProgress, ""},
		"one of another kind":        {func(r *madeRank) { r.otherRequest() }, func(r *madeRank) { r.otherRequest() }, NoProgress, ""},
		"a window":                   {func(r *madeRank) { r.thread("MPI_Win_test", 20) }, func(r *madeRank) { r.thread("MPI_Win_test", 20) }, NoProgress, ""},
		"a window that is exposed":   {func(r *madeRank) { r.testsWindow() }, func(r *madeRank) { r.testsWindow() }, DeadlockedUnlessPollingEnds, ""},
	} {
		s, p := polled(c.then, c.now)
		r := AnalyseLive(s, p)
		if r.Verdict != c.want {
			t.Errorf("%s: %q, want %q: %s", name, r.Verdict, c.want, r.Why)
		}
		isHung := c.want == DeadlockedUnlessPollingEnds
		if isHung && (states(r) != "DD" || cycles(r) != "0-1: 0>1 1>0" || !r.Moving || !strings.Contains(r.Why, "Rank 0 polls in MPI_")) || !isHung && len(r.Deadlocks) > 0 {
			t.Errorf("%s: %s, %s: %s", name, states(r), cycles(r), r.Why)
		}
		if !strings.Contains(texts(r), c.miss) {
			t.Errorf("%s: the near misses are %s", name, texts(r))
		}
	}
	s, p := polled(asks, asks)
	if p.Ran[100] = false; AnalyseLive(s, p).Verdict != NoProgress {
		t.Error("a rank that has not run is said to poll in vain")
	}
	if r := Analyse(s); r.Verdict != Undecided {
		t.Errorf("one look says %q", r.Verdict)
	}
}

// twice asks for either of two receives.
func (r *madeRank) twice() {
	other := r.irecv(worldID, 1-r.me, 9)
	t := r.polls("MPI_Testany", 20, 7)
	t.Requests = append(t.Requests, other)
}

// testsWindow asks whether the other rank has ended its accesses.
func (r *madeRank) testsWindow() {
	r.of.window(leftID, "left")
	r.has(leftID, posted(mqs.Known[int32](0), 1-r.me))
	r.accesses(leftID, "MPI_Win_test")
}

func (r *madeRank) unknownRequests() {
	t := r.polls("MPI_Test", 20, 7)
	t.Requests, t.AllRequests = nil, false
}

func (r *madeRank) otherRequest() {
	t := r.polls("MPI_Testany", 20, 7)
	t.Requests = append(t.Requests, unlisted)
}

// Looks at which a thread is in its loop, but outside of its call, do not make the loop forgotten; that it has moved
// does, and that it is elsewhere.
func TestPollingIsRemembered(t *testing.T) {
	at := func(f func(r *madeRank)) *mqs.Process {
		s, _ := polled(f, f)
		return s.Processes[0]
	}
	asks := at(func(r *madeRank) { r.polls("MPI_Test", 20, 7) })
	sleeps := at(func(r *madeRank) { r.leaves("main", mqs.Sleeps) })
	works := at(func(r *madeRank) { r.leaves("work", mqs.Computes) })
	blocks := at(func(r *madeRank) { r.leaves("main", mqs.Blocks) })
	looks := func(all ...*mqs.Process) int {
		var polls []Poll
		for i, p := range all {
			var before *mqs.Process
			if i > 0 {
				before = all[i-1]
			}
			polls = Polling(p, before, polls)
		}
		if len(polls) == 0 {
			return 0
		}
		return polls[0].Looks
	}
	for name, c := range map[string]struct {
		all  []*mqs.Process
		want int
	}{
		"in its call":  {[]*mqs.Process{asks, asks, asks}, 3},
		"between":      {[]*mqs.Process{asks, sleeps, asks, sleeps}, 2},
		"elsewhere":    {[]*mqs.Process{asks, asks, works}, 0},
		"and again":    {[]*mqs.Process{asks, works, asks}, 1},
		"held outside": {[]*mqs.Process{asks, blocks}, 0},
	} {
		if got := looks(c.all...); got != c.want {
			t.Errorf("%s: %d looks, want %d", name, got, c.want)
		}
	}
}

// Calls that ask whether something has come, and return at once.
func TestIsPoll(t *testing.T) {
	for call, want := range map[string][2]bool{ // a poll, and one for a message
		"MPI_Test": {true}, "MPI_Testall": {true}, "MPI_Testsome": {true}, "MPI_Test_cancelled": {}, "MPI_Iprobe": {true, true}, "MPI_Improbe": {true, true}, "MPI_Probe": {}, "MPI_Mprobe": {},
		"MPI_Request_get_status": {true}, "MPI_Request_get_status_all": {true}, "MPI_Request_free": {}, "MPI_Parrived": {true}, "MPI_Pready": {}, "MPI_Win_test": {true}, "MPI_Win_wait": {}, "MPI_Wait": {}, "": {},
	} {
		if got := [2]bool{isPoll(call), isProbeCall(call)}; got != want {
			t.Errorf("%s: %t, want %t", call, got, want)
		}
	}
}

// A thread polls in a loop if it was met in its polls often enough, all of them together.
func TestLoopsOf(t *testing.T) {
	of := func(number, line, looks int) Poll {
		return Poll{mqs.Thread{Number: number, Call: "MPI_Test", Line: line}, looks}
	}
	for name, c := range map[string]struct {
		polls []Poll
		want  []int // lines
	}{
		"none": {nil, nil}, "once": {[]Poll{of(1, 10, leastPolls-1)}, nil}, "often": {[]Poll{of(1, 10, leastPolls)}, []int{10}}, "in turn": {[]Poll{of(1, 10, 1), of(1, 11, 1)}, []int{10, 11}},
		"each once": {[]Poll{of(1, 10, 1), of(2, 11, 1)}, nil}, "one of two": {[]Poll{of(1, 10, 1), of(2, 11, 3)}, []int{11}},
	} {
		var lines []int
		for _, loop := range loopsOf(c.polls) {
			lines = append(lines, loop.Line)
			if !loop.Polls {
				t.Errorf("%s: %+v does not poll", name, loop)
			}
		}
		if !slices.Equal(lines, c.want) {
			t.Errorf("%s: %v, want %v", name, lines, c.want)
		}
	}
}
