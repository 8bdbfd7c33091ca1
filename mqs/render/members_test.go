package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// group makes a group; -1 is a rank that is not known.
func group(ranks ...int32) []mqs.Maybe[int32] {
	g := []mqs.Maybe[int32]{}
	for _, r := range ranks {
		g = append(g, mqs.Maybe[int32]{Value: max(r, 0), Known: r >= 0})
	}
	return g
}

func TestMembersText(t *testing.T) {
	for _, c := range []struct {
		group []mqs.Maybe[int32]
		most  int
		want  string
	}{
		{nil, 0, "?"},
		{group(), 0, "none"},
		{group(5), 0, "5"},
		{group(0, 1, 2, 3, 8), 0, "0-3, 8"},
		{group(3, 2, 1), 0, "3, 2, 1"}, // the order is that of the local ranks
		{group(0, 1, -1, -1, 2, -1), 0, "0-1, ? (2 ranks), 2, ?"},
		{group(0, 2, 4, 6, 8, 10), 6, "0, 2, 4, ... (6 ranks)"},
	} {
		if got := membersText(c.group, c.most); got != c.want {
			t.Errorf("%v: %q, want %q", c.group, got, c.want)
		}
	}
}

func TestTextWithMembers(t *testing.T) {
	p := &mqs.Process{GlobalRank: mqs.Known[int32](2), WorldSize: mqs.Known[int32](4), Source: "native", Communicators: []*mqs.Queues{
		{Communicator: mqs.Communicator{UniqueID: 1, Name: mqs.Known("row"), LocalRank: mqs.Known[int32](1), Size: mqs.Known[int32](2), Group: group(0, 2)},
			Queue: [3]*mqs.Queue{{}, {}, {Unavailable: "it is not there"}}},
		{Communicator: mqs.Communicator{UniqueID: 2, Inter: mqs.Known(true), Group: group(0, 1, 2), RemoteGroup: group(3, -1)}, Queue: [3]*mqs.Queue{{}, {}, {}}},
		{Communicator: mqs.Communicator{UniqueID: 3}, Queue: [3]*mqs.Queue{{}, {}, {}}},
	}}
	s := &mqs.Snapshot{Processes: []*mqs.Process{p}}
	var b bytes.Buffer
	if err := Text(&b, s, Style{Members: true}); err != nil {
		t.Fatal(err)
	}
	want := `Rank 2 of 4

row (0x1): rank 1 of 2
  Members: global ranks 0, 2
  Unexpected messages: not available: it is not there.

communicator 0x2: rank ? of ?, an intercommunicator with a remote group of 2
  Members: global ranks 0-2
  Remote group: global ranks 3, ?
  Nothing pending.

communicator 0x3: rank ? of ?
  Members: not known
  Nothing pending.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestPageHasMembers(t *testing.T) {
	comm := func(name string, rank int32, members ...int32) *mqs.Queues {
		return &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 1, Name: mqs.Known(name), LocalRank: mqs.Known(rank), Group: group(members...)}, Queue: [3]*mqs.Queue{{}, {}, {}}}
	}
	inter := comm("<b>bridge</b>", 0, 0)
	inter.Inter, inter.RemoteGroup = mqs.Known(true), group(1, -1)
	own := comm("its own", 0, 0)
	own.Internal = true
	r := &waitfor.Report{Verdict: waitfor.NoDeadlock, Ranks: []waitfor.Rank{
		{Rank: 0, Process: &mqs.Process{Communicators: []*mqs.Queues{comm("MPI_COMM_WORLD", 0, 0, 1), comm("row", 0, 0), inter, own}}},
		{Rank: 1, Process: &mqs.Process{Communicators: []*mqs.Queues{comm("MPI_COMM_WORLD", 1, 0, 1), comm("row", 0, 1)}}},
		{Rank: 2},
	}, Groups: []waitfor.Group{{Ranks: []int32{0, 1, 2}}}}
	var b bytes.Buffer
	if err := ReportHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{
		"<tr><td>MPI_COMM_WORLD</td><td>0-1</td><td></td></tr>":              1, // once for all its members
		"<tr><td>row</td><td>0</td><td></td></tr>":                           1,
		"<tr><td>row</td><td>1</td><td></td></tr>":                           1, // another of that name
		"<tr><td>&lt;b&gt;bridge&lt;/b&gt;</td><td>0</td><td>1, ?</td></tr>": 1,
		"<tr><td>its own</td>":                                               0,
		">Communicators</h2>":                                                1,
	} {
		if got := strings.Count(b.String(), want); got != n {
			t.Errorf("%d times %s, want %d", got, want, n)
		}
	}
}
