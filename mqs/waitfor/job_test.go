package waitfor

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

func TestRanges(t *testing.T) {
	for want, ranks := range map[string][]int32{"": {}, "4": {4}, "0-1": {0, 1}, "0-3,6": {0, 1, 2, 3, 6}, "1,3,5-7": {1, 3, 5, 6, 7}} {
		if got := Ranges(ranks); got != want {
			t.Errorf("%v: %q, not %q", ranks, got, want)
		}
	}
	for want, ranks := range map[string][]int32{"no ranks": {}, "rank 4": {4}, "ranks 0-3, 6": {0, 1, 2, 3, 6}} {
		if got := rankWords(ranks); got != want {
			t.Errorf("%v: %q, not %q", ranks, got, want)
		}
	}
	var odd []int32
	for i := range int32(100) {
		odd = append(odd, 2*i+1)
	}
	if got := rankWords(odd); !strings.HasSuffix(got, "23, … (100 ranks)") {
		t.Error(got)
	}
}

func TestGroupsAndEdges(t *testing.T) {
	m := newMade(6)
	m.comm(dupID, "halo exchange", 0, 1)
	m.rank(0).recv(dupID, 1, 7)
	m.rank(1).recv(dupID, 0, 7)
	m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 2, 3)
	m.rank(4).computes()
	m.rank(5).recv(worldID, wild, -1)
	callers := []mqs.Caller{{Function: "close", Object: "/lib/libio.so.1"}, {Function: "save", File: "/src/io.c", Line: 7}}
	m.rank(5).Threads[0].Callers = callers
	r := Analyse(m.Snapshot)
	want := []Group{
		{Ranks: []int32{0, 1}, State: InDeadlock, Text: `MPI_Recv on "halo exchange" at a.c:10`, Communicator: "halo exchange"},
		{Ranks: []int32{2, 3}, State: Stuck, Text: "MPI_Barrier on MPI_COMM_WORLD at a.c:20", Communicator: world},
		{Ranks: []int32{4}, State: Running, Text: "in compute at a.c:99 (no MPI call)"},
		{Ranks: []int32{5}, State: Waiting, Text: "MPI_Recv on MPI_COMM_WORLD, called by close (libio) from save at io.c:7", Communicator: world, Callers: callers},
	}
	for i, g := range r.Groups {
		if !slices.Equal(g.Ranks, want[i].Ranks) || g.State != want[i].State || g.Text != want[i].Text || g.Communicator != want[i].Communicator || !slices.Equal(g.Callers, want[i].Callers) {
			t.Errorf("group %d is %+v, not %+v", i, g, want[i])
		}
	}
	recv, none := mqs.Known(mqs.PendingReceives), mqs.Maybe[mqs.OpClass]{}
	edges := []Edge{
		{0, 0, recv, 2, true, `tag 7 on "halo exchange"`},
		{1, 0, none, 4, false, "MPI_Barrier on MPI_COMM_WORLD"},
		{1, 2, none, 2, false, "MPI_Barrier on MPI_COMM_WORLD"},
		{1, 3, none, 2, false, "MPI_Barrier on MPI_COMM_WORLD"},
		{3, 0, recv, 2, false, "any message on MPI_COMM_WORLD"},
		{3, 1, recv, 2, false, "any message on MPI_COMM_WORLD"},
		{3, 2, recv, 1, false, "any message on MPI_COMM_WORLD"},
	}
	if !slices.Equal(r.Edges, edges) {
		t.Errorf("edges %+v", r.Edges)
	}
	w := r.Deadlocks[0].Cycle[0]
	if !reflect.DeepEqual(w, Wait{Rank: 0, For: 1, Class: recv, Operation: `receive from rank 1, tag 7, on "halo exchange"`, Call: "MPI_Recv", Function: "main", File: "/src/a.c", Line: 10}) {
		t.Errorf("the first wait is %+v", w)
	}
	if len(r.Ranks) != 6 || r.Ranks[5].Group != 3 || r.Ranks[5].Process != m.Processes[5] || !r.WorldSize.Known || r.WorldSize.Value != 6 {
		t.Errorf("ranks %+v of %v", r.Ranks, r.WorldSize)
	}
}

// TestTwoOfARank checks that the second of two processes that claim one rank is left out, and that the report says so. No
// script can make up such a job, nor one without processes.
func TestTwoOfARank(t *testing.T) {
	m := newMade(2)
	m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7) }, 0, 1)
	m.Processes = append(m.Processes, m.Processes[1])
	if r := Analyse(m.Snapshot); r.Verdict != Deadlocked || !slices.Equal(r.Notes, []string{"More than one process claims to be rank 1: the first is taken."}) {
		t.Errorf("%q: %s, notes %q", r.Verdict, r.Why, r.Notes)
	}
	if r := Analyse(&mqs.Snapshot{}); r.Verdict != Unknown || r.Why != "Nothing could be read of any rank." || r.WorldSize.Known {
		t.Errorf("no process: %q: %s", r.Verdict, r.Why)
	}
}

// How many ranks a job has is what its processes say, and is doubted where they can't be right.
func TestWorldSize(t *testing.T) {
	process := func(rank, size int32) *mqs.Process {
		return &mqs.Process{PID: 7, GlobalRank: mqs.Maybe[int32]{Value: rank, Known: rank >= 0}, WorldSize: mqs.Maybe[int32]{Value: size, Known: size >= 0}}
	}
	named := func(size mqs.Maybe[int32], members int) *mqs.Process {
		return &mqs.Process{Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{Name: mqs.Known("other"), Size: mqs.Known[int32](9)}},
			{Communicator: mqs.Communicator{Name: mqs.Known(world), Size: size, Group: make([]mqs.Maybe[int32], members)}}}}
	}
	for name, c := range map[string]struct {
		processes []*mqs.Process
		want      int
		isKnown   bool
		note      string
	}{
		"as they say":                {[]*mqs.Process{process(0, 3), process(2, 3)}, 3, true, ""},
		"one does not say":           {[]*mqs.Process{process(0, -1), process(1, 3)}, 3, true, ""},
		"nobody says":                {[]*mqs.Process{process(0, -1), process(4, -1)}, 5, false, ""},
		"nobody says anything":       {[]*mqs.Process{process(-1, -1)}, 0, false, ""},
		"they differ":                {[]*mqs.Process{process(0, 2), process(1, 3)}, 3, true, "The processes do not agree on how many ranks"},
		"the last rank":              {[]*mqs.Process{process(2, 3)}, 3, true, ""},
		"one behind the last":        {[]*mqs.Process{process(3, 3)}, 4, true, "There is a rank 3 in a job of 3."},
		"as many as may be":          {[]*mqs.Process{process(0, claimedRanks)}, claimedRanks, true, ""},
		"more than may be":           {[]*mqs.Process{process(0, claimedRanks+1)}, 0, false, "of which the snapshot has too few"},
		"more than any job has":      {[]*mqs.Process{process(0, maxRanks+1)}, 0, false, "which can't be right"},
		"of a rank that none has":    {[]*mqs.Process{process(claimedRanks, -1)}, 0, false, ""},
		"of a rank that one can be":  {[]*mqs.Process{process(claimedRanks-1, -1)}, claimedRanks, false, ""},
		"by MPI_COMM_WORLD":          {[]*mqs.Process{named(mqs.Known[int32](4), 0)}, 4, true, ""},
		"by MPI_COMM_WORLD's group":  {[]*mqs.Process{named(mqs.Maybe[int32]{}, 5)}, 5, true, ""},
		"by MPI_COMM_WORLD, unknown": {[]*mqs.Process{named(mqs.Maybe[int32]{}, 0)}, 0, false, ""},
	} {
		var j job
		got := j.worldSize(&mqs.Snapshot{Processes: c.processes})
		notes := strings.Join(j.notes, " ")
		if got != c.want || j.worldKnown != c.isKnown || (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s: %d, known: %t, notes %q", name, got, j.worldKnown, notes)
		}
	}
}
