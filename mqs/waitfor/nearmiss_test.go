package waitfor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

func TestNearMisses(t *testing.T) {
	const start = "Rank 0 waits in MPI_Recv (a.c:10) for a message from rank 1 with tag 7 on MPI_COMM_WORLD, but "
	// Rank 0 waits for rank 1 and the other way round; what else there is differs.
	cycle := func(more func(m *made)) func(m *made) {
		return func(m *made) {
			if len(m.Processes) == 3 {
				m.comm(dupID, "halo exchange", 0, 1, 2)
			} else {
				m.comm(dupID, "halo exchange", 0, 1)
			}
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			if len(m.Processes) == 3 {
				m.rank(2).computes()
			}
			more(m)
		}
	}
	const never, receiver = "never received [1-2]: Rank 1 hangs, and has posted no receive for ", " (rank 1 is now in MPI_Recv (a.c:10), "
	for _, c := range []struct {
		name  string
		ranks int
		make  func(m *made)
		want  string
	}{
		{"another tag", 2, cycle(func(m *made) { m.rank(1).message(worldID, 0, 8) }),
			"tag [0-1]: " + start + "the one that has come from rank 1 has tag 8 (rank 1 is now in MPI_Recv (a.c:10))."},
		{"another tag that is yet to be sent", 2, cycle(func(m *made) { m.rank(1).isend(worldID, 0, 8, false) }),
			"tag [0-1]: " + start + "the one that rank 1 sends has tag 8 (rank 1 is now in MPI_Recv (a.c:10))."},
		{"another tag that a receive is posted for", 2, cycle(func(m *made) { m.rank(1).message(worldID, 0, 8); m.rank(0).irecv(worldID, 1, 8) }), none},
		{"another communicator", 2, cycle(func(m *made) { m.rank(1).message(dupID, 0, 7) }),
			"communicator [0-1]: " + start + `the one with tag 7 that has come from rank 1 is on "halo exchange" (rank 1 is now in MPI_Recv (a.c:10)).`},
		{"another communicator and another tag", 2, cycle(func(m *made) { m.rank(1).message(dupID, 0, 8) }),
			`never received [0-1]: Rank 0 hangs, and has posted no receive for a message from rank 1 with tag 8 on "halo exchange" (rank 0 is now in MPI_Recv (a.c:10), rank 1 is now in MPI_Recv (a.c:10)).`},
		{"another source", 3, cycle(func(m *made) { m.rank(2).message(worldID, 0, 7) }),
			"source [0,2]: " + start + "the one with tag 7 that has come is from rank 2 (rank 2 is now at a.c:99, in no MPI call)."},
		{"another source, but the right one has something too", 3, cycle(func(m *made) { m.rank(2).message(worldID, 0, 7); m.rank(1).message(worldID, 0, 8) }),
			"never received [0,2]: Rank 0 hangs, and has posted no receive for a message from rank 2 with tag 7 on MPI_COMM_WORLD (rank 0 is now in MPI_Recv (a.c:10), rank 2 is now at a.c:99, in no MPI call).\n" +
				"tag [0-1]: " + start + "the one that has come from rank 1 has tag 8 (rank 1 is now in MPI_Recv (a.c:10))."},
		{"nothing of the library's own", 2, cycle(func(m *made) {
			m.rank(1).message(worldID, 0, 8)
			m.rank(0).on(worldID).Queue[mqs.UnexpectedMessages].Operations[0].Internal = true
		}), none},
		{"nothing where all is well", 2, func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).message(worldID, 0, 8)
			m.rank(1).computes()
		}, none},
		{"truncation", 2, func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			r := m.rank(1)
			r.thread("MPI_Ssend", 11, r.isend(worldID, 0, 7, false))
			r.on(worldID).Queue[mqs.PendingSends].Operations[0].DesiredLength = mqs.Known(int64(9))
		}, "truncation [0-1]: The message from rank 1 with tag 7 on MPI_COMM_WORLD has 9 bytes, and the receive of rank 0 that it matches has room for 8 (rank 0 is now in MPI_Recv (a.c:10), rank 1 is now in MPI_Ssend (a.c:11))."},
		{"no truncation if another receive has room", 2, func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(0).irecv(worldID, wild, -1)
			m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[1].DesiredLength = mqs.Known(int64(9))
			r := m.rank(1)
			r.thread("MPI_Ssend", 11, r.isend(worldID, 0, 7, false))
			r.on(worldID).Queue[mqs.PendingSends].Operations[0].DesiredLength = mqs.Known(int64(9))
		}, none},
		{"truncation of one that has matched", 2, func(m *made) {
			m.rank(0).recv(worldID, wild, -1)
			op := &m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0]
			op.Status, op.ActualLocalRank, op.ActualTag, op.ActualLength = mqs.Matched, mqs.Known[int32](1), mqs.Known[int32](7), mqs.Known(int64(9))
			m.rank(1).computes()
		}, "truncation [0-1]: The message from rank 1 with tag 7 on MPI_COMM_WORLD has 9 bytes, and the receive of rank 0 that it matches has room for 8 (rank 0 is now in MPI_Recv (a.c:10), rank 1 is now at a.c:99, in no MPI call)."},
		{"receive from one that has exited", 2, func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).Phase = mqs.Exited
		}, "peer left [0-1]: " + start + "rank 1 has exited."},
		{"messages that nobody will receive", 2, func(m *made) {
			m.rank(1).computes()
			m.rank(1).message(worldID, 0, 7)
			m.rank(1).message(worldID, 0, 7)
			m.rank(0).enters(0, "MPI_Finalize")
		}, "never received [0-1]: Rank 0 is now in MPI_Finalize (a.c:20), but has not received 2 messages from rank 1 with tag 7 on MPI_COMM_WORLD (rank 1 is now at a.c:99, in no MPI call)."},
		{"a message to one that hangs", 3, cycle(func(m *made) { m.rank(2).message(worldID, 1, 9); m.rank(2).message(worldID, 1, 9) }), never + "2 messages from rank 2 with tag 9 on MPI_COMM_WORLD" + receiver + "rank 2 is now at a.c:99, in no MPI call)."},
		{"a message to one that hangs, yet to be sent", 3, cycle(func(m *made) { m.rank(2).isend(worldID, 1, 9, false) }), never + "a message from rank 2 with tag 9 on MPI_COMM_WORLD" + receiver + "rank 2 is now at a.c:99, in no MPI call)."},
		{"one that is both sent and there, and another that is there only", 3, cycle(func(m *made) { m.rank(2).isend(worldID, 1, 9, true); m.rank(2).message(worldID, 1, 9) }), never + "2 messages from rank 2 with tag 9 on MPI_COMM_WORLD" + receiver + "rank 2 is now at a.c:99, in no MPI call)."},
		{"a send into a circle", 3, cycle(func(m *made) {
			m.Processes[2].Threads = nil
			m.rank(2).send(worldID, 1, 9)
		}), never + "a message from rank 2 with tag 9 on MPI_COMM_WORLD" + receiver + "rank 2 is now in MPI_Send (a.c:11))."},
		{"a send to one that waits for a circle", 4, func(m *made) {
			m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7) }, 0, 1)
			m.rank(2).recv(worldID, 0, 7)
			m.rank(3).send(worldID, 2, 9)
		}, none},
		{"a circle of sends", 3, func(m *made) { m.each(func(r *madeRank) { r.send(worldID, (r.me+1)%3, 7) }, 0, 1, 2) }, none},
		{"different roots", 3, func(m *made) {
			for i := range 2 {
				x := m.rank(i)
				th := x.enters(worldID, "MPI_Bcast")
				th.Root = mqs.Known(int32(1 - i))
				x.inside(th, worldID, int32(1-i))
			}
			m.rank(2).computes()
		}, "collective [0-1]: The members of MPI_COMM_WORLD are in the same collective call with different roots: rank 0 is in MPI_Bcast (a.c:20) with root 1, rank 1 is in MPI_Bcast (a.c:20) with root 0."},
		{"many that are alike", 40, func(m *made) {
			m.each(func(r *madeRank) {
				r.recv(worldID, r.me^1, 7)
				r.message(worldID, r.me^1, 8)
			}, upTo(40)...)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(c.ranks)
			c.make(m)
			r := approve(t, "", Analyse(m.Snapshot))
			got := texts(r)
			switch {
			case c.want == "":
				if len(r.NearMisses) != maxSimilar || !strings.HasSuffix(r.NearMisses[0].Text, "; it is alike with others of ranks 8-39.") || len(r.NearMisses[0].Ranks) != 34 {
					t.Errorf("near misses:\n%s", got)
				}
			case c.want == none && got != "", c.want != none && got != c.want:
				t.Errorf("near misses:\n%s\nnot:\n%s", got, c.want)
			}
		})
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestNearMissesAreBounded(t *testing.T) {
	m := newMade(2)
	m.rank(1).recv(worldID, 0, 7)
	x := m.rank(0)
	th := x.thread("MPI_Waitall", 12)
	for i := range int32(maxNearMisses + 5) {
		th.Requests = append(th.Requests, x.irecv(worldID, 1, 100+i))
	}
	m.rank(1).message(worldID, 0, 1)
	r := Analyse(m.Snapshot)
	if len(r.NearMisses) != maxNearMisses || !strings.Contains(fmt.Sprint(r.Notes), `5 near misses of the kind "tag" are left out`) {
		t.Errorf("%d near misses, notes %q", len(r.NearMisses), r.Notes)
	}
}
