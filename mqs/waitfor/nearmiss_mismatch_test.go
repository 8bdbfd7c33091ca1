package waitfor

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// What members of a communicator do differently is said by a fixed name, the culprits first where most do the
// same.
func TestMismatches(t *testing.T) {
	enter := func(call string, line int, of func(r *madeRank, t *mqs.Thread)) func(r *madeRank) {
		return func(r *madeRank) {
			t := r.enters(worldID, call)
			if t.Line = line; of != nil {
				of(r, t)
			}
		}
	}
	length := func(bytes int64) func(*madeRank, *mqs.Thread) {
		return func(_ *madeRank, t *mqs.Thread) { t.Length = mqs.Known(bytes) }
	}
	datatype := func(name string, bytes int64) func(*madeRank, *mqs.Thread) {
		return func(_ *madeRank, t *mqs.Thread) { t.Datatype, t.Length = mqs.Known(name), mqs.Known(bytes) }
	}
	operation := func(name string) func(*madeRank, *mqs.Thread) {
		return func(_ *madeRank, t *mqs.Thread) { t.Operation = mqs.Known(name) }
	}
	// each rank waits for the next one's message of the call
	around := func(of func(r *madeRank, t *mqs.Thread)) func(r *madeRank, t *mqs.Thread) {
		return func(r *madeRank, t *mqs.Thread) {
			r.inside(t, worldID, (r.me+1)%int32(len(r.of.Processes)))
			of(r, t)
		}
	}
	root := func(local int32) func(*madeRank, *mqs.Thread) {
		return func(_ *madeRank, t *mqs.Thread) { t.Root = mqs.Known(local) }
	}
	for _, c := range []struct {
		name     string
		ranks    int
		make     func(m *made)
		mismatch Mismatch // none if there is none
		culprits []int32
		text     string
	}{
		{"one of four in another call", 4, func(m *made) {
			m.each(enter("MPI_Allreduce", 80, nil), 0, 2, 3)
			m.each(enter("MPI_Barrier", 12, nil), 1)
		}, DifferentCall, []int32{1}, "Rank 1 is in MPI_Barrier (a.c:12), but 3 of 4 ranks of MPI_COMM_WORLD (0, 2-3) are in MPI_Allreduce (a.c:80): there is the mistake."},
		{"the same call at two lines", 4, func(m *made) {
			m.each(enter("MPI_Allreduce", 80, nil), 0, 2)
			m.each(enter("MPI_Allreduce", 81, nil), 3)
			m.each(enter("MPI_Barrier", 12, nil), 1)
		}, DifferentCall, []int32{1}, "Rank 1 is in MPI_Barrier (a.c:12), but 3 of 4 ranks of MPI_COMM_WORLD (0, 2-3) are in MPI_Allreduce (a.c:80), MPI_Allreduce (a.c:81): there is the mistake."},
		{"two against two", 4, func(m *made) {
			m.each(enter("MPI_Allreduce", 80, nil), 0, 1)
			m.each(enter("MPI_Barrier", 12, nil), 2, 3)
		}, DifferentCall, nil, "The members of MPI_COMM_WORLD are in different collective calls: ranks 0-1 are in MPI_Allreduce (a.c:80), ranks 2-3 are in MPI_Barrier (a.c:12)."},
		{"three calls, none of most", 3, func(m *made) {
			m.each(enter("MPI_Allreduce", 80, nil), 0)
			m.each(enter("MPI_Barrier", 12, nil), 1)
			m.each(enter("MPI_Allgather", 9, nil), 2)
		}, DifferentCall, nil, "The members of MPI_COMM_WORLD are in different collective calls: rank 0 is in MPI_Allreduce (a.c:80), rank 1 is in MPI_Barrier (a.c:12), rank 2 is in MPI_Allgather (a.c:9)."},
		{"one that receives from another that waits for it", 4, func(m *made) {
			m.each(enter("MPI_Barrier", 20, nil), 0, 1, 2)
			m.rank(3).recv(worldID, 1, 7)
		}, NotEntered, []int32{3}, "Rank 3 has not entered MPI_Barrier (a.c:20), in which 3 of 4 ranks of MPI_COMM_WORLD (0-2) wait: rank 3 is now in MPI_Recv (a.c:10)."},
		{"two that receive from others that wait for them", 5, func(m *made) {
			m.each(enter("MPI_Barrier", 20, nil), 0, 1, 2)
			m.each(func(r *madeRank) { r.recv(worldID, r.me-2, 7) }, 3, 4)
		}, NotEntered, []int32{3, 4}, "Ranks 3-4 have not entered MPI_Barrier (a.c:20), in which 3 of 5 ranks of MPI_COMM_WORLD (0-2) wait: ranks 3-4 are now in MPI_Recv (a.c:10)."},
		{"one in a call of that name on a communicator that is not known", 4, func(m *made) {
			m.each(enter("MPI_Barrier", 20, func(r *madeRank, t *mqs.Thread) { r.inside(t, worldID, 3) }), 0, 1, 2)
			x := m.rank(3)
			x.inside(x.enters(0, "MPI_Barrier"), worldID, 0)
		}, "", nil, ""},
		{"half of them wait", 4, func(m *made) {
			m.each(enter("MPI_Barrier", 20, nil), 0, 1)
			m.each(func(r *madeRank) { r.recv(worldID, r.me-2, 7) }, 2, 3)
		}, "", nil, ""},
		{"most members of an intercommunicator wait", 3, func(m *made) {
			m.inter()
			m.each(func(r *madeRank) { r.enters(dupID, "MPI_Barrier") }, 0, 1)
			m.rank(2).recv(worldID, 0, 7)
		}, "", nil, ""},
		{"two that wait for each other, which the others have nothing to do with", 5, func(m *made) {
			m.each(enter("MPI_Barrier", 20, nil), 0, 1, 2)
			m.each(func(r *madeRank) { r.recv(worldID, 7-r.me, 7) }, 3, 4)
		}, "", nil, ""},
		{"a member that computes", 3, func(m *made) {
			m.each(enter("MPI_Barrier", 20, nil), 0, 1)
			m.rank(2).computes()
		}, "", nil, ""},
		{"a call that may be left early", 3, func(m *made) {
			m.each(enter("MPI_Alltoallv", 20, nil), 0, 1)
			m.rank(2).recv(worldID, 0, 7)
		}, "", nil, ""},
		{"lengths", 3, func(m *made) {
			m.each(enter("MPI_Allreduce", 20, around(length(64))), 0, 1)
			m.each(enter("MPI_Allreduce", 20, around(length(80))), 2)
		}, DifferentSize, []int32{2}, "Rank 2 is in MPI_Allreduce (a.c:20) with 80 bytes, but 2 of 3 ranks of MPI_COMM_WORLD (0-1) are in MPI_Allreduce (a.c:20) with 64 bytes: there is the mistake."},
		{"lengths of two ranks", 2, func(m *made) {
			m.each(enter("MPI_Allreduce", 20, around(length(64))), 0)
			m.each(enter("MPI_Allreduce", 20, around(length(80))), 1)
		}, DifferentSize, nil, "The members of MPI_COMM_WORLD are in the same collective call with different lengths of data: rank 0 is in MPI_Allreduce (a.c:20) with 64 bytes, rank 1 is in MPI_Allreduce (a.c:20) with 80 bytes."},
		{"a length that is not known", 2, func(m *made) {
			m.each(enter("MPI_Allreduce", 20, around(length(64))), 0)
			m.each(enter("MPI_Allreduce", 20, around(func(*madeRank, *mqs.Thread) {})), 1)
		}, "", nil, ""},
		{"types, and lengths because of them", 3, func(m *made) {
			m.each(enter("MPI_Allreduce", 20, around(datatype("MPI_INT", 4))), 0, 1)
			m.each(enter("MPI_Allreduce", 20, around(datatype("MPI_DOUBLE", 8))), 2)
		}, DifferentDatatype, []int32{2}, "Rank 2 is in MPI_Allreduce (a.c:20) with MPI_DOUBLE, but 2 of 3 ranks of MPI_COMM_WORLD (0-1) are in MPI_Allreduce (a.c:20) with MPI_INT: there is the mistake."},
		{"types of the program's own, which may be alike", 2, func(m *made) {
			m.each(enter("MPI_Allreduce", 20, around(datatype("row", 8))), 0)
			m.each(enter("MPI_Allreduce", 20, around(datatype("MPI_DOUBLE", 8))), 1)
		}, "", nil, ""},
		{"operations", 3, func(m *made) {
			m.each(enter("MPI_Allreduce", 20, around(operation("MPI_SUM"))), 0, 2)
			m.each(enter("MPI_Allreduce", 20, around(operation("MPI_MAX"))), 1)
		}, DifferentOperation, []int32{1}, "Rank 1 is in MPI_Allreduce (a.c:20) with MPI_MAX, but 2 of 3 ranks of MPI_COMM_WORLD (0, 2) are in MPI_Allreduce (a.c:20) with MPI_SUM: there is the mistake."},
		{"roots, all members in the call", 3, func(m *made) {
			m.each(enter("MPI_Bcast", 20, around(root(0))), 0, 2)
			m.each(enter("MPI_Bcast", 20, around(root(2))), 1)
		}, DifferentRoot, []int32{1}, "Rank 1 is in MPI_Bcast (a.c:20) with root 2, but 2 of 3 ranks of MPI_COMM_WORLD (0, 2) are in MPI_Bcast (a.c:20) with root 0: there is the mistake."},
		{"roots, of which the library's own communicator has the messages", 3, func(m *made) {
			m.comm(dupID, "", 0, 1, 2)
			on := func(local int32) func(r *madeRank, t *mqs.Thread) {
				return func(r *madeRank, t *mqs.Thread) {
					r.inside(t, dupID, (r.me+1)%3)
					t.Root = mqs.Known(local)
				}
			}
			m.each(enter("MPI_Bcast", 20, on(0)), 0, 2)
			m.each(enter("MPI_Bcast", 20, on(2)), 1)
		}, DifferentRoot, []int32{1}, "Rank 1 is in MPI_Bcast (a.c:20) with root 2, but 2 of 3 ranks of MPI_COMM_WORLD (0, 2) are in MPI_Bcast (a.c:20) with root 0: there is the mistake."},
		{"lengths of a broadcast that a member may be in for the second time", 3, func(m *made) {
			m.each(enter("MPI_Bcast", 20, func(r *madeRank, t *mqs.Thread) {
				r.inside(t, worldID, 2)
				t.Length = mqs.Known(int64(8 * r.me))
			}), 0, 1)
			m.rank(2).recv(worldID, 0, 7)
		}, "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMade(c.ranks)
			c.make(m)
			r := Analyse(m.Snapshot)
			var got []NearMiss
			for _, miss := range r.NearMisses {
				if miss.Mismatch != "" {
					got = append(got, miss)
				}
			}
			switch {
			case c.mismatch == "" && len(got) > 0, c.mismatch != "" && len(got) != 1:
				t.Errorf("%s: %+v", r.Verdict, got)
			case c.mismatch != "" && (got[0].Mismatch != c.mismatch || !slices.Equal(got[0].Culprits, c.culprits) || got[0].Text != c.text):
				t.Errorf("%s: %+v\nnot:\n%s %v %s", r.Verdict, got, c.mismatch, c.culprits, c.text)
			}
		})
	}
}
