package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

func TestPointToPoint(t *testing.T) {
	check(t, []verdictCase{
		{name: "all compute", ranks: 2, make: func(m *made) { m.rank(0).computes(); m.rank(1).computes() },
			verdict: Undecided, states: "RR", why: "No rank waits in an MPI call."},
		{name: "receive ring", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 2, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).recv(worldID, 1, 7)
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>2 2>1 1>0", why: "Ranks 0-2 wait for each other"},
		{name: "send ring", ranks: 3, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(1).send(worldID, 2, 7)
			m.rank(2).send(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>1 1>2 2>0"},
		{name: "one of the ring computes", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 2, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Undecided, states: "WWR", why: "Ranks 0-1 wait for what can still come. Rank 2 computes in compute (a.c:99)."},
		{name: "head to head of sends", ranks: 2, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(1).send(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "sends on their way", ranks: 2, make: func(m *made) {
			for i := range 2 {
				r := m.rank(i)
				r.thread("MPI_Send", 11, r.isend(worldID, int32(1-i), 7, false))
			}
		}, verdict: Undecided, states: "WW", why: "about to go on"},
		{name: "as many messages as sends, of which one has been taken", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.isend(worldID, 1, 7, true)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, false))
			m.rank(1).recv(worldID, 0, 8)
		}, verdict: Undecided, states: "WW"},
		{name: "lengths tell messages apart", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, true))
			m.rank(1).on(worldID).Queue[mqs.UnexpectedMessages].Operations[0].ActualLength = mqs.Known(int64(9))
			m.rank(1).recv(worldID, 0, 8)
		}, verdict: Undecided, states: "WW"},
		{name: "a length that is not known may be this one", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Send", 11, r.isend(worldID, 1, 7, true))
			m.rank(1).on(worldID).Queue[mqs.UnexpectedMessages].Operations[0].ActualLength = mqs.Maybe[int64]{}
			m.rank(1).recv(worldID, 0, 8)
		}, verdict: DeadlockedUnless, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "send and receive that fit", ranks: 2, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Undecided, states: "WW"},
		{name: "send to a wildcard that fits", ranks: 3, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(1).recv(worldID, wild, -1)
			m.rank(2).recv(worldID, 0, 1)
		}, verdict: Undecided, states: "WWW"},
		{name: "unreadable queues of a receiver are no proof", ranks: 2, make: func(m *made) {
			m.rank(0).send(worldID, 1, 7)
			m.rank(1).send(worldID, 0, 7)
			m.rank(1).on(worldID).Queue[mqs.UnexpectedMessages] = &mqs.Queue{Unavailable: "no"}
		}, verdict: Unknown, states: "WW", why: takenUnknown},
		{name: "receive from oneself", ranks: 1, make: func(m *made) { m.rank(0).recv(worldID, 0, 7) },
			verdict: Deadlocked, states: "D", cycles: "0: 0>0", why: "Rank 0 waits for itself."},
		{name: "any receive of one that is alone", ranks: 1, make: func(m *made) { m.rank(0).recv(worldID, wild, 7) },
			verdict: Deadlocked, states: "D", cycles: "0: 0>0"},
		{name: "send to oneself", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Ssend", 11, r.isend(worldID, 0, 7, false))
			m.rank(1).computes()
		}, verdict: Deadlocked, states: "DR", cycles: "0: 0>0"},
		{name: "send to oneself, with a receive", ranks: 1, make: func(m *made) {
			r := m.rank(0)
			r.irecv(worldID, 0, 7)
			r.send(worldID, 0, 7)
		}, verdict: Undecided, states: "W"},
		{name: "the message has come", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).message(worldID, 0, 7)
		}, verdict: Undecided, states: "WW"},
		{name: "the send is still pending", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).isend(worldID, 0, 7, false)
		}, verdict: Undecided, states: "WW"},
		{name: "counts tell that one is on its way", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).counts(worldID, 0, 4, 3)
			m.rank(0).counts(worldID, 1, 3, 3)
		}, verdict: Undecided, states: "WW"},
		{name: "on its way to one that has seen nothing yet", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).counts(worldID, 0, 1, 0)
			m.rank(0).on(worldID).Traffic = []mqs.Traffic{}
		}, verdict: Undecided, states: "WW"},
		{name: "counts tell that nothing is", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).counts(worldID, 0, 3, 2)
			m.rank(0).counts(worldID, 1, 2, 3)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "counts of another communicator do not matter", ranks: 2, make: func(m *made) {
			m.comm(dupID, "dup", 0, 1)
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).counts(dupID, 0, 4, 3)
			m.rank(0).counts(dupID, 1, 3, 3)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "one has matched", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			op := &m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0]
			op.Status, op.ActualLocalRank = mqs.Matched, mqs.Known[int32](1)
		}, verdict: Undecided, states: "WW"},
		{name: "one is complete", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0].Status = mqs.Complete
		}, verdict: Undecided, states: "WW"},
		{name: "messages lie before one that its library has not looked at", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(0).Arriving = mqs.Known(true)
			m.rank(0).uncounted()
		}, verdict: Unknown, why: arrivingUnknown, states: "WW"},
		{name: "counts need not be in order", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
			m.rank(0).counts(worldID, 2, 0, 0)
			m.rank(0).counts(worldID, 1, 2, 3)
			m.rank(1).counts(worldID, 2, 0, 0)
			m.rank(1).counts(worldID, 0, 3, 2)
		}, verdict: Deadlocked, states: "DDR", cycles: "0-1: 0>1 1>0"},
		{name: "a tag that is not known may be any", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).message(worldID, 0, 9)
			m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0].DesiredTag.Known = false
		}, verdict: Unknown, states: "WW", why: tagUnknown},
		{name: "one has matched, but its sender is gone", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 2, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).Phase = mqs.Exited
			op := &m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0]
			op.Status, op.ActualLocalRank = mqs.Matched, mqs.Known[int32](2)
		}, verdict: Unknown, states: "WWE", why: peerUnknown},
		{name: "the library's own messages are others", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, -1)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).message(worldID, 0, 7)
			m.rank(0).on(worldID).Queue[mqs.UnexpectedMessages].Operations[0].Internal = true
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "wildcard with a partner that can move", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, wild, 7)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Undecided, states: "WWR"},
		{name: "wildcards with nobody left", ranks: 3, make: func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, wild, 7) }, 0, 1, 2)
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>1 1>0"},
		{name: "stuck behind a cycle", ranks: 4, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 2, 7)
			m.rank(2).recv(worldID, 1, 7)
			m.rank(3).recv(worldID, wild, 7)
		}, verdict: Deadlocked, states: "SDDS", cycles: "1-2: 1>2 2>1", why: "Ranks 0, 3 wait for them"},
		{name: "two deadlocks and one that computes", ranks: 5, make: func(m *made) {
			m.rank(0).recv(worldID, 3, 7)
			m.rank(3).recv(worldID, 0, 7)
			m.rank(1).recv(worldID, 2, 7)
			m.rank(2).recv(worldID, 1, 7)
			m.rank(4).computes()
		}, verdict: Deadlocked, states: "DDDDR", cycles: "0,3: 0>3 3>0; 1-2: 1>2 2>1"},
		{name: "a cycle that waits for another is one of its own", ranks: 4, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Waitall", 12, r.irecv(worldID, 1, 7), r.irecv(worldID, 2, 7))
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).recv(worldID, 3, 7)
			m.rank(3).recv(worldID, 2, 7)
		}, verdict: Deadlocked, states: "DDDD", cycles: "0-1: 0>1 1>0; 2-3: 2>3 3>2"},
		{name: "a cycle that another would release is none", ranks: 4, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Waitany", 12, r.irecv(worldID, 1, 7), r.irecv(worldID, 2, 7))
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).recv(worldID, 3, 7)
			m.rank(3).recv(worldID, 2, 7)
		}, verdict: Deadlocked, states: "SSDD", cycles: "2-3: 2>3 3>2"},
	})
}

func TestRequests(t *testing.T) {
	pair := func(call string, all bool) func(m *made) {
		return func(m *made) {
			r := m.rank(0)
			r.thread(call, 12, r.irecv(worldID, 1, 7), r.irecv(worldID, 2, 7)).AllRequests = all
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}
	}
	check(t, []verdictCase{
		{name: "Waitall with a partner that waits back", ranks: 3, make: pair("MPI_Waitall", true), verdict: Deadlocked, states: "DDR", cycles: "0-1: 0>1 1>0"},
		{name: "Waitall, of which not all is known", ranks: 3, make: pair("MPI_Waitall", false), verdict: Deadlocked, states: "DDR", cycles: "0-1: 0>1 1>0"},
		{name: "Waitany with one live partner", ranks: 3, make: pair("MPI_Waitany", true), verdict: Undecided, states: "WWR"},
		{name: "Sendrecv waits for both", ranks: 3, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Sendrecv", 12, r.irecv(worldID, 1, 7), r.isend(worldID, 2, 7, false))
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Deadlocked, states: "DDR", cycles: "0-1: 0>1 1>0"},
		{name: "Wait for a partitioned send of which nothing more is known", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Wait", 12, r.isend(worldID, 1, 7, false))
			r.on(worldID).Queue[mqs.PendingSends].Operations[0].Kind = mqs.KindPartitionedSend
			m.rank(1).recv(worldID, 0, 8)
		}, verdict: Unknown, states: "WW", why: readyUnknown},
		{name: "a partitioned send matches no receive", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.isend(worldID, 1, 7, false)
			r.on(worldID).Queue[mqs.PendingSends].Operations[0].Kind = mqs.KindPartitionedSend
			r.recv(worldID, 1, 8)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "Sendrecv that may have a send too", ranks: 3, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Sendrecv", 12, r.irecv(worldID, 2, 7)).AllRequests = false
			r.isend(worldID, 1, 7, true)
			r.on(worldID).Queue[mqs.PendingSends].Operations[0].Kind = callstack.KindNotKnown
			m.rank(1).recv(worldID, 0, 8)
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR", why: requestsUnknown},
		{name: "Sendrecv that can have nothing but a receive", ranks: 3, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Sendrecv", 12, r.irecv(worldID, 2, 7)).AllRequests = false
			r.isend(worldID, 1, 7, true)
			m.rank(1).recv(worldID, 0, 8)
			m.rank(2).computes()
		}, verdict: Undecided, states: "WWR"},
		{name: "Sendrecv that may hold others' receives", ranks: 3, make: pair("MPI_Sendrecv", false), verdict: Unknown, states: "WWR", why: requestsUnknown},
		{name: "Recv has just one, whether the snapshot says so or not", ranks: 3, make: func(m *made) {
			r := m.rank(0)
			r.recv(worldID, 2, 7)
			r.Threads[0].AllRequests = false
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, verdict: Undecided, states: "WWR"},
		{name: "Waitall, one of which is complete", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Waitall", 12, r.irecv(worldID, 1, 7), r.irecv(worldID, 1, 8))
			m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0].Status = mqs.Complete
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "Testall does not wait", ranks: 3, make: pair("MPI_Testall", true), verdict: Undecided, states: "RWR"},
		{name: "an unknown function does not wait", ranks: 3, make: pair("MPI_Xyz", true), verdict: Undecided, states: "RWR"},
		{name: "Waitsome with nobody left", ranks: 3, make: func(m *made) {
			pair("MPI_Waitsome", true)(m)
			m.rank(2).Threads = nil
			m.rank(2).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>1 1>0"},
		{name: "Waitany, of which not all is known", ranks: 3, make: func(m *made) {
			pair("MPI_Waitany", false)(m)
			m.rank(2).Threads = nil
			m.rank(2).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WWW", why: "Rank 0 waits in MPI_Waitany (a.c:12): " + requestsUnknown},
		{name: "Waitany with a request that no queue has", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Waitany", 12, r.irecv(worldID, 1, 7), 0xbad)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW"},
		{name: "Waitall with a request that no queue has", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Waitall", 12, r.irecv(worldID, 1, 7), 0xbad)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "a request that no queue has may be for itself", ranks: 2, make: func(m *made) {
			m.rank(0).thread("MPI_Wait", 12, 0xbad)
			m.rank(1).computes()
		}, verdict: Unknown, states: "WR"},
		{name: "Waitany, one of which is complete", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Waitany", 12, r.irecv(worldID, 1, 7), r.irecv(worldID, 1, 8))
			m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[1].Status = mqs.Complete
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Undecided, states: "WW"},
		{name: "sends that nobody waits for do not block", ranks: 2, make: func(m *made) {
			for i := range 2 {
				m.rank(i).isend(worldID, int32(1-i), 7, true)
			}
			m.rank(0).recv(worldID, 1, 8)
			m.rank(1).computes()
		}, verdict: Undecided, states: "WR"},
		{name: "Wait on a send that lies with its receiver", ranks: 2, make: func(m *made) {
			r := m.rank(0)
			r.thread("MPI_Wait", 12, r.isend(worldID, 1, 7, true))
			m.rank(1).recv(worldID, 0, 8)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "kinds tell without requests", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7); r.Threads[0].Requests = nil }, 0, 1)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "kinds tell without threads", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) {
				r.recv(worldID, 1-r.me, 7)
				r.irecv(worldID, wild, 9)
				r.Threads, r.ThreadMultiple = nil, mqs.Known(false)
			}, 0, 1)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "without threads and kinds nothing is known", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).irecv(worldID, 0, 7)
			m.rank(1).Threads = nil
		}, verdict: Unknown, states: "WU", why: "for rank 1, of which too little is known: " + placeUnknown},
		{name: "the only receive need not be that of MPI_Recv", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) {
				r.irecv(worldID, 1-r.me, 7)
				r.thread("MPI_Recv", 10)
				r.on(worldID).Queue[mqs.PendingReceives].Operations[0].Kind = ""
			}, 0, 1)
		}, verdict: Unknown, states: "WW", why: ownUnknown},
		{name: "one of two receives may be that of MPI_Recv", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) {
				r.irecv(worldID, 1-r.me, 7)
				r.irecv(worldID, 1-r.me, 8)
				r.thread("MPI_Recv", 10)
				for i := range 2 {
					r.on(worldID).Queue[mqs.PendingReceives].Operations[i].Kind = ""
				}
			}, 0, 1)
		}, verdict: Unknown, states: "WW", why: ownUnknown},
		{name: "probes in the queue", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) {
				r.irecv(worldID, 1-r.me, 7)
				r.on(worldID).Queue[mqs.PendingReceives].Operations[0].Kind = "mprobe"
				r.thread("MPI_Mprobe", 10)
			}, 0, 1)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "probes in the arguments", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) {
				t := r.thread("MPI_Probe", 10)
				t.Comm, t.Source, t.Tag = mqs.Known(worldID), mqs.Known(1-r.me), mqs.Known[int32](-1)
			}, 0, 1)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "a probe whose message has come", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) {
				t := r.thread("MPI_Probe", 10)
				t.Comm, t.Source, t.Tag = mqs.Known(worldID), mqs.Known(1-r.me), mqs.Known[int32](-1)
			}, 0, 1)
			m.rank(0).message(worldID, 1, 3)
		}, verdict: Undecided, states: "WW"},
		{name: "a limit has cut the messages that have come", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7) }, 0, 1)
			m.rank(1).on(worldID).Queue[mqs.UnexpectedMessages].Total = 5
		}, verdict: Unknown, states: "WW", why: cutUnknown},
		{name: "more messages have come than could be read", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7) }, 0, 1)
			m.rank(1).on(worldID).Queue[mqs.UnexpectedMessages].Incomplete = true
		}, verdict: Unknown, states: "WW", why: cutUnknown},
	})
}

func TestThreads(t *testing.T) {
	both := func(multiple mqs.Maybe[bool]) func(m *made) {
		return func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7) }, 0, 1)
			m.rank(0).computes()
			m.rank(0).ThreadMultiple = multiple
		}
	}
	check(t, []verdictCase{
		{name: "another thread may call MPI", ranks: 2, make: both(mqs.Known(true)), verdict: Undecided, states: "RW"},
		{name: "another thread may not call MPI", ranks: 2, make: both(mqs.Known(false)), verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "whether another may call is not known", ranks: 2, make: both(mqs.Maybe[bool]{}), verdict: Unknown, states: "NW", why: levelUnknown},
		{name: "another thread joins those that wait", ranks: 2, make: func(m *made) {
			both(mqs.Maybe[bool]{})(m)
			m.rank(0).Threads[1].Activity = mqs.Joins
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "another thread waits for a lock", ranks: 2, make: func(m *made) {
			both(mqs.Known(true))(m)
			m.rank(0).Threads[1].Activity = mqs.Blocks
		}, verdict: Unknown, states: "NW", why: "thread 2 waits for something else in a.c:99, and whether that ends is not known"},
		{name: "another thread can't be named", ranks: 2, make: func(m *made) {
			both(mqs.Known(false))(m)
			m.rank(0).Threads[1].Placed = false
		}, verdict: Unknown, states: "NW", why: placeUnknown},
		{name: "the only thread can't be named", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) { r.computes(); r.Threads[0].Placed = false }, 0, 1)
		}, verdict: Unknown, states: "NN", why: placeUnknown},
		{name: "another thread is in a call that does not wait", ranks: 2, make: func(m *made) {
			both(mqs.Known(true))(m)
			m.rank(0).Threads[1].Call = "MPI_Isend"
		}, verdict: Undecided, states: "RW"},
		{name: "another thread waits for one that can move", ranks: 3, make: func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7) }, 0, 1)
			m.rank(0).recv(worldID, 2, 7)
			m.rank(2).computes()
		}, verdict: Undecided, states: "WWR"},
		{name: "all threads hang", ranks: 2, make: func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7); r.recv(worldID, 1-r.me, 8) }, 0, 1)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
	})
}
