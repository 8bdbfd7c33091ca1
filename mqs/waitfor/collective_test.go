package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// inside gives a rank's call a message of the library's own to wait for.
func (r *madeRank) inside(t *mqs.Thread, id inferior.Addr, from int32) {
	t.Requests = append(t.Requests, r.irecv(id, from, -20))
	ops := r.on(id).Queue[mqs.PendingReceives].Operations
	ops[len(ops)-1].Internal = true
}

func TestCollectives(t *testing.T) {
	check(t, []verdictCase{
		{name: "barrier with one that computes", ranks: 4, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1, 2)
			m.rank(3).computes()
		}, verdict: Undecided, states: "WWWR"},
		{name: "barrier that all have entered", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1)
		}, verdict: Undecided, states: "WW"},
		{name: "barrier without one that waits for a member", ranks: 4, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1, 2)
			m.rank(3).recv(worldID, 1, 7)
		}, verdict: Deadlocked, states: "SDSD", cycles: "1,3: 1>3 3>1"},
		{name: "different collectives", ranks: 3, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1)
			m.rank(2).enters(worldID, "MPI_Allreduce")
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>2 2>0",
			misses: "collective [0-2]: Rank 2 is in MPI_Allreduce (a.c:20), but 2 of 3 ranks of MPI_COMM_WORLD (0-1) are in MPI_Barrier (a.c:20): there is the mistake."},
		{name: "the same on different communicators", ranks: 2, make: func(m *made) {
			m.comm(dupID, "dup", 0, 1)
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(1).enters(dupID, "MPI_Barrier")
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0",
			misses: `collective [0-1]: Rank 0 is in MPI_Barrier (a.c:20) on MPI_COMM_WORLD, and rank 1 is in MPI_Barrier (a.c:20) on "dup": they wait for each other to enter the same one.`},
		{name: "different ones of four on different communicators", ranks: 4, make: func(m *made) {
			m.comm(dupID, world, 3, 2, 1)
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1)
			m.rank(2).enters(dupID, "MPI_Allreduce")
			m.rank(3).enters(dupID, "MPI_Barrier")
		}, verdict: Deadlocked, states: "SDDD", cycles: "1-3: 1>2 2>1",
			misses: "collective [1-3]: Rank 1 is in MPI_Barrier (a.c:20) on MPI_COMM_WORLD, and ranks 2-3 are in MPI_Allreduce (a.c:20), MPI_Barrier (a.c:20) on another one of that name: they wait for each other to enter the same one.\n" +
				"collective [2-3]: The members of MPI_COMM_WORLD are in different collective calls: rank 2 is in MPI_Allreduce (a.c:20), rank 3 is in MPI_Barrier (a.c:20)."},
		{name: "one behind another's collective", ranks: 4, make: func(m *made) {
			m.comm(dupID, "dup", 2, 3)
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1)
			m.rank(2).enters(dupID, "MPI_Barrier")
			m.rank(3).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DSDD", cycles: "0,2-3: 0>3 3>0", misses: none},
		{name: "another thread has entered", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).enters(worldID, "MPI_Barrier")
		}, verdict: Undecided, states: "WW"},
		{name: "a communicator that is not known", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(1).enters(0, "MPI_Barrier")
		}, verdict: Unknown, states: "WW", why: commUnknown},
		{name: "one in another call has not entered, whatever it works on", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(1).enters(0, "MPI_Allreduce")
			x := m.rank(1)
			x.inside(&x.Threads[0], worldID, 0)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "a part of it has come", ranks: 2, make: func(m *made) {
			x := m.rank(0)
			x.inside(x.enters(worldID, "MPI_Barrier"), worldID, 1)
			m.rank(1).recv(worldID, 0, 7)
			x.on(worldID).Queue[mqs.PendingReceives].Operations[0].Status = mqs.Complete
		}, verdict: Undecided, states: "WW"},
		{name: "a part of it is on its way", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(0).counts(worldID, 1, 2, 3)
			m.rank(1).counts(worldID, 0, 4, 2)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW"},
		{name: "a part of it is on its way on the library's communicator", ranks: 2, make: func(m *made) {
			m.comm(dupID, "inner", 0, 1)
			m.rank(0).on(dupID).Internal = true
			m.rank(1).on(dupID).Internal = true
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(0).counts(dupID, 1, 2, 3)
			m.rank(1).counts(dupID, 0, 4, 2)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW"},
		{name: "broadcast whose root is not in it, which may be through", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).enters(worldID, "MPI_Bcast").Root = mqs.Known[int32](0)
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR", why: someUnknown},
		{name: "broadcast whose root waits for the member that waits for its message", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			x := m.rank(1)
			x.inside(x.enters(worldID, "MPI_Bcast"), worldID, 0)
			m.rank(2).computes()
		}, verdict: Deadlocked, states: "DDR", cycles: "0-1: 0>1 1>0"},
		{name: "broadcast whose root is not known", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).enters(worldID, "MPI_Bcast")
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR"},
		{name: "broadcast whose root waits for another", ranks: 3, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Bcast").Root = mqs.Known[int32](0)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR", why: "Rank 0 waits in MPI_Bcast (a.c:20): " + someUnknown},
		{name: "broadcast whose root has entered", ranks: 3, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Bcast").Root = mqs.Known[int32](0) }, 0, 1)
			m.rank(2).recv(worldID, 1, 7)
		}, verdict: Deadlocked, states: "SDD", cycles: "1-2: 1>2 2>1"},
		{name: "messages lie before a member", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(0).Arriving = mqs.Known(true)
			m.rank(0).uncounted()
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW", why: arrivingUnknown},
		{name: "a member that has gone on, whose message is on its way", ranks: 3, make: func(m *made) {
			for i, from := range []int32{1, 2, 0} {
				r := m.rank(i)
				r.inside(r.enters(worldID, map[bool]string{true: "MPI_Bcast", false: "MPI_Barrier"}[i == 1]), worldID, from)
			}
			m.rank(0).counts(worldID, 1, 5, 5)
			m.rank(1).counts(worldID, 0, 6, 5)
		}, verdict: Undecided, states: "WWW"},
		{name: "two collectives, whose messages alone would be two circles", ranks: 4, make: func(m *made) {
			for i, from := range []int32{1, 0, 3, 2} {
				r := m.rank(i)
				r.inside(r.enters(worldID, map[bool]string{true: "MPI_Allreduce", false: "MPI_Barrier"}[i%2 == 1]), worldID, from)
			}
		}, verdict: Deadlocked, states: "DDDD", cycles: "0-3: 0>1 1>0"},
		{name: "messages through one that has entered", ranks: 4, make: func(m *made) {
			for i, from := range []int32{2, 3, 3} {
				r := m.rank(i)
				r.inside(r.enters(worldID, "MPI_Barrier"), worldID, from)
			}
			m.rank(3).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DSSD", cycles: "0,3: 0>3 3>0"},
		{name: "all are in, with roots that don't agree", ranks: 2, make: func(m *made) {
			for i, from := range []int32{1, 0} {
				r := m.rank(i)
				r.inside(r.enters(worldID, "MPI_Allreduce"), worldID, from)
			}
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "between its messages", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier").Requests = nil
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW", why: progressUnknown},
		{name: "messages of its own that it does not show", ranks: 2, make: func(m *made) {
			x := m.rank(0)
			x.inside(x.enters(worldID, "MPI_Comm_dup"), worldID, 1)
			x.Threads[0].Requests = nil
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW", why: progressUnknown},
		{name: "a message of a non-blocking one, in a call on another communicator", ranks: 2, make: func(m *made) {
			x := m.rank(0)
			x.inside(x.enters(0, "MPI_File_write_all"), worldID, 1)
			x.Threads[0].Requests = nil
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW", why: commUnknown},
		{name: "a communicator that its member does not have", ranks: 2, make: func(m *made) {
			m.comm(dupID, "dup", 0, 1)
			m.rank(1).on(dupID).Context = "another"
			m.each(func(r *madeRank) { r.enters(dupID, "MPI_Barrier") }, 0, 1)
		}, verdict: Unknown, states: "WW", why: enteredUnknown},
		{name: "barrier of an intercommunicator", ranks: 3, make: func(m *made) {
			m.inter()
			m.rank(0).enters(dupID, "MPI_Barrier")
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR"},
		{name: "gather that one may have left, and one may not have entered", ranks: 3, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Gather").Root = mqs.Known[int32](0)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR", why: "Rank 0 waits in MPI_Gather (a.c:20): for which of its members it waits is not known."},
		{name: "reduce that one has left, whose message is on its way to the root", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 2, 7)
			m.rank(0).counts(worldID, 1, 1, 0)
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Reduce").Root = mqs.Known[int32](1) }, 1, 2)
		}, verdict: Unknown, states: "WWW", why: "a message is on its way to a member that has entered it, so others may be through with it"},
		{name: "barrier that one has left, of whose members one has yet to take a message", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 2, 7)
			m.rank(0).counts(worldID, 1, 1, 0)
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 1, 2)
		}, verdict: Unknown, states: "WWW", why: "so others may be through with it"},
		{name: "the messages of a broadcast say for whom it waits", ranks: 3, make: func(m *made) {
			x := m.rank(0)
			x.inside(x.enters(worldID, "MPI_Bcast"), worldID, 1)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Deadlocked, states: "DDR", cycles: "0-1: 0>1 1>0"},
		{name: "the messages of a collective on a communicator that is not known", ranks: 2, make: func(m *made) {
			x := m.rank(0)
			x.inside(x.enters(0, "MPI_Allreduce"), worldID, 1)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "irregular, with one that computes", ranks: 3, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Alltoallv")
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR"},
		{name: "irregular, with none left", ranks: 3, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Alltoallv")
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>1 1>0"},
		{name: "one in MPI_Finalize, one in a receive from it", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).enters(0, "MPI_Finalize")
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0",
			misses: "peer left [0-1]: Rank 0 waits in MPI_Recv (a.c:10) for a message from rank 1 with tag 7 on MPI_COMM_WORLD, but rank 1 is now in MPI_Finalize (a.c:20)."},
		{name: "all in MPI_Finalize", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(0, "MPI_Finalize") }, 0, 1)
		}, verdict: Undecided, states: "WW"},
		{name: "the other one has finished", ranks: 2, make: func(m *made) {
			m.rank(0).enters(0, "MPI_Finalize")
			m.rank(1).Phase = mqs.Finished
		}, verdict: Undecided, states: "WE"},
		{name: "the other one has exited", ranks: 2, make: func(m *made) {
			m.rank(0).enters(0, "MPI_Finalize")
			m.rank(1).Phase = mqs.Exited
		}, verdict: Unknown, states: "WE"},
		{name: "MPI_Finalize against a barrier", ranks: 3, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1)
			m.rank(2).enters(0, "MPI_Finalize")
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>2 2>0",
			misses: "collective [0-2]: Rank 2 is in MPI_Finalize (a.c:20), but 2 of 3 ranks of MPI_COMM_WORLD (0-1) are in MPI_Barrier (a.c:20): there is the mistake."},
		{name: "one-sided synchronisation", ranks: 2, make: func(m *made) {
			m.rank(0).enters(0, "MPI_Win_wait")
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW", why: "Rank 0 waits in MPI_Win_wait (a.c:20): " + windowUnknown},
		{name: "one-sided synchronisation with one that computes", ranks: 2, make: func(m *made) {
			m.rank(0).enters(0, "MPI_Win_wait")
			m.rank(1).computes()
		}, verdict: Unknown, states: "WR"},
	})
}

func TestGoneMissingUnreadable(t *testing.T) {
	unreadable := func(r *madeRank) {
		r.Unavailable, r.Communicators = "libmpich.so.12 has no type information.", nil
	}
	check(t, []verdictCase{
		{name: "receive from one that has exited", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).Phase = mqs.Exited
			m.rank(2).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DES", cycles: "0: 0>1", why: "Rank 0 waits for rank 1, which has exited. Rank 2 waits for them"},
		{name: "send to one that has finished", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, false))
			m.rank(1).Phase = mqs.Finished
		}, verdict: DeadlockedUnless, states: "DE", cycles: "0: 0>1"},
		{name: "barrier without one that has finished", ranks: 4, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1, 3)
			m.rank(2).Phase = mqs.Finished
		}, verdict: Deadlocked, states: "DDED", cycles: "0-1,3: 0>2",
			misses: "peer left [0-3]: Rank 2 will never enter MPI_Barrier (a.c:20) on MPI_COMM_WORLD, in which ranks 0-1, 3 wait: rank 2 has finished MPI."},
		{name: "any receive, and all others have exited", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, wild, 7)
			m.rank(1).Phase, m.rank(2).Phase = mqs.Exited, mqs.Exited
		}, verdict: Deadlocked, states: "DEE", cycles: "0: 0>1"},
		{name: "any receive, and one other has exited", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, wild, 7)
			m.rank(1).Phase = mqs.Exited
			m.rank(2).computes()
		}, verdict: Undecided, states: "WER"},
		{name: "a cycle that one which is gone could have released", ranks: 3, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Waitany", 12, r.irecv(worldID, 1, 7), r.irecv(worldID, 2, 7))
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).Phase = mqs.Exited
		}, verdict: Deadlocked, states: "DDE", cycles: "0-1: 0>1 1>0"},
		{name: "a message from one that has exited has come", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).message(worldID, 0, 7)
			m.rank(1).Phase = mqs.Exited
		}, verdict: Undecided, states: "WE"},
		{name: "all waits are for one that is missing", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 2, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.Processes = m.Processes[:2]
		}, verdict: Unknown, states: "WWU", why: "Rank 0 waits in MPI_Recv (a.c:10) for rank 2, of which too little is known: it is " + notLookedAt + "."},
		{name: "a deadlock without the one that is missing", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.Processes = m.Processes[:2]
		}, verdict: Deadlocked, states: "DDU", cycles: "0-1: 0>1 1>0"},
		{name: "nobody waits for the one that is missing", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).computes()
			m.Processes = m.Processes[:2]
		}, verdict: Unknown, states: "WRU", why: "Too little is known of rank 2: it is " + notLookedAt + "."},
		{name: "barrier without one that is missing", ranks: 3, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 1)
			m.Processes = m.Processes[:2]
		}, verdict: Unknown, states: "WWU", why: "Ranks 0-1 wait in MPI_Barrier (a.c:20) for rank 2"},
		{name: "nothing is known at all", ranks: 1, make: func(m *made) { unreadable(m.rank(0)); m.rank(0).Threads = nil },
			verdict: Unknown, states: "U", why: "Nothing could be read"},
		{name: "one that can't be read computes", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).computes()
			unreadable(m.rank(1))
		}, verdict: Undecided, states: "WR"},
		{name: "one that can't be read waits", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).thread("MPI_Recv", 10)
			unreadable(m.rank(1))
		}, verdict: Unknown, states: "WU", why: "Rank 1 waits in MPI_Recv (a.c:10): " + queuesUnknown},
		{name: "one that can't be read may have entered", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(1).enters(worldID, "MPI_Barrier")
			unreadable(m.rank(1))
		}, verdict: Unknown, states: "WU", why: enteredUnknown},
		{name: "one that can't be read is in MPI_Finalize", ranks: 2, make: func(m *made) {
			m.rank(0).enters(worldID, "MPI_Barrier")
			m.rank(1).enters(0, "MPI_Finalize")
			unreadable(m.rank(1))
		}, verdict: DeadlockedUnless, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "a send to one that can't be read", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, false))
			m.rank(1).thread("MPI_Send", 11)
			unreadable(m.rank(1))
		}, verdict: Unknown, states: "WU"},
		{name: "a send to one in MPI_Finalize that can't be read", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, false))
			m.rank(1).enters(0, "MPI_Finalize")
			unreadable(m.rank(1))
		}, verdict: Unknown, states: "WU"},
		{name: "a send to one in MPI_Finalize that may have taken it", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, false))
			r.uncounted()
			m.rank(1).enters(0, "MPI_Finalize")
		}, verdict: Unknown, states: "WW", why: takenUnknown},
		{name: "a send to one in MPI_Finalize that has taken it", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, false))
			r.counts(worldID, 1, 5, 5)
			m.rank(1).counts(worldID, 0, 5, 5)
			m.rank(1).enters(0, "MPI_Finalize")
		}, verdict: Undecided, states: "WW"},
		{name: "a send to one in MPI_Finalize where it lies", ranks: 2, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(1).enters(0, "MPI_Finalize")
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0",
			misses: "peer left [0-1]: Rank 0 waits in MPI_Send (a.c:11) for rank 1 to receive its message with tag 7 on MPI_COMM_WORLD, but rank 1 is now in MPI_Finalize (a.c:20)."},
		{name: "MPI_Init is still under way", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) {
				unreadable(r)
				r.Phase = mqs.Starting
				r.thread("MPI_Init", 3)
			}, 0, 1)
		}, verdict: Undecided, states: "WW", why: "The job is starting"},
	})
}

// What a library has made for the collectives on a communicator has no more members than that
// one has. What is not known may be so, and the groups of an intercommunicator are two.
func TestMayBeWithin(t *testing.T) {
	of := func(members ...int32) *communicator {
		return &communicator{known: true, sides: [2]side{{group: members}}}
	}
	inter := of(0, 1, 2, 3)
	inter.inter, inter.sides[1] = true, side{group: []int32{4}}
	five, four, two, unknown := of(0, 1, 2, 3, 4), of(0, 1, 2, 3), of(0, 1), of(0, 1, 2, 3)
	unknown.known = false
	for _, c := range []struct {
		name   string
		it, of *communicator
		want   bool
	}{
		{"itself", four, four, true},
		{"a part", two, four, true},
		{"the whole of a part", four, two, false},
		{"one that is not known", unknown, two, true},
		{"a part of one that is not known", five, unknown, true},
		{"two groups", inter, two, true},
		{"a part of two groups", five, inter, true},
	} {
		if got := c.it.mayBeWithin(c.of); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A call that all members are in, and that nothing they were given can stop, is in progress, however little is known of it.
func TestAllAreIn(t *testing.T) {
	for _, c := range []struct {
		name, call string
		make       func(m *made)
		verdict    Verdict
	}{
		{"all", "MPI_Comm_split", func(*made) {}, NoDeadlock},
		{"of which messages may be another's", "MPI_Comm_split", func(m *made) {
			for i := range int32(2) {
				r := m.rank(int(i))
				r.inside(&r.Threads[0], worldID, 1-i)
				ops := r.on(worldID).Queue[mqs.PendingReceives].Operations
				ops[len(ops)-1].ExtraText = []string{mqs.NonBlockingCollective}
			}
		}, NoDeadlock},
		{"it has a root", "MPI_Bcast", func(*made) {}, Unknown},
		{"it has dimensions", "MPI_Cart_create", func(*made) {}, Unknown},
		{"one is elsewhere", "MPI_Comm_split", func(m *made) { m.rank(1).Threads[0].Comm = mqs.Known(dupID) }, Unknown},
		{"of one that is not known", "MPI_Comm_split", func(m *made) { m.rank(1).Threads[0].Comm.Known = false }, Unknown},
		{"one of which nothing is known", "MPI_Comm_split", func(m *made) { m.Processes = m.Processes[:1] }, Unknown},
	} {
		m := newMade(2)
		m.comm(dupID, "dup", 0, 1)
		past := Past{Looks: 1, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
		for i, p := range m.Processes {
			m.rank(i).enters(worldID, c.call).Requests = nil
			p.PID, p.ThreadMultiple = 100+i, mqs.Known(false)
			past.Earlier[p.PID] = &mqs.Process{PID: p.PID, Phase: mqs.Active, Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv", Line: 1}}}
		}
		c.make(m)
		if r := approve(t, c.name, AnalyseLive(m.Snapshot, past)); r.Verdict != c.verdict {
			t.Errorf("%s: %q: %s", c.name, r.Verdict, r.Why)
		}
	}
}
