package waitfor

import (
	"fmt"
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

// TestCommunicators takes head to head sends, which are a deadlock only if the
// messages are found on the same communicator.
func TestCommunicators(t *testing.T) {
	sends := func(change func(m *made)) func(m *made) {
		return func(m *made) {
			m.comm(dupID, "dup", 0, 1)
			m.each(func(r *madeRank) { r.send(dupID, 1-r.me, 7) }, 0, 1)
			change(m)
		}
	}
	all := func(change func(q *mqs.Queues)) func(m *made) {
		return sends(func(m *made) {
			for _, p := range m.Processes {
				for _, q := range p.Communicators {
					change(q)
				}
			}
		})
	}
	found := verdictCase{ranks: 2, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"}
	cases := []verdictCase{
		{name: "by context and groups", make: all(func(*mqs.Queues) {})},
		{name: "ids differ", make: sends(func(m *made) { m.rank(1).on(dupID).UniqueID = 0x77 })},
		{name: "by name, size and groups", make: all(func(q *mqs.Queues) { q.Context = "" })},
		{name: "without groups, as large as the world", make: all(func(q *mqs.Queues) { q.Group = nil })},
		{name: "without local ranks", make: all(func(q *mqs.Queues) { q.LocalRank = mqs.Maybe[int32]{} })},
		{name: "by place among those of a name", make: sends(func(m *made) {
			for _, p := range m.Processes {
				other := *p.Communicators[1]
				other.Queue = [3]*mqs.Queue{{}, {}, {}}
				other.UniqueID++
				p.Communicators = slices.Insert(p.Communicators, 1, &other)
				for _, q := range p.Communicators {
					q.Context = ""
				}
			}
		})},
		{name: "contexts are known of one only", make: sends(func(m *made) {
			for _, q := range m.Processes[0].Communicators {
				q.Context = ""
			}
		})},
	}
	for i := range cases {
		name, make := cases[i].name, cases[i].make
		cases[i] = found
		cases[i].name, cases[i].make = name, make
	}
	// Of another context it is another, and a message on it proves nothing.
	cases = append(cases, verdictCase{name: "contexts differ", ranks: 2, make: sends(func(m *made) { m.rank(1).on(dupID).Context = "9" }),
		verdict: Unknown, states: "WW", why: takenUnknown},
		verdictCase{name: "a message on another of the same name", ranks: 2, make: func(m *made) {
			m.comm(dupID, "dup", 0, 1)
			m.comm(dupID+1, "dup", 0, 1)
			for _, p := range m.Processes {
				for _, q := range p.Communicators {
					q.Context = ""
				}
			}
			m.each(func(r *madeRank) { r.recv(dupID, 1-r.me, 7) }, 0, 1)
			m.rank(0).isend(dupID+1, 1, 7, false)
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		verdictCase{name: "neither group nor size", ranks: 3, make: func(m *made) {
			m.comm(dupID, "dup", 0, 1)
			m.each(func(r *madeRank) { r.send(dupID, 1-r.me, 7) }, 0, 1)
			m.rank(0).on(dupID).Group, m.rank(1).on(dupID).Group = nil, nil
			m.rank(2).computes()
		}, verdict: Unknown, states: "WWR", why: membersUnknown},
		verdictCase{name: "local ranks are not global ones", ranks: 3, make: func(m *made) {
			m.comm(dupID, "turned", 2, 1, 0)
			m.rank(0).recv(dupID, 0, 7) // from rank 2
			m.rank(2).recv(dupID, 2, 7) // from rank 0
			m.rank(1).computes()
		}, verdict: Deadlocked, states: "DRD", cycles: "0,2: 0>2 2>0"},
		verdictCase{name: "peers of another world", ranks: 2, make: func(m *made) {
			m.comm(dupID, "spawned", 0, 1)
			m.rank(0).on(dupID).Group = []mqs.Maybe[int32]{mqs.Known[int32](0), {}}
			m.rank(0).recv(dupID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
		}, verdict: Unknown, states: "WW", why: peerUnknown},
		verdictCase{name: "peers of a world of their own", ranks: 2, make: func(m *made) {
			m.comm(dupID, "spawned", 0, 1)
			for i := range 2 {
				q := m.rank(i).on(dupID)
				q.Inter, q.RemoteGroup = mqs.Known(true), []mqs.Maybe[int32]{{}, {}}
				m.rank(i).recv(dupID, 1, 7)
			}
		}, verdict: Unknown, states: "WW", why: `its peer, rank 1 of "spawned", is not known as a rank of this job, and may be of another`},
		verdictCase{name: "any message of an intercommunicator", ranks: 3, make: func(m *made) {
			m.inter()
			m.rank(0).recv(dupID, wild, 7)
			m.rank(1).recv(dupID, 0, 7)
			m.rank(2).recv(dupID, 0, 7)
			// Local rank 0 of the other side has sent, and not 0 of this one.
			m.rank(0).add(worldID, mqs.UnexpectedMessages, mqs.PendingOperation{Status: mqs.Pending, ActualLocalRank: mqs.Known[int32](0), ActualTag: mqs.Known[int32](7)})
		}, verdict: Deadlocked, states: "DDD", cycles: "0-2: 0>1 1>0"},
	)
	check(t, cases)
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
	r := approve(t, "", Analyse(m.Snapshot))
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

func TestOddSnapshots(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *made)
		note   string
	}{
		"a rank twice":        {func(m *made) { m.Processes = append(m.Processes, m.Processes[1]) }, "More than one process claims to be rank 1: the first is taken."},
		"a rank not known":    {func(m *made) { m.Processes[1].GlobalRank.Known = false }, "its rank is not known"},
		"a rank that is none": {func(m *made) { m.Processes[1].GlobalRank.Value = -4 }, "it claims to be rank -4"},
		"a rank too high":     {func(m *made) { m.Processes[1].GlobalRank.Value = 7 }, "There is a rank 7 in a job of 2"},
		"a world too large":   {func(m *made) { m.Processes[1].WorldSize.Value = 2e9 }, "which can't be right"},
		"two worlds":          {func(m *made) { m.Processes[1].WorldSize.Value = 3 }, "do not agree"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMade(2)
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).recv(worldID, 0, 7)
			c.change(m)
			r := approve(t, "", Analyse(m.Snapshot))
			if !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
	if r := approve(t, "no process", Analyse(&mqs.Snapshot{})); r.Verdict != Unknown {
		t.Errorf("nothing is %q", r.Verdict)
	}
	m := newMade(2)
	for _, p := range m.Processes {
		p.WorldSize.Known = false
	}
	if r := approve(t, "no size is told", Analyse(m.Snapshot)); r.WorldSize != mqs.Known[int32](2) {
		t.Errorf("MPI_COMM_WORLD has not told its size, but %v", r.WorldSize)
	}
}

func TestMissing(t *testing.T) {
	m := newMade(3)
	m.Processes[1].Unavailable, m.Processes[1].Threads = "it can't be read.", nil
	m.Processes = m.Processes[:2]
	r := approve(t, "", Analyse(m.Snapshot))
	if !slices.Equal(r.Missing, []Missing{{1, "it can't be read"}, {2, notLookedAt}}) {
		t.Errorf("missing %+v", r.Missing)
	}
}

func TestDoubts(t *testing.T) {
	m := newMade(2)
	m.each(func(r *madeRank) { r.recv(worldID, 1-r.me, 7) }, 0, 1)
	if notes := approve(t, "both wait", Analyse(m.Snapshot)).Notes; len(notes) != 0 {
		t.Errorf("notes %q", notes)
	}
	m.rank(0).ThreadMultiple = mqs.Known(true)
	m.rank(0).computes()
	if notes := approve(t, "one has another thread", Analyse(m.Snapshot)).Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], "Rank 0 has a thread that waits") {
		t.Errorf("notes %q", notes)
	}
	m.rank(1).State = mqs.Stopped
	if notes := approve(t, "the other is stopped", Analyse(m.Snapshot)).Notes; len(notes) != 2 || !strings.HasPrefix(notes[1], "Rank 1 is stopped by a signal") {
		t.Errorf("notes %q", notes)
	}
}

func TestWhyQueuesCanNotBeRead(t *testing.T) {
	m := newMade(6)
	m.each(func(r *madeRank) {
		r.thread("MPI_Recv", 10)
		r.Communicators, r.Unavailable = nil, fmt.Sprintf("reason %d.", r.me/2)
	}, 0, 1, 2, 3, 4)
	m.rank(4).Threads = nil // a missing rank
	m.rank(5).computes()
	r := approve(t, "", Analyse(m.Snapshot))
	want := []string{"The queues of ranks 0-1 can't be read: reason 0.", "The queues of ranks 2-3 can't be read: reason 1."}
	if !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q", r.Notes)
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
