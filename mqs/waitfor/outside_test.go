package waitfor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// waitsForLock lets the rank have a thread that waits for the lock that another one holds.
func (r *madeRank) waitsForLock(holder int) {
	t := r.thread("", 30)
	t.Activity, t.Holder = mqs.Locks, mqs.Known(holder)
}

// A thread that waits for another one of its rank releases nobody; one that waits for something else may.
func TestOutside(t *testing.T) {
	both := func(beside func(r *madeRank)) func(m *made) {
		return func(m *made) {
			m.each(func(r *madeRank) {
				r.ThreadMultiple = mqs.Known(true)
				r.recv(worldID, 1-r.me, 7)
				beside(r)
			}, 0, 1)
		}
	}
	does := func(a mqs.Activity) func(r *madeRank) {
		return func(r *madeRank) {
			t := r.thread("", 30)
			t.Activity, t.BlockedIn = a, "x"
		}
	}
	alone := func(f func(r *madeRank)) func(m *made) {
		return func(m *made) {
			f(m.rank(0))
			m.rank(1).recv(worldID, 0, 7)
		}
	}
	check(t, []verdictCase{
		{name: "the lock of a thread that hangs", ranks: 2, make: both(func(r *madeRank) { r.waitsForLock(1) }), verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "the lock of a thread that computes", ranks: 2, make: both(func(r *madeRank) { r.waitsForLock(3); r.computes() }), verdict: Undecided, states: "RR"},
		{name: "the lock of a thread that waits for a GPU", ranks: 2, make: both(func(r *madeRank) { r.waitsForLock(3); r.thread("", 31).Activity = mqs.UsesGPU }), verdict: Unknown, states: "NN", why: "thread 3 waits for a GPU"},
		{name: "the lock of a thread that is not listed", ranks: 2, make: both(func(r *madeRank) { r.waitsForLock(9) }), verdict: Unknown, states: "NN", why: "thread 2 waits for a lock"},
		{name: "a lock of nobody known", ranks: 2, make: both(does(mqs.Locks)), verdict: Unknown, states: "NN", why: "waits for a lock (x) in a.c:30"},
		{name: "the end of a thread that is not listed", ranks: 2, make: both(func(r *madeRank) {
			does(mqs.Joins)(r)
			r.Threads[1].Joined = mqs.Known(9)
		}), verdict: Unknown, states: "NN"},
		{name: "a team", ranks: 2, make: both(does(mqs.Teams)), verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "a file", ranks: 2, make: both(does(mqs.UsesFile)), verdict: Unknown, states: "NN", why: "waits for a file (x)"},
		{name: "the kernel", ranks: 2, make: both(does(mqs.InKernel)), verdict: Unknown, states: "NN", why: "is in the kernel (x)"},
		{name: "a GPU inside the call", ranks: 2, make: both(func(r *madeRank) { r.Threads[0].Activity = mqs.UsesGPU }), verdict: Unknown, states: "WW", why: gpuUnknown},
		{name: "two threads with each other's lock", ranks: 2, make: alone(func(r *madeRank) { r.waitsForLock(2); r.waitsForLock(1) }), verdict: Deadlocked, states: "DS", cycles: "0: 0>0",
			why: "The threads of rank 0 wait for each other, outside of MPI. Rank 1 waits for them"},
		{name: "a lock of its own", ranks: 2, make: alone(func(r *madeRank) { r.waitsForLock(1) }), verdict: Deadlocked, states: "DS", cycles: "0: 0>0", why: "The thread of rank 0 waits for itself"},
		{name: "two, and one that computes", ranks: 2, make: alone(func(r *madeRank) { r.waitsForLock(2); r.waitsForLock(1); r.computes() }), verdict: Undecided, states: "RW"},
		{name: "all of a team", ranks: 2, make: alone(func(r *madeRank) {
			r.thread("", 30).Activity = mqs.Teams
			r.thread("", 31).Activity = mqs.Teams
		}), verdict: Unknown, states: "NW", why: "thread 1 waits for its OpenMP team"},
		{name: "a rank outside of MPI", ranks: 2, make: alone(does(mqs.UsesGPU)), verdict: Unknown, states: "BW", why: "too little is known: thread 1 waits for a GPU (x)"},
		{name: "a loop that the kernel has stopped for a page", ranks: 2, make: alone(func(r *madeRank) {
			r.computes()
			r.State = mqs.Uninterruptible
		}), verdict: Unknown, states: "BW", why: "thread 1 is in the kernel"},
	})
}

// Where a rank waits outside of MPI is said in its group, alike for ranks with pipes of their own.
func TestOutsideWords(t *testing.T) {
	m := newMade(2)
	m.each(func(r *madeRank) {
		th := r.thread("", 12)
		th.Activity, th.BlockedIn, th.BlockedOn = mqs.Blocks, "read", fmt.Sprintf("pipe:[%d]", r.me)
	}, 0, 1)
	r := Analyse(m.Snapshot)
	if len(r.Groups) != 1 || r.Groups[0].State != BlockedOutside || r.Groups[0].Text != "in main at a.c:12, where it waits for something else (read on a pipe)" {
		t.Errorf("%+v", r.Groups)
	}
}

// A thread that waits for a lock now and did something else before may have sent a message in between.
func TestLockSince(t *testing.T) {
	job := func(activity mqs.Activity) *made {
		m := newMade(2)
		for i, p := range m.Processes {
			p.PID, p.Progress, p.ThreadMultiple = 100+i, mqs.Known[uint64](3), mqs.Known(true)
		}
		m.each(func(r *madeRank) {
			r.recv(worldID, 1-r.me, 7)
			r.waitsForLock(1)
			r.Threads[1].Activity = activity
			r.uncounted()
		}, 0, 1)
		return m
	}
	for before, want := range map[mqs.Activity]Verdict{mqs.Locks: Deadlocked, mqs.Computes: DeadlockedUnless} {
		r := AnalyseLive(job(mqs.Locks).Snapshot, past(job(before).Snapshot, 0, 1))
		if r.Verdict != want {
			t.Errorf("it %q before: %q, want %q: %s", before, r.Verdict, want, r.Why)
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), "Thread 2 of rank 0, at a.c:30, waits for the lock that thread 1 holds, which is in MPI_Recv (a.c:10).") {
			t.Errorf("the notes are %q", r.Notes)
		}
	}
}
