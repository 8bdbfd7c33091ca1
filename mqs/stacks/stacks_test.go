package stacks

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// stack is a stack of functions, from the outermost on.
func stack(functions string) mqs.Stack {
	var s mqs.Stack
	for _, f := range strings.Fields(functions) {
		s.Frames = append(s.Frames, mqs.StackFrame{Function: f})
	}
	return s
}

// process is a process of a rank, -1 for one that is not known.
func process(rank, inferior int, stacks ...string) Process {
	p := Process{Inferior: inferior}
	if rank >= 0 {
		p.Rank = mqs.Known(int32(rank))
	}
	for i, functions := range stacks {
		s := stack(functions)
		s.Thread = i + 1
		p.Stacks = append(p.Stacks, s)
	}
	return p
}

// outline is a tree in lines: for each frame its caller, its processes, its threads and those that end there.
func outline(tree *Tree) (lines []string) {
	for i, f := range tree.Frames {
		caller := -1
		if f.Caller.Known {
			caller = f.Caller.Value
		}
		lines = append(lines, fmt.Sprintf("%d %s<%d %v%v %d %d%v", i, f.Function, caller, f.Ranks, f.Inferiors, f.Threads, f.Innermost, f.Ends.Ranks))
	}
	return lines
}

func TestMerge(t *testing.T) {
	tree := Merge([]Process{process(3, 4, "main compute"), process(2, 3, "main exchange MPI_Recv"), process(0, 1, "main exchange MPI_Recv"),
		process(1, 2, "main exchange"), process(-1, 9, "main exchange MPI_Send", "start work"), {Rank: mqs.Known[int32](5), Why: "running"},
		{Rank: mqs.Known[int32](4), Why: "running"}, process(6, 7, "")})
	want := []string{
		"0 main<-1 [0 1 2 3][9] 5 0[]",
		"1 exchange<0 [0 1 2][9] 4 1[1]",
		"2 MPI_Recv<1 [0 2][] 2 2[0 2]",
		"3 MPI_Send<1 [][9] 1 1[]",
		"4 compute<0 [3][] 1 1[3]",
		"5 start<-1 [][9] 1 0[]",
		"6 work<5 [][9] 1 1[]",
	}
	if got := outline(tree); !reflect.DeepEqual(got, want) {
		t.Errorf("the tree is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	unread := []Unread{{mqs.Members{Ranks: []int32{4, 5}}, "running"}, {mqs.Members{Ranks: []int32{6}}, "the stack can't be read"}}
	if !reflect.DeepEqual(tree.Unread, unread) {
		t.Errorf("unread are %+v", tree.Unread)
	}
}

// Frames at different lines, in different files or libraries are different.
func TestMergeTellsFramesApart(t *testing.T) {
	frames := []mqs.StackFrame{{Function: "f", File: "a.c", Line: 1}, {Function: "f", File: "a.c", Line: 2}, {Function: "f", File: "b.c", Line: 1},
		{Function: "f", Object: "/lib/libf.so"}, {Function: "f"}, {IsGap: true}, {Function: "f", IsCall: true}}
	var processes []Process
	for i, f := range frames {
		processes = append(processes, Process{Rank: mqs.Known(int32(i)), Stacks: []mqs.Stack{{Frames: []mqs.StackFrame{f}}}})
	}
	if tree := Merge(processes); len(tree.Frames) != len(frames) {
		t.Errorf("of %d frames %d remain", len(frames), len(tree.Frames))
	}
}

// Of several looks the tree says which ranks stand, and names one of those that do.
func TestMergeLooks(t *testing.T) {
	tree := MergeLooks([][]Process{
		{process(0, 1, "main wait"), process(1, 2, "main wait"), process(2, 3, "main work f"), process(3, 4, "main wait")},
		{process(0, 1, "main work g"), process(1, 2, "main wait"), process(2, 3, "main work g"), process(3, 4, "main wait")},
		{process(0, 1, "main work g"), process(1, 2, "main wait"), process(2, 3, "main work f"), {Rank: mqs.Known[int32](3), Why: "it has ended"}},
	})
	var got []string
	for _, f := range tree.Frames {
		got = append(got, fmt.Sprintf("%s %v of %d, %v stand, %v", f.Function, f.Ranks, f.Threads, f.Standing, f.Representative))
	}
	want := []string{
		"main [0 1 2 3] of 4, [0 1 2] stand, {0 false}",
		"wait [0 1 3] of 3, [1] stand, {1 true}",
		"work [0 2] of 2, [2] stand, {0 false}",
		"g [0 2] of 2, [] stand, {0 true}",
		"f [2] of 1, [] stand, {2 true}",
	}
	if tree.Looks != 3 || !reflect.DeepEqual(got, want) || len(tree.Unread) != 1 {
		t.Errorf("the tree is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Threads that libraries have made for themselves are left out, and what has no stacks says why.
func TestOf(t *testing.T) {
	s := &mqs.Snapshot{Processes: []*mqs.Process{
		{GlobalRank: mqs.Known[int32](0), Threads: []mqs.Thread{{Number: 1}}, Stacks: []mqs.Stack{{Thread: 1}, {Thread: 2}}},
		{GlobalRank: mqs.Known[int32](1)}, {Unavailable: "it is gone"},
	}}
	got := Of(s)
	if len(got[0].Stacks) != 1 || got[0].Why != "" || got[1].Why != "what was read of it has no stacks" || got[2].Why != "it is gone" {
		t.Errorf("%+v", got)
	}
}

// Of a stack that is too deep the innermost frames are kept, and a gap says that there are more.
func TestDeepStack(t *testing.T) {
	tree := Merge([]Process{process(0, 1, strings.Repeat("recurse ", 2*mostFrames)+"MPI_Recv")})
	first, last := tree.Frames[0], tree.Frames[len(tree.Frames)-1]
	if len(tree.Frames) != mostFrames+1 || !first.Gap || last.Function != "MPI_Recv" || last.Innermost != 1 {
		t.Errorf("%d frames, from %+v to %+v", len(tree.Frames), first, last)
	}
}
