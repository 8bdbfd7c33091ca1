package waitfor

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const (
	leftID, rightID = inferior.Addr(0x300), inferior.Addr(0x400) // communicators, and handles of their windows
	someWin         = inferior.Addr(0)
)

// window lets all ranks have a window.
func (m *made) window(id inferior.Addr, name string) {
	var all []int32
	for i := range m.Processes {
		all = append(all, int32(i))
	}
	m.comm(id, name, all...)
	for i, p := range m.Processes {
		p.Communicators[len(p.Communicators)-1].Window = mqs.Known(name)
		p.Windows = append(p.Windows, mqs.Window{Handle: id, Name: mqs.Known(name), Comm: mqs.Known(id), LocalRank: mqs.Known(int32(i)), Epochs: []mqs.Epoch{}})
	}
}

func (r *madeRank) win(id inferior.Addr) *mqs.Window {
	return &r.Windows[slices.IndexFunc(r.Windows, func(w mqs.Window) bool { return w.Handle == id })]
}

// has opens an epoch.
func (r *madeRank) has(id inferior.Addr, e mqs.Epoch) {
	w := r.win(id)
	w.Epochs = append(w.Epochs, e)
}

// accesses lets the rank be in a call on a window, someWin for one that is not known.
func (r *madeRank) accesses(id inferior.Addr, call string) *mqs.Thread {
	t := r.thread(call, 30)
	if id != someWin {
		t.Window = mqs.Known(id)
	}
	return t
}

// locks lets it be in MPI_Win_lock.
func (r *madeRank) locks(id inferior.Addr, target int32) {
	r.accesses(id, "MPI_Win_lock").Target = mqs.Known(target)
}

// held is a lock that a rank has.
func held(exclusive bool, ranks ...int32) mqs.Epoch {
	return mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: mqs.Known(exclusive), Ranks: ranks, Granted: mqs.Known(true)}
}

func started(ranks ...int32) mqs.Epoch {
	return mqs.Epoch{Kind: mqs.StartEpoch, Ranks: ranks, Granted: mqs.Known(true)}
}

func posted(completed mqs.Maybe[int32], ranks ...int32) mqs.Epoch {
	return mqs.Epoch{Kind: mqs.PostEpoch, Ranks: ranks, Completed: completed}
}

var allLocks = mqs.Epoch{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)}

// onWindows is a made-up job in which all ranks have two windows.
func onWindows(make func(m *made)) func(m *made) {
	return func(m *made) {
		m.window(leftID, "left")
		m.window(rightID, "right")
		make(m)
	}
}

func TestLocks(t *testing.T) {
	check(t, []verdictCase{
		{"never unlocked", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).locks(leftID, 0)
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"who has it computes", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).computes()
			m.rank(1).locks(leftID, 0)
		}), Undecided, "RW", "", "", ""},
		{"two windows", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(1).has(rightID, held(true, 0))
			m.rank(0).locks(rightID, 0)
			m.rank(1).locks(leftID, 0)
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"another window", 2, onWindows(func(m *made) {
			m.rank(0).has(rightID, held(true, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).locks(leftID, 0)
		}), Unknown, "WW", "", "Rank 1 waits in MPI_Win_lock (a.c:30): who has the lock can't be told", ""},
		{"another rank's memory", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).locks(leftID, 1)
		}), Unknown, "WW", "", "who has the lock can't be told", ""},
		{"whose memory is not known", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).accesses(leftID, "MPI_Win_lock")
		}), Unknown, "WW", "", "whose memory it wants to lock is not known", ""},
		{"whose memory is known of its rank", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).win(leftID).LockWaiters = []int32{1}
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).accesses(leftID, "MPI_Win_lock")
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"which window is not known", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).locks(someWin, 0)
		}), Unknown, "WW", "", "the window that it works on is not known", ""},
		{"shared, and it wants to share", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(false, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, held(false, 0))
			m.rank(1).locks(leftID, 0)
		}), Unknown, "WW", "", "who has the lock can't be told", ""},
		{"shared, and it wants it for itself", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(false, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, held(true, 0))
			m.rank(1).locks(leftID, 0)
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		// Who has only asked for it is no holder: rank 2 has it, and may unlock.
		{"one that waits too", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).locks(leftID, 0)
			m.rank(1).locks(leftID, 0)
			m.rank(2).has(leftID, held(true, 0))
			m.rank(2).computes()
		}), Undecided, "WWR", "", "", ""},
		{"one that is about to get it", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).locks(leftID, 0)
			m.rank(1).locks(leftID, 0)
		}), Unknown, "WW", "", "who has the lock can't be told", ""},
		{"one that has asked and gone on", 2, onWindows(func(m *made) {
			asked := held(true, 0)
			asked.Granted = mqs.Known(false)
			m.rank(0).has(leftID, asked)
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).locks(leftID, 0)
		}), Unknown, "WW", "", "who has the lock can't be told", ""},
		{"one that releases it", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).accesses(leftID, "MPI_Win_unlock").Target = mqs.Known[int32](0)
			m.rank(1).locks(leftID, 0)
		}), Undecided, "WW", "", "about to go on", ""},
		{"one that has another and releases one", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0, 1))
			m.rank(0).accesses(leftID, "MPI_Win_unlock").Target = mqs.Known[int32](1)
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).locks(leftID, 0)
		}), Undecided, "WW", "", "", ""},
		{"all are held", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, allLocks)
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, held(true, 1))
			m.rank(1).locks(leftID, 1)
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"all are wanted", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 1))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).accesses(leftID, "MPI_Win_lock_all")
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"all are wanted and shared", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(false, 1))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).accesses(leftID, "MPI_Win_lock_all")
		}), Unknown, "WW", "", "who has the lock can't be told", ""},
		{"all are asked for", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, allLocks)
			m.rank(0).accesses(leftID, "MPI_Win_lock_all")
			m.rank(1).has(leftID, held(true, 1))
			m.rank(1).locks(leftID, 1)
		}), Unknown, "WW", "", "Rank 0 waits in MPI_Win_lock_all (a.c:30): who has the lock can't be told", ""},
		{"some that are asked for late", 2, onWindows(func(m *made) {
			late := allLocks
			late.Granted = mqs.Maybe[bool]{}
			m.rank(0).has(leftID, late)
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, held(true, 1))
			m.rank(1).locks(leftID, 1)
		}), DeadlockedUnless, "DD", "0-1: 0>1 1>0", "", ""},
		// One of two: rank 1 can be about to get that of rank 0's memory.
		{"two entered, one in nobody's hands", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 1))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, held(true, 0, 1))
			m.rank(1).accesses(leftID, "MPI_Win_lock")
		}), Unknown, "WW", "", "whose memory it wants to lock is not known", ""},
		{"a rank that was not looked at", 3, onWindows(func(m *made) {
			m.rank(0).locks(leftID, 0)
			m.rank(1).recv(worldID, 0, 1)
			m.Processes = m.Processes[:2]
		}), Unknown, "WWU", "", "Rank 0 waits in MPI_Win_lock (a.c:30) for rank 2, of which too little is known: it is not among the processes that were looked at", ""},
		{"a rank whose windows are not known", 3, onWindows(func(m *made) {
			m.rank(0).locks(leftID, 0)
			m.rank(1).recv(worldID, 0, 1)
			m.rank(2).recv(worldID, 0, 1)
			m.rank(2).Windows = nil
		}), Unknown, "WWW", "", "who has the lock can't be told", ""},
		{"asked for before, and needed", 2, onWindows(func(m *made) {
			asked := held(true, 0)
			asked.Granted = mqs.Known(false)
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, asked)
			m.rank(1).accesses(leftID, "MPI_Win_flush")
		}), DeadlockedUnless, "DD", "0-1: 0>1 1>0", "", ""},
		{"the target of an access computes", 2, onWindows(func(m *made) {
			m.rank(0).computes()
			m.rank(1).has(leftID, held(true, 0))
			m.rank(1).accesses(leftID, "MPI_Win_flush").Target = mqs.Known[int32](0)
		}), Undecided, "RW", "", "", ""},
	})
}

func TestExposure(t *testing.T) {
	none := mqs.Maybe[int32]{}
	check(t, []verdictCase{
		{"another group", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(mqs.Known[int32](0), 1))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).has(leftID, started(2))
			m.rank(1).accesses(leftID, "MPI_Win_start")
			m.rank(2).recv(worldID, 0, 1)
		}), Deadlocked, "DDD", "0-2: 0>1 1>2 2>0", "", ""},
		{"both start", 2, onWindows(func(m *made) {
			m.each(func(r *madeRank) {
				r.has(leftID, started(1-r.me))
				r.accesses(leftID, "MPI_Win_start")
			}, 0, 1)
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"a post has been made", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(none, 1))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, started(0))
			m.rank(1).accesses(leftID, "MPI_Win_start")
		}), Unknown, "WW", "", "whether the posts of the ranks that it starts with are for this epoch can't be told", ""},
		{"a post for others", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(none, 2))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, started(0))
			m.rank(1).accesses(leftID, "MPI_Win_start")
			m.rank(2).computes()
		}), Deadlocked, "DDR", "0-1: 0>1 1>0", "", ""},
		{"a post for nobody knows whom", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, mqs.Epoch{Kind: mqs.PostEpoch})
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, started(0))
			m.rank(1).accesses(leftID, "MPI_Win_start")
		}), Unknown, "WW", "", "", ""},
		{"a start that has been answered is complete soon", 2, onWindows(func(m *made) {
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).has(leftID, started(0))
			m.rank(1).accesses(leftID, "MPI_Win_complete")
		}), Undecided, "WW", "", "about to go on", ""},
		{"a start that has not", 2, onWindows(func(m *made) {
			m.rank(0).recv(worldID, 1, 1)
			asked := started(0)
			asked.Granted = mqs.Known(false)
			m.rank(1).has(leftID, asked)
			m.rank(1).accesses(leftID, "MPI_Win_complete")
		}), DeadlockedUnless, "DD", "0-1: 0>1 1>0", "", ""},
		// Some libraries count posts, whoever makes them: rank 2 may post.
		{"any post counts, and one may come", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: []int32{1}})
			m.rank(0).accesses(leftID, "MPI_Win_start")
			m.rank(1).recv(worldID, 0, 1)
			m.rank(2).computes()
		}), Undecided, "WWR", "", "", ""},
		{"any post counts, and one has been made", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: []int32{1}})
			m.rank(0).accesses(leftID, "MPI_Win_start")
			m.rank(1).recv(worldID, 0, 1)
			m.rank(2).has(leftID, posted(none, 0))
			m.rank(2).recv(worldID, 0, 1)
		}), Unknown, "WWW", "", "", ""},
		{"any post counts, and none comes", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: []int32{1}})
			m.rank(0).accesses(leftID, "MPI_Win_start")
			m.rank(1).recv(worldID, 0, 1)
		}), DeadlockedUnless, "DD", "0-1: 0>1 1>0", "", ""},
		{"not complete", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(none, 1))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).has(leftID, started(0))
			m.rank(1).recv(worldID, 0, 1)
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"just completing", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(mqs.Known[int32](0), 1))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).has(leftID, started(0))
			m.rank(1).accesses(leftID, "MPI_Win_complete")
		}), Undecided, "WW", "", "", ""},
		{"not started", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(mqs.Known[int32](0), 1))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).recv(worldID, 0, 1)
		}), Deadlocked, "DD", "0-1: 0>1 1>0", "", ""},
		{"not started, or complete and not counted", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(none, 1))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).recv(worldID, 0, 1)
		}), DeadlockedUnless, "DD", "0-1: 0>1 1>0", "", ""},
		{"all have completed", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(mqs.Known[int32](1), 1))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).recv(worldID, 0, 1)
		}), Undecided, "WW", "", "", ""},
		// One of two has completed: it may be rank 1, and rank 2 has yet to.
		{"one of two has completed", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(mqs.Known[int32](1), 1, 2))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).recv(worldID, 0, 1)
			m.rank(2).computes()
		}), Undecided, "WWR", "", "", ""},
		{"none of two has completed", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(mqs.Known[int32](0), 1, 2))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).recv(worldID, 0, 1)
			m.rank(2).computes()
		}), Deadlocked, "DDR", "0-1: 0>1 1>0", "", ""},
		// A start that is under way may be for the next exposure.
		{"starts again", 3, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(none, 1, 2))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).has(leftID, started(0))
			m.rank(1).accesses(leftID, "MPI_Win_start")
			m.rank(2).computes()
		}), Unknown, "WWR", "", "", ""},
		{"starts again, with others who hang", 4, onWindows(func(m *made) {
			m.rank(0).has(leftID, posted(none, 1, 2))
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).has(leftID, started(0, 3))
			m.rank(1).accesses(leftID, "MPI_Win_start")
			m.rank(2).computes()
			m.rank(3).recv(worldID, 0, 1)
		}), Unknown, "WWRW", "", "", ""},
		{"whom it is for is not known", 2, onWindows(func(m *made) {
			m.rank(0).has(leftID, mqs.Epoch{Kind: mqs.PostEpoch})
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			m.rank(1).recv(worldID, 0, 1)
		}), Unknown, "WW", "", "the ranks that it waits for are not known", ""},
	})
}

// While another look can follow, nothing is claimed of a rank that has not been seen to stay.
func TestLocksAgain(t *testing.T) {
	job := func(window inferior.Addr) *made {
		m := newMade(2)
		onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 0))
			m.rank(0).recv(worldID, 1, 1)
			m.rank(1).locks(window, 0)
		})(m)
		for i, p := range m.Processes {
			p.PID = 100 + i
			m.rank(i).counts(worldID, int32(1-i), 0, 0)
		}
		return m
	}
	for _, c := range []struct {
		name string
		then inferior.Addr
		ran  bool
		want Verdict
	}{
		{"it has run", leftID, true, Deadlocked},
		{"it has not run", leftID, false, DeadlockedUnless},
		{"it was at another window", rightID, true, DeadlockedUnless},
	} {
		past := Past{Looks: 1, Again: true, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{100: true, 101: c.ran}}
		for _, p := range job(c.then).Processes {
			past.Earlier[p.PID] = p
		}
		if r := AnalyseLive(job(leftID).Snapshot, past); r.Verdict != c.want {
			t.Errorf("%s: %q, not %q: %s", c.name, r.Verdict, c.want, r.Why)
		}
	}
}

// What is waited for is said in the terms of one-sided communication.
func TestWordsOfOneSided(t *testing.T) {
	m := newMade(3)
	onWindows(func(m *made) {
		m.rank(0).has(leftID, held(true, 2))
		m.rank(0).has(rightID, posted(mqs.Known[int32](0), 1))
		m.rank(0).accesses(rightID, "MPI_Win_wait")
		m.rank(1).has(rightID, started(2))
		m.rank(1).accesses(rightID, "MPI_Win_start")
		m.rank(2).has(leftID, held(false, 2))
		m.rank(2).locks(leftID, 2)
	})(m)
	r := Analyse(m.Snapshot)
	var got []string
	for _, d := range r.Deadlocks {
		for _, w := range d.Cycle {
			got = append(got, w.Operation)
		}
	}
	want := []string{`end of its accesses in window "right"`, `post in window "right"`, `shared lock of rank 2 in window "left"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
