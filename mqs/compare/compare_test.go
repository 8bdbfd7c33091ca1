package compare

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// receive is a pending receive as both views have it.
func receive(buffer inferior.Addr, tag int32) mqs.PendingOperation {
	return mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: mqs.Known[int32](1), DesiredGlobalRank: mqs.Known[int32](1),
		TagWild: mqs.Known(false), DesiredTag: mqs.Known(tag), DesiredLength: mqs.Known[int64](4), SystemBuffer: mqs.Known(false), Buffer: mqs.Known(buffer)}
}

// view is a process with the given receives pending on its only communicator.
func view(receives ...mqs.PendingOperation) *mqs.Process {
	return &mqs.Process{Communicators: []*mqs.Queues{{
		Communicator: mqs.Communicator{UniqueID: 3, Name: mqs.Known("world"), LocalRank: mqs.Known[int32](0), Size: mqs.Known[int32](2)},
		Queue:        [3]*mqs.Queue{mqs.PendingReceives: {Operations: receives, Total: len(receives)}},
	}}}
}

// found puts differences into words, a line to each.
func found(ds []mqs.Difference) string {
	var b strings.Builder
	for _, d := range ds {
		place := ""
		if d.Operation.Known {
			place = word(d.Operation)
		}
		fmt.Fprintf(&b, "%s|%s|%s|%s|%s|%s\n", d.Communicator, d.Queue, place, d.Field, d.Native, d.DLL)
	}
	return b.String()
}

func expectFound(t *testing.T, name string, got []mqs.Difference, want ...string) {
	t.Helper()
	if got, want := found(got), strings.Join(append(want, ""), "\n"); got != want {
		t.Errorf("%s: got\n%swant\n%s", name, got, want)
	}
}

const receives = "world (0x3)|pending_receives|"

func TestCompareOperations(t *testing.T) {
	with := func(op mqs.PendingOperation, change func(op *mqs.PendingOperation)) mqs.PendingOperation {
		change(&op)
		return op
	}
	internal := func(op *mqs.PendingOperation) { op.Internal = true }
	longer := func(op *mqs.PendingOperation) { op.DesiredLength = mqs.Known[int64](8) }
	a, b, c, d := receive(0x10, 1), receive(0x20, 2), receive(0x30, 3), receive(0x40, 4)
	sameBuffer := receive(0x10, 2)
	type ops = []mqs.PendingOperation
	for _, tc := range []struct {
		name        string
		native, dll ops
		want        []string
	}{
		{"nothing", nil, nil, nil},
		{"the same", ops{a, b}, ops{a, b}, nil},
		{"equal twins", ops{a, a, a}, ops{a, a, a}, nil},
		{"one buffer, told apart by tags", ops{a, sameBuffer}, ops{with(sameBuffer, longer), with(a, longer)},
			[]string{receives + "0|desired_length|4|8", receives + "0|position|0|1", receives + "1|desired_length|4|8"}},
		{"the like one first, wherever it stands", ops{a, a}, ops{with(a, longer), a},
			[]string{receives + "0|position|0|1", receives + "1|desired_length|4|8"}},
		{"moved to the end", ops{a, b, c, d}, ops{b, c, d, a}, []string{receives + "0|position|0|3"}},
		{"moved to the front", ops{a, b, c, d}, ops{d, a, b, c}, []string{receives + "3|position|3|0"}},
		{"moved behind one that is missing", ops{d, a, b}, ops{b, a}, []string{receives + "0|operation|peer 1, tag 4, 4 bytes at 0x40|", receives + "1|position|0|1"}},
		{"missing", ops{a, b, c}, ops{a, c}, []string{receives + "1|operation|peer 1, tag 2, 4 bytes at 0x20|"}},
		{"extra", ops{a, c}, ops{a, b, c}, []string{receives + "1|operation||peer 1, tag 2, 4 bytes at 0x20"}},
		{"one twin too many", ops{a}, ops{a, a}, []string{receives + "1|operation||peer 1, tag 1, 4 bytes at 0x10"}},
		{"another buffer and else the same", ops{a, b}, ops{a, with(b, func(op *mqs.PendingOperation) { op.Buffer = mqs.Known[inferior.Addr](0x99) })},
			[]string{receives + "1|buffer|0x20|0x99"}},
		{"no buffer and little in common", ops{receive(0, 1)}, ops{with(receive(0, 2), longer)},
			[]string{receives + "0|operation|peer 1, tag 1, 4 bytes at 0x0|", receives + "0|operation||peer 1, tag 2, 8 bytes at 0x0"}},
		{"internal ones do not count", ops{with(d, internal), a, with(c, internal), b}, ops{d, b, a, c},
			[]string{receives + "0|position|0|1"}},
		{"an internal one that the DLL lacks", ops{with(d, internal), a}, ops{a}, nil},
		{"places of extra ones", ops{with(d, internal), a}, ops{d, a, b}, []string{receives + "1|operation||peer 1, tag 2, 4 bytes at 0x20"}},
		{"unknown to the DLL", ops{a}, ops{with(a, func(op *mqs.PendingOperation) {
			op.Status, op.DesiredGlobalRank, op.SystemBuffer, op.DesiredLength = "", mqs.Maybe[int32]{}, mqs.Maybe[bool]{Value: true}, mqs.Maybe[int64]{Value: 4}
		})}, []string{receives + "0|status|pending|", receives + "0|desired_global_rank|1|", receives + "0|desired_length|4|", receives + "0|system_buffer|false|"}},
		{"unknown to both, whatever stands there", ops{with(a, func(op *mqs.PendingOperation) { op.ActualTag.Value = 1 })},
			ops{with(a, func(op *mqs.PendingOperation) { op.ActualTag.Value = 2 })}, nil},
		{"known to the DLL only", ops{a}, ops{with(a, func(op *mqs.PendingOperation) { op.ActualLength = mqs.Known[int64](0) })},
			[]string{receives + "0|actual_length||0"}},
		{"any tag", ops{with(a, func(op *mqs.PendingOperation) { op.TagWild, op.DesiredTag = mqs.Known(true), mqs.Maybe[int32]{} })}, ops{},
			[]string{receives + "0|operation|peer 1, tag any, 4 bytes at 0x10|"}},
		{"what a DLL has no place for", ops{with(a, func(op *mqs.PendingOperation) {
			op.Kind, op.Datatype, op.Count, op.Request, op.ExtraText = "irecv", mqs.Known("MPI_INT"), mqs.Known[int64](1), mqs.Known[inferior.Addr](1), []string{"text"}
		})}, ops{a}, nil},
	} {
		expectFound(t, tc.name, Compare(view(tc.native...), view(tc.dll...), "", false), tc.want...)
	}
	expectFound(t, "internal ones asked for", Compare(view(with(d, internal), a), view(a), "", true),
		receives+"0|operation|peer 1, tag 4, 4 bytes at 0x40|")
}

func TestCompareQueues(t *testing.T) {
	gone := func(why string) *mqs.Process {
		p := view()
		p.Communicators[0].Queue[mqs.PendingReceives] = &mqs.Queue{Unavailable: why}
		return p
	}
	hidden := receive(1, 1)
	hidden.Internal = true
	expectFound(t, "the DLL has none", Compare(view(receive(1, 1), hidden), gone("no information"), "", false),
		receives+"|queue|1 operation|not available: no information")
	expectFound(t, "native has none", Compare(gone("unreadable"), view(), "", false), receives+"|queue|not available: unreadable|0 operations")
	expectFound(t, "neither has one", Compare(gone("unreadable"), gone("no information"), "", false))
	other := view(receive(1, 1))
	other.Communicators[0].Queue[mqs.PendingReceives] = nil
	expectFound(t, "not asked for", Compare(view(receive(1, 1)), other, "", false))
}

// comms is a view of communicators without queues.
func comms(cs ...mqs.Communicator) *mqs.Process {
	p := &mqs.Process{}
	for _, c := range cs {
		p.Communicators = append(p.Communicators, &mqs.Queues{Communicator: c})
	}
	return p
}

func TestCompareCommunicators(t *testing.T) {
	world := mqs.Communicator{UniqueID: 0, Name: mqs.Known("world"), Size: mqs.Known[int32](4), LocalRank: mqs.Known[int32](1)}
	row := mqs.Communicator{UniqueID: 5, Name: mqs.Known("row"), Size: mqs.Known[int32](2), LocalRank: mqs.Known[int32](0)}
	unnamed := mqs.Communicator{UniqueID: 7, Name: mqs.Known(""), Size: mqs.Known[int32](3)}
	own := mqs.Communicator{UniqueID: 8, Name: mqs.Known("own"), Internal: true}
	with := func(c mqs.Communicator, change func(c *mqs.Communicator)) mqs.Communicator {
		change(&c)
		return c
	}
	id := func(c mqs.Communicator, id inferior.Addr) mqs.Communicator { c.UniqueID = id; return c }
	type list = []mqs.Communicator
	for _, tc := range []struct {
		name        string
		native, dll list
		comm        string
		internal    bool
		want        []string
	}{
		{"in any order", list{world, row, unnamed}, list{unnamed, row, world}, "", false, nil},
		{"an empty name is none", list{unnamed}, list{with(unnamed, func(c *mqs.Communicator) { c.Name = mqs.Maybe[string]{} })}, "", false, nil},
		{"missing", list{world, row}, list{world}, "", false, []string{"row (0x5)|||communicator|shown|"}},
		{"extra", list{world}, list{unnamed, world}, "", false, []string{"communicator 0x7|||communicator||shown"}},
		{"another id", list{world, row}, list{world, id(row, 6)}, "", false, []string{"row (0x5)|||unique_id|0x5|0x6"}},
		{"ids that mean others", list{row, id(world, 6)}, list{id(row, 6), id(world, 5)}, "", false,
			[]string{"row (0x5)|||unique_id|0x5|0x6", "world (0x6)|||unique_id|0x6|0x5"}},
		{"another id and no name", list{world, unnamed}, list{world, id(unnamed, 9)}, "", false, []string{"communicator 0x7|||unique_id|0x7|0x9"}},
		{"an id says more than no name", list{unnamed}, list{id(unnamed, 9), with(unnamed, func(c *mqs.Communicator) { c.Name = mqs.Known("now named") })}, "", false,
			[]string{"communicator 0x7|||name||now named", "communicator 0x9|||communicator||shown"}},
		{"another name, size and rank", list{row}, list{with(row, func(c *mqs.Communicator) {
			c.Name, c.Size, c.LocalRank = mqs.Known("ro"), mqs.Maybe[int32]{}, mqs.Known[int32](1)
		})}, "", false, []string{"row (0x5)|||local_rank|0|1", "row (0x5)|||size|2|", "row (0x5)|||name|row|ro"}},
		// What is paired exactly is not to be had by one before it that would also fit.
		{"equal but for the id", list{id(row, 4), row}, list{row}, "", false, []string{"row (0x4)|||communicator|shown|"}},
		{"internal", list{world, own}, list{world, own}, "", false, nil},
		{"internal and missing", list{world, own}, list{world}, "", false, nil},
		{"internal, asked for and missing", list{world, own}, list{world}, "", true, []string{"own (0x8)|||communicator|shown|"}},
		{"one by name", list{world, row}, list{id(world, 1)}, "row", false, []string{"row (0x5)|||communicator|shown|"}},
		{"an extra one by id", list{world}, list{row, unnamed, world}, "0x5", false, []string{"row (0x5)|||communicator||shown"}},
	} {
		expectFound(t, tc.name, Compare(comms(tc.native...), comms(tc.dll...), tc.comm, tc.internal), tc.want...)
	}
}

func TestCompareGroups(t *testing.T) {
	group := func(ranks ...int32) *mqs.Process {
		c := mqs.Communicator{UniqueID: 3, Name: mqs.Known("world")}
		for _, r := range ranks {
			m := mqs.Known(r)
			m.Known = r >= 0
			c.Group = append(c.Group, m)
		}
		return comms(c)
	}
	many := make([]int32, 40)
	for i := range many {
		many[i] = int32(i)
	}
	changed := slices.Clone(many)
	changed[20] = 99
	for _, tc := range []struct {
		name        string
		native, dll *mqs.Process
		want        []string
	}{
		{"the same", group(0, 1, -1), group(0, 1, -2), nil},
		{"none", group(), group(), nil},
		{"one is not known", group(0, 1), group(0, -1), []string{"world (0x3)|||group|0 1|0 ?"}},
		{"no group", group(0, 1), group(), []string{"world (0x3)|||group|0 1|"}},
		{"long and the same", group(many...), group(many...), nil},
		{"long, one differs", group(many...), group(changed...), []string{"world (0x3)|||group|" +
			"40 ranks, from 20 on: 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 ...|" +
			"40 ranks, from 20 on: 99 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 ..."}},
		{"long, one too many", group(many...), group(many[:39]...), []string{"world (0x3)|||group|40 ranks, from 39 on: 39|39 ranks, from 39 on:"}},
		{"long and no group", group(many...), group(), []string{"world (0x3)|||group|0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 ...|"}},
	} {
		expectFound(t, tc.name, Compare(tc.native, tc.dll, "", false), tc.want...)
	}
}

// Long queues are compared, whatever makes pairing hard. Growth is watched by tests/growth.
func TestCompareLongQueues(t *testing.T) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("MPI_QUEUES_TEST_SIZE"), "20000"))
	if err != nil {
		t.Fatal(err)
	}
	each := func(op func(i int) mqs.PendingOperation) []mqs.PendingOperation {
		out := make([]mqs.PendingOperation, n)
		for i := range out {
			out[i] = op(i)
		}
		return out
	}
	reversed := func(ops []mqs.PendingOperation) []mqs.PendingOperation {
		ops = slices.Clone(ops)
		slices.Reverse(ops)
		return ops
	}
	buffers := each(func(i int) mqs.PendingOperation { return receive(inferior.Addr(i+1)*8, int32(i)) })
	oneBuffer := slices.Repeat([]mqs.PendingOperation{receive(8, 1)}, 4*n) // work that grows with the square shows
	tags := each(func(i int) mqs.PendingOperation { return receive(8, int32(i)) })
	noBuffer := each(func(i int) mqs.PendingOperation { op := receive(0, int32(i)); op.Buffer.Known = false; return op })
	noneAlike := each(func(i int) mqs.PendingOperation { op := receive(8, int32(n+i)); op.Status = ""; return op })
	shuffled := slices.Clone(buffers)
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, tc := range []struct {
		name        string
		native, dll []mqs.PendingOperation
		most, least int // differences
	}{
		{"buffers, reversed", buffers, reversed(buffers), n - 1, n - 2}, // one stays, and perhaps the one in the middle
		{"buffers, shuffled", buffers, shuffled, n, n * 9 / 10},
		{"one buffer", oneBuffer, oneBuffer, 0, 0},
		{"one buffer, the DLL has fewer", oneBuffer, oneBuffer[:3*n], n, n},
		{"no buffer, reversed", noBuffer, reversed(noBuffer), n - 1, n - 2},
		{"one buffer, none alike", tags, noneAlike, 2 * n, 2 * n}, // the status and the tag
		{"nothing in common", buffers, noneAlike[:1], n + 1, n + 1},
	} {
		got := len(Compare(view(tc.native...), view(tc.dll...), "", false))
		if got > tc.most || got < tc.least {
			t.Errorf("%s: %d differences", tc.name, got)
		}
	}
}
