package waitfor

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Both sides of a near miss may be seen though no call is known to wait for the one, and
// though it is not known whether the job hangs.
func TestNearMissesOfPostedReceives(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		make  func(m *made)
		want  string
	}{
		{"a receive that was posted before a send that hangs", 2, func(m *made) {
			m.each(func(r *madeRank) { r.irecv(worldID, 1-r.me, 2); r.send(worldID, 1-r.me, 1) }, 0, 1)
		}, "tag [0-1]: Rank 0, which is now in MPI_Send (a.c:11), has a receive posted for a message from rank 1 with tag 2 on MPI_COMM_WORLD, but the one that has come from rank 1 has tag 1 (rank 1 is now in MPI_Send (a.c:11)).\n" +
			"tag [0-1]: Rank 1, which is now in MPI_Send (a.c:11), has a receive posted for a message from rank 0 with tag 2 on MPI_COMM_WORLD, but the one that has come from rank 0 has tag 1 (rank 0 is now in MPI_Send (a.c:11))."},
		{"several receives and one message", 2, func(m *made) {
			m.rank(0).irecv(worldID, 1, 2)
			m.rank(0).irecv(worldID, 1, 3)
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).send(worldID, 0, 1)
		}, "tag [0-1]: Rank 0 waits in MPI_Recv (a.c:10) for a message from rank 1 with tag 7 on MPI_COMM_WORLD, but the one that has come from rank 1 has tag 1 (rank 1 is now in MPI_Send (a.c:11))."},
		{"another communicator", 2, func(m *made) {
			m.comm(dupID, "dup", 0, 1)
			m.rank(0).irecv(dupID, 1, 2)
			m.rank(0).send(worldID, 1, 9)
			m.rank(1).send(worldID, 0, 2)
		}, "communicator [0-1]: Rank 0, which is now in MPI_Send (a.c:11), has a receive posted for a message from rank 1 with tag 2 on \"dup\", but the one with tag 2 that has come from rank 1 is on MPI_COMM_WORLD (rank 1 is now in MPI_Send (a.c:11))."},
		{"not of any source", 2, func(m *made) {
			m.rank(0).irecv(worldID, wild, 2)
			m.rank(0).send(worldID, 1, 1)
			m.rank(1).send(worldID, 0, 1)
		}, none},
		{"not of another source", 3, func(m *made) {
			m.each(func(r *madeRank) { r.irecv(worldID, 2, 1); r.send(worldID, 1-r.me, 1) }, 0, 1)
			m.rank(2).recv(worldID, 0, 9)
		}, none},
		{"not from one that goes on", 3, func(m *made) {
			m.each(func(r *madeRank) { r.irecv(worldID, 2, 5); r.send(worldID, 1-r.me, 1) }, 0, 1)
			m.rank(2).message(worldID, 0, 6)
			m.rank(2).computes()
		}, "never received [0,2]: Rank 0 hangs, and has posted no receive for a message from rank 2 with tag 6 on MPI_COMM_WORLD (rank 0 is now in MPI_Send (a.c:11), rank 2 is now at a.c:99, in no MPI call)."},
		{"not where the tag is not known", 2, func(m *made) {
			m.each(func(r *madeRank) { r.irecv(worldID, 1-r.me, 2); r.send(worldID, 1-r.me, 1) }, 0, 1)
			for i := range 2 {
				m.rank(i).on(worldID).Queue[mqs.PendingReceives].Operations[0].DesiredTag = mqs.Maybe[int32]{}
			}
		}, none},
		{"requests that are not known", 2, func(m *made) { sendrecvs(m, 0, 1) }, sendrecvMisses},
		{"a probe on a communicator that is not known", 2, func(m *made) {
			m.each(func(r *madeRank) {
				probe := r.thread("MPI_Mprobe", 12)
				probe.Source, probe.Tag = mqs.Known(1-r.me), mqs.Known[int32](5)
			}, 0, 1)
			m.rank(1).message(worldID, 0, 6)
			m.rank(0).message(worldID, 1, 5)
			m.rank(0).message(worldID, 1, 6)
		}, "tag [0-1]: Rank 0 waits in MPI_Mprobe (a.c:12) for a message with tag 5 on a communicator that is not known, but the one that has come from rank 1 has tag 6 on MPI_COMM_WORLD (rank 1 is now in MPI_Mprobe (a.c:12))."},
		{"a probe of which nothing is known", 2, func(m *made) {
			m.rank(0).thread("MPI_Probe", 12)
			m.rank(1).message(worldID, 0, 6)
			m.rank(1).recv(worldID, 0, 7)
		}, "never received [0-1]: Rank 0 waits in MPI_Probe (a.c:12), for which message is not known, and has posted no receive for a message from rank 1 with tag 6 on MPI_COMM_WORLD (rank 1 is now in MPI_Recv (a.c:10))."},
		{"a test, while something is not known", 3, func(m *made) {
			m.rank(0).irecv(worldID, 1, 5)
			m.rank(0).thread("MPI_Test", 9)
			m.rank(1).message(worldID, 0, 6)
			m.rank(1).thread("MPI_Barrier", 13)
			m.rank(2).thread("MPI_Barrier", 13)
		}, "tag [0-1]: Rank 0, which is now in MPI_Test (a.c:9), has a receive posted for a message from rank 1 with tag 5 on MPI_COMM_WORLD, but the one that has come from rank 1 has tag 6 (rank 1 is now in MPI_Barrier (a.c:13))."},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(c.ranks)
			c.make(m)
			r := approve(t, "", Analyse(m.Snapshot))
			want := strings.Trim(c.want, none)
			if got := texts(r); c.want == none && slices.ContainsFunc(r.NearMisses, func(n NearMiss) bool { return n.Kind != NeverReceived }) || c.want != none && got != want {
				t.Errorf("%s: near misses:\n%s\nnot:\n%s", r.Verdict, got, want)
			}
		})
	}
}

// sendrecvs lets two ranks be in MPI_Sendrecv, of which no request is known, for the wrong tags.
func sendrecvs(m *made, ranks ...int) {
	m.each(func(r *madeRank) {
		peer := int32(ranks[0] + ranks[1] - int(r.me))
		r.thread("MPI_Sendrecv", 12)
		r.irecv(worldID, peer, 2)
		r.message(worldID, peer, 1)
	}, ranks...)
}

const sendrecvMisses = "tag [0-1]: Rank 0, which is now in MPI_Sendrecv (a.c:12), has a receive posted for a message from rank 1 with tag 2 on MPI_COMM_WORLD, but the one that has come from rank 1 has tag 1 (rank 1 is now in MPI_Sendrecv (a.c:12)).\n" +
	"tag [0-1]: Rank 1, which is now in MPI_Sendrecv (a.c:12), has a receive posted for a message from rank 0 with tag 2 on MPI_COMM_WORLD, but the one that has come from rank 0 has tag 1 (rank 0 is now in MPI_Sendrecv (a.c:12))."

// Members of a communicator may be in different collectives by right, since some calls can be
// left early: only what can't be so is a near miss where it is not known that they hang.
func TestDifferentCollectivesThatMayBeRight(t *testing.T) {
	in := func(calls ...string) func(m *made) {
		return func(m *made) {
			for i, call := range calls {
				switch {
				case call == "":
					m.Processes[i].Threads, m.Processes[i].Unavailable = nil, "it can't be read"
				case strings.HasPrefix(call, "root "):
					m.rank(i).thread("MPI_Bcast", 20).Comm = mqs.Known(worldID)
					m.Processes[i].Threads[0].Root = mqs.Known(int32(call[5] - '0'))
				default:
					m.rank(i).thread(call, 20).Comm = mqs.Known(worldID)
				}
			}
		}
	}
	for _, c := range []struct {
		name      string
		make      func(m *made)
		confirmed []int
		misses    bool
	}{
		{"one left early", in("MPI_Reduce", "MPI_Scan", ""), nil, false},
		{"one left early, and nobody goes on", in("MPI_Reduce", "MPI_Scan", ""), []int{0, 1}, false},
		{"one may just have left", in("MPI_Barrier", "MPI_Allreduce", ""), nil, false},
		{"nobody can have left", in("MPI_Barrier", "MPI_Allreduce", ""), []int{0, 1}, true},
		{"only one is known not to have gone on", in("MPI_Barrier", "MPI_Allreduce", ""), []int{0}, false},
		{"all members are in collectives and none goes on", in("MPI_Reduce", "MPI_Scan", "MPI_Scan"), []int{0, 1, 2}, true},
		{"different roots", in("root 1", "root 0", "root 0"), []int{0, 1, 2}, true},
		{"different roots, while others are elsewhere", in("root 1", "root 0", ""), []int{0, 1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(3)
			c.make(m)
			j := newJob(m.Snapshot)
			for _, i := range c.confirmed {
				j.ranks[i].confirmed = true
			}
			r := j.decide().complete()
			got := texts(r)
			if isFound := slices.ContainsFunc(r.NearMisses, func(m NearMiss) bool { return m.Mismatch != "" }); isFound != c.misses || !c.misses && got != "" {
				t.Errorf("%s: near misses:\n%s", r.Verdict, got)
			}
			if r.Verdict == Deadlocked || r.Verdict == NoDeadlock {
				t.Errorf("the verdict is %q, so this shows nothing", r.Verdict)
			}
		})
	}
}

// What a rank asks for again and again is a near miss as what it waits for is: once it was
// seen to do so twice, and not where the job gets on.
func TestNearMissesOfPolls(t *testing.T) {
	tests := func(m *made) { // rank 0 tests a receive, and rank 1 has sent something else
		m.rank(0).irecv(worldID, 1, 5)
		m.rank(0).thread("MPI_Test", 9)
		m.rank(1).message(worldID, 0, 6)
		m.rank(1).recv(worldID, 0, 7)
	}
	asks := func(m *made) {
		m.rank(0).thread("MPI_Improbe", 9)
		m.rank(1).message(worldID, 0, 6)
		m.rank(1).recv(worldID, 0, 7)
	}
	waits := func(m *made) { // for one that computes
		m.rank(0).recv(worldID, 1, 7)
		m.rank(1).message(worldID, 0, 8)
		m.rank(1).computes()
	}
	for _, c := range []struct {
		name        string
		make, again func(m *made)
		looks       int
		verdict     Verdict
		want        string
	}{
		{"a test", tests, tests, 2, NoProgress,
			"tag [0-1]: Rank 0, which is now in MPI_Test (a.c:9), has a receive posted for a message from rank 1 with tag 5 on MPI_COMM_WORLD, but the one that has come from rank 1 has tag 6 (rank 1 is now in MPI_Recv (a.c:10))."},
		{"a probe", asks, asks, 2, NoProgress,
			"never received [0-1]: Rank 0, which asks for messages with MPI_Improbe and is now in MPI_Improbe (a.c:9), has posted no receive for a message from rank 1 with tag 6 on MPI_COMM_WORLD (rank 1 is now in MPI_Recv (a.c:10))."},
		{"what may come yet", waits, waits, 2, NoProgress, ""},
		{"one look", tests, nil, 1, Undecided, ""},
		{"the job gets on", tests, func(m *made) { tests(m); m.rank(1).Threads[0].Line = 11 }, 2, NoDeadlock, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			look := func(f func(m *made)) *mqs.Snapshot {
				m := newMade(2)
				f(m)
				for i, p := range m.Processes {
					p.PID = 100 + i
				}
				return m.Snapshot
			}
			r := approve(t, "", Analyse(look(c.make)))
			if c.looks > 1 {
				r = approve(t, "", AnalyseLive(look(c.again), past(look(c.make), 0, 1)))
			}
			if got := texts(r); r.Verdict != c.verdict || got != c.want {
				t.Errorf("%s (%s): near misses:\n%s\nnot %s:\n%s", r.Verdict, r.Why, got, c.verdict, c.want)
			}
		})
	}
}

// Where roots are not known, the library's own messages may show that they differ.
func TestRootsThatCanNotBeOne(t *testing.T) {
	in := func(call string) func(m *made) {
		return func(m *made) {
			for i := range int32(2) {
				x := m.rank(int(i))
				th := x.thread(call, 20)
				th.Comm = mqs.Known(worldID)
				x.inside(th, worldID, 1-i)
			}
		}
	}
	for call, want := range map[string]string{
		"MPI_Bcast":   "collective [0-1]: Ranks 0-1 wait in MPI_Bcast (a.c:20) on MPI_COMM_WORLD for each other's messages of this call, which goes by one root: they have not all given the same root and count.",
		"MPI_Barrier": "",
	} {
		m := newMade(2)
		in(call)(m)
		if r := approve(t, call, Analyse(m.Snapshot)); texts(r) != want || r.Verdict != Deadlocked && r.Verdict != DeadlockedUnless {
			t.Errorf("%s: %s: near misses:\n%s\nnot:\n%s", call, r.Verdict, texts(r), want)
		}
	}
}
