package waitfor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// twice analyses a made-up job that is the same at two looks, between which all of its ranks have run.
func twice(m *made) *Report {
	past := Past{Looks: 1, Watched: time.Second, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	for i, p := range m.Processes {
		p.PID = i + 1
		past.Earlier[p.PID], past.Ran[p.PID] = p, true
	}
	return AnalyseLive(m.Snapshot, past)
}

// leads lets the rank be in MPI_Intercomm_create, where it waits for a message of the other leader's.
func (r *madeRank) leads(from, tag int32, others ...inferior.Addr) {
	r.thread("MPI_Intercomm_create", 30, append(others, r.irecv(worldID, from, tag))...).AllRequests = false
}

// The leaders of MPI_Intercomm_create wait for each other's messages, as far as these are known: those that
// a call holds are its own and perhaps the program's, so that it hangs only if all of them never end.
func TestLeadersOfIntercommunicators(t *testing.T) {
	for name, c := range map[string]struct {
		make    func(m *made)
		look    func(m *made) *Report
		verdict Verdict
		cycles  string
		misses  string
	}{
		"the tags differ": {func(m *made) {
			m.rank(0).leads(1, 11)
			m.rank(1).leads(0, 12)
			m.rank(0).message(worldID, 1, 11)
			m.rank(1).message(worldID, 0, 12)
		}, twice, Deadlocked, "0-1: 0>1 1>0", "has tag 12"},
		"the tags differ, at one look": {func(m *made) {
			m.rank(0).leads(1, 11)
			m.rank(1).leads(0, 12)
		}, func(m *made) *Report { return Analyse(m.Snapshot) }, Unknown, "", ""},
		"a leader is missing": {func(m *made) {
			m.rank(0).leads(1, 11)
			m.rank(1).recv(worldID, 0, 7)
		}, twice, Deadlocked, "0-1: 0>1 1>0", ""},
		"the other leader computes": {func(m *made) {
			m.rank(0).leads(1, 11)
			m.rank(1).computes()
		}, twice, NoProgress, "", ""},
		"the message is there": {func(m *made) {
			m.rank(0).leads(1, 11)
			m.rank(1).recv(worldID, 0, 7)
			m.rank(1).message(worldID, 0, 11)
		}, twice, NoProgress, "", ""},
		"the call may wait for another rank": {func(m *made) {
			m.rank(0).leads(2, 11, m.rank(0).irecv(worldID, 1, 5))
			m.rank(1).recv(worldID, 0, 7)
			m.rank(2).computes()
		}, twice, Unknown, "", ""},
		"whom it waits for is not known": {func(m *made) {
			m.rank(0).thread("MPI_Intercomm_create", 30)
			m.rank(0).irecv(worldID, 1, 11)
			m.rank(1).recv(worldID, 0, 7)
		}, twice, Unknown, "", ""},
		"one request is in no queue": {func(m *made) {
			m.rank(0).leads(1, 11, unlisted)
			m.rank(1).recv(worldID, 0, 7)
		}, twice, Unknown, "", ""},
	} {
		m := newMade(3)
		c.make(m)
		m.each(func(r *madeRank) {
			if len(r.Threads) == 0 {
				r.computes()
			}
		}, 0, 1, 2)
		r := c.look(m)
		if r.Verdict != c.verdict || cycles(r) != c.cycles || !strings.Contains(texts(r), c.misses) {
			t.Errorf("%s: %s, %q: %s\n%s", name, r.Verdict, cycles(r), r.Why, texts(r))
		}
	}
}

// A call that makes or parts with worlds says what it waits for, if no message shows.
func TestWhatDynamicCallsLack(t *testing.T) {
	for call, want := range map[string]string{
		"MPI_Comm_spawn": spawnUnknown, "MPI_Comm_accept": acceptUnknown, "MPI_Comm_connect": connectUnknown,
		"MPI_Comm_join": joinUnknown, "MPI_Session_init": sessionUnknown, "MPI_Comm_disconnect": forWhomUnknown,
	} {
		m := newMade(2)
		m.rank(0).thread(call, 40)
		m.rank(1).recv(worldID, 0, 7)
		if r := twice(m); r.Verdict != Unknown || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %s: %s", call, r.Verdict, r.Why)
		}
	}
}

// The call that takes the buffer back waits for some of the sends that may be in it, and hangs only if all of them do.
func TestBufferDetach(t *testing.T) {
	for name, c := range map[string]struct {
		call    string
		make    func(m *made)
		look    func(m *made) *Report
		verdict Verdict
		cycles  string
	}{
		"one is never received": {"MPI_Buffer_detach", func(m *made) { m.rank(0).bsend(1, "bsend") }, twice, Deadlocked, "0-1: 0>1 1>0"},
		"one of two is never received": {"MPI_Buffer_detach", func(m *made) {
			m.rank(0).bsend(1, "bsend")
			m.rank(0).bsend(2, "ibsend")
		}, twice, Unknown, ""},
		"two are never received": {"MPI_Buffer_detach", func(m *made) {
			m.rank(0).bsend(1, "bsend")
			m.rank(0).bsend(1, "ibsend")
		}, twice, Deadlocked, "0-1: 0>1 1>0"},
		"one is complete for the program": {"MPI_Buffer_detach", func(m *made) {
			m.rank(0).bsend(1, "bsend")
			m.rank(0).bsend(2, "bsend_init")
			m.rank(0).on(worldID).Queue[mqs.PendingSends].Operations[1].Status = mqs.Complete
		}, twice, Unknown, ""},
		"it is another send":  {"MPI_Buffer_detach", func(m *made) { m.rank(0).bsend(1, "isend") }, twice, Unknown, ""},
		"a kind is not known": {"MPI_Buffer_detach", func(m *made) { m.rank(0).bsend(1, "") }, twice, Deadlocked, "0-1: 0>1 1>0"},
		"a kind is not known, at one look": {"MPI_Buffer_detach", func(m *made) { m.rank(0).bsend(1, "") },
			func(m *made) *Report { return Analyse(m.Snapshot) }, Unknown, ""},
		"one look": {"MPI_Buffer_detach", func(m *made) { m.rank(0).bsend(1, "bsend") },
			func(m *made) *Report { return Analyse(m.Snapshot) }, Unknown, ""},
		"a kind is not known, of two": {"MPI_Buffer_detach", func(m *made) {
			m.rank(0).bsend(1, "")
			m.rank(0).bsend(2, "")
		}, twice, Unknown, ""},
		"a buffer of a communicator": {"MPI_Comm_detach_buffer", func(m *made) {
			m.rank(0).bsend(1, "bsend")
			m.rank(0).bsend(2, "bsend")
		}, twice, Unknown, ""},
		"no sends": {"MPI_Buffer_detach", func(*made) {}, twice, Unknown, ""},
		"the sends can't be read": {"MPI_Buffer_detach", func(m *made) {
			m.rank(0).bsend(1, "bsend")
			m.rank(0).on(worldID).Queue[mqs.PendingSends].Incomplete = true
		}, twice, Unknown, ""},
	} {
		m := newMade(3)
		c.make(m)
		m.rank(0).thread(c.call, 50)
		m.rank(1).recv(worldID, 0, 9)
		m.rank(2).computes()
		if r := c.look(m); r.Verdict != c.verdict || cycles(r) != c.cycles {
			t.Errorf("%s: %s, %q: %s", name, r.Verdict, cycles(r), r.Why)
		}
	}
}

// bsend leaves a send of a kind, whose message lies with the receiver.
func (r *madeRank) bsend(to int32, kind string) {
	r.isend(worldID, to, 7, true)
	ops := r.on(worldID).Queue[mqs.PendingSends].Operations
	ops[len(ops)-1].Kind = kind
}

// Ranks in MPI_Init wait for those that have not called it, which is no deadlock.
func TestWhoHasNotCalledInit(t *testing.T) {
	m := newMade(3)
	m.each(func(r *madeRank) {
		r.Phase, r.Unavailable, r.Communicators = mqs.Starting, "It has no queues yet.", nil
		if r.me < 2 {
			r.thread("MPI_Init", 5)
		} else {
			r.computes()
		}
	}, 0, 1, 2)
	r := twice(m)
	if r.Verdict != NoProgress || !strings.Contains(r.Why, "rank 2 has not called it. Rank 2 computes in compute (a.c:99).") {
		t.Errorf("%s: %s", r.Verdict, r.Why)
	}
	if !slices.ContainsFunc(r.Edges, func(e Edge) bool { return e.Text == "MPI_Init on MPI_COMM_WORLD" }) {
		t.Errorf("edges: %+v", r.Edges)
	}
	m.Processes[2].Phase = mqs.Exited
	if r := twice(m); r.Verdict == Deadlocked {
		t.Errorf("a rank that has exited before it called MPI_Init: %s: %s", r.Verdict, r.Why)
	}
}

// A persistent request of the peer that would meet what hangs is told, and no other one.
func TestNotStarted(t *testing.T) {
	fits := mqs.InactiveRequest{Kind: "send_init", Comm: worldID, Peer: mqs.Known[int32](0), Tag: mqs.Known[int32](7)}
	for name, c := range map[string]struct {
		change func(q *mqs.InactiveRequest)
		want   bool
	}{
		"it fits":                {func(*mqs.InactiveRequest) {}, true},
		"another communicator":   {func(q *mqs.InactiveRequest) { q.Comm = dupID }, false},
		"another peer":           {func(q *mqs.InactiveRequest) { q.Peer.Value = 1 }, false},
		"another tag":            {func(q *mqs.InactiveRequest) { q.Tag.Value = 8 }, false},
		"a tag that isn't known": {func(q *mqs.InactiveRequest) { q.Tag.Known = false }, false},
		"a receive":              {func(q *mqs.InactiveRequest) { q.Kind = "recv_init" }, false},
	} {
		m := newMade(2)
		q := fits
		c.change(&q)
		m.rank(0).recv(worldID, 1, 7)
		m.rank(1).recv(worldID, 0, 9)
		m.rank(1).Inactive = []mqs.InactiveRequest{q}
		r := Analyse(m.Snapshot)
		if got := slices.ContainsFunc(r.NearMisses, func(n NearMiss) bool { return n.Kind == NotStarted }); got != c.want {
			t.Errorf("%s: %t\n%s", name, got, texts(r))
		}
	}
	m := newMade(2) // a receive from any source, with any tag, would have met a send
	m.rank(0).send(worldID, 1, 7)
	m.rank(1).recv(worldID, 0, 9)
	m.rank(1).Inactive = []mqs.InactiveRequest{{Kind: "recv_init", Comm: worldID, Peer: mqs.Known(int32(wild)), Tag: mqs.Known[int32](-1)}}
	if r := Analyse(m.Snapshot); !strings.Contains(texts(r), "rank 1 has made a persistent receive for it that is not started") {
		t.Errorf("a send: %s\n%s", r.Why, texts(r))
	}
}

// An operation that the library is to end with an error proves nothing.
func TestOperationsThatAreToFail(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *madeRank)
		note   string
		want   Verdict
	}{
		"nothing is known":       {func(*madeRank) {}, "", Deadlocked},
		"nobody has failed":      {func(r *madeRank) { r.on(worldID).Failed = []int32{} }, "", Deadlocked},
		"the peer has failed":    {func(r *madeRank) { r.on(worldID).Failed = []int32{1} }, "Rank 1 has failed, as the MPI of other ranks knows.", Unknown},
		"another one has failed": {func(r *madeRank) { r.on(worldID).Failed = []int32{2} }, "Rank 2 has failed, as the MPI of other ranks knows.", Deadlocked},
		"it is revoked":          {func(r *madeRank) { r.on(worldID).Revoked = mqs.Known(true) }, "MPI_COMM_WORLD is revoked, as is known to rank 0.", Unknown},
		"it is not revoked":      {func(r *madeRank) { r.on(worldID).Revoked = mqs.Known(false) }, "", Deadlocked},
	} {
		m := newMade(3)
		m.rank(0).recv(worldID, 1, 7)
		m.each(func(r *madeRank) { r.Phase, r.Threads = mqs.Exited, nil }, 1, 2)
		c.change(m.rank(0))
		if r := Analyse(m.Snapshot); r.Verdict != c.want || c.note != "" && !slices.Contains(r.Notes, c.note) {
			t.Errorf("%s: %s: %s %q", name, r.Verdict, r.Why, r.Notes)
		}
	}
}

// A job that a rank is ending is said to be.
func TestAborting(t *testing.T) {
	m := newMade(2)
	m.rank(0).recv(worldID, 1, 7)
	m.rank(1).thread("MPI_Abort", 60)
	if r := twice(m); r.Verdict == Deadlocked || !slices.Contains(r.Notes, "Rank 1 is in MPI_Abort: the job is being ended.") {
		t.Errorf("%s: %s %q", r.Verdict, r.Why, r.Notes)
	}
}
