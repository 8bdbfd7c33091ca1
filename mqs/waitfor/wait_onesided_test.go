package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Of an exposure, those who have started and have not completed are known, also where its group is not; ranks that there
// are not make it unknown.
func TestWhoCompletes(t *testing.T) {
	none := mqs.Maybe[int32]{}
	waits := func(post mqs.Epoch, make func(m *made)) func(m *made) {
		return onWindows(func(m *made) {
			m.rank(0).has(leftID, post)
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			make(m)
		})
	}
	recvs := func(m *made) { m.rank(1).recv(worldID, 0, 1) }
	of := func(e mqs.Epoch, make func(m *made)) func(m *made) {
		return func(m *made) { m.rank(1).has(leftID, e); make(m) }
	}
	anybody, untold := mqs.Epoch{Kind: mqs.PostEpoch}, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: []int32{0}}
	check(t, []verdictCase{
		{name: "a group that is not known, of one that has started", ranks: 2, make: waits(anybody, of(started(0), recvs)), verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "one that has started with others", ranks: 2, make: waits(anybody, of(started(1), recvs)), verdict: Unknown, states: "WW", why: exposedUnknown},
		{name: "one whose start is not known to be granted", ranks: 2, make: waits(anybody, of(untold, recvs)), verdict: Unknown, states: "WW", why: exposedUnknown},
		{name: "one that starts", ranks: 2, make: waits(anybody, of(started(0), func(m *made) { m.rank(1).accesses(leftID, "MPI_Win_start") })), verdict: Unknown, states: "WW", why: exposedUnknown},
		{name: "one that starts elsewhere", ranks: 2, make: waits(anybody, of(started(0), func(m *made) {
			m.rank(1).has(rightID, started(0))
			m.rank(1).accesses(rightID, "MPI_Win_start")
		})), verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "one that is not in the group", ranks: 3, make: waits(posted(mqs.Known[int32](0), 2), func(m *made) {
			m.rank(1).has(leftID, started(0))
			m.rank(1).computes()
			m.rank(2).recv(worldID, 0, 1)
		}), verdict: Deadlocked, states: "DRD", cycles: "0,2: 0>2 2>0"},
		{name: "itself", ranks: 2, make: waits(posted(mqs.Known[int32](0), 0, 1), func(m *made) {
			m.rank(0).has(leftID, started(0))
			m.rank(1).recv(worldID, 0, 1)
		}), verdict: Deadlocked, states: "DD", cycles: "0-1: 0>0"},
		{name: "a rank behind the last", ranks: 2, make: waits(posted(none, 2), recvs), verdict: Unknown, states: "WW", why: exposedUnknown},
		{name: "a rank below the first", ranks: 2, make: waits(posted(none, -1), recvs), verdict: Unknown, states: "WW", why: exposedUnknown},
		{name: "no exposure", ranks: 2, make: onWindows(func(m *made) {
			m.rank(0).accesses(leftID, "MPI_Win_wait")
			recvs(m)
		}), verdict: Unknown, states: "WW", why: exposedUnknown},
	})
}

// A start waits for the ranks that it starts with, if these are ranks of the window.
func TestWhoPosts(t *testing.T) {
	starts := func(e *mqs.Epoch, make func(m *made)) func(m *made) {
		return onWindows(func(m *made) {
			if e != nil {
				m.rank(0).has(leftID, *e)
			}
			m.rank(0).accesses(leftID, "MPI_Win_start")
			make(m)
		})
	}
	with := func(ranks ...int32) *mqs.Epoch { e := started(ranks...); return &e }
	recvs := func(m *made) { m.rank(1).recv(worldID, 0, 1) }
	check(t, []verdictCase{
		{name: "the last rank", ranks: 2, make: starts(with(1), recvs), verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "a rank behind the last", ranks: 2, make: starts(with(2), recvs), verdict: Unknown, states: "WW", why: startUnknown},
		{name: "a rank below the first", ranks: 2, make: starts(with(-1), recvs), verdict: Unknown, states: "WW", why: startUnknown},
		{name: "ranks that are not known", ranks: 2, make: starts(&mqs.Epoch{Kind: mqs.StartEpoch, Granted: mqs.Known(true)}, recvs), verdict: Unknown, states: "WW", why: startUnknown},
		{name: "no start", ranks: 2, make: starts(nil, recvs), verdict: Unknown, states: "WW", why: startUnknown},
		{name: "one of two has posted", ranks: 3, make: starts(with(1, 2), func(m *made) {
			m.rank(1).has(leftID, posted(mqs.Known[int32](0), 0))
			m.rank(1).computes()
			m.rank(2).recv(worldID, 0, 1)
		}), verdict: Deadlocked, states: "DRD", cycles: "0,2: 0>2 2>0"},
		{name: "two of which one computes", ranks: 3, make: starts(with(1, 2), func(m *made) {
			m.rank(1).computes()
			m.rank(2).recv(worldID, 0, 1)
		}), verdict: Deadlocked, states: "DRD", cycles: "0,2: 0>2 2>0"},
	})
}

// Accesses are done by the rank whose memory they are to, if that is outside of MPI; else nothing is known of them.
func TestTargetsOfAccesses(t *testing.T) {
	flushes := func(target mqs.Maybe[int32], other func(r *madeRank)) func(m *made) {
		return onWindows(func(m *made) {
			m.rank(0).has(leftID, held(true, 1))
			m.rank(0).accesses(leftID, "MPI_Win_flush").Target = target
			other(m.rank(1))
		})
	}
	computes := func(r *madeRank) { r.computes() }
	check(t, []verdictCase{
		{name: "one that computes", ranks: 2, make: flushes(mqs.Known[int32](1), computes), verdict: Undecided, states: "WR"},
		{name: "one that waits", ranks: 2, make: flushes(mqs.Known[int32](1), func(r *madeRank) { r.recv(worldID, 0, 1) }), verdict: Undecided, states: "WW"},
		{name: "one that is not known", ranks: 2, make: flushes(mqs.Maybe[int32]{}, computes), verdict: Undecided, states: "WR"},
		{name: "one behind the last", ranks: 2, make: flushes(mqs.Known[int32](2), computes), verdict: Unknown, states: "WR", why: accessUnknown},
	})
}
