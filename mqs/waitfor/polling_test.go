package waitfor

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// polls lets the rank ask for a receive, in a loop at a line.
func (r *madeRank) polls(call string, line int, tag int32) *mqs.Thread {
	t := r.thread(call, line, r.irecv(worldID, 1-r.me, tag))
	t.Number = 1
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
