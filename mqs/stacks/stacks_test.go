package stacks

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

// stack is a stack of functions, from the outermost on.
func stack(functions string) callstack.Stack {
	var s callstack.Stack
	for _, f := range strings.Fields(functions) {
		s.Frames = append(s.Frames, callstack.Frame{Function: f})
	}
	return s
}

// process is a process of a rank, -1 for one that is not known.
func process(rank, inferior int, stacks ...string) Process {
	p := Process{Inferior: inferior}
	if rank >= 0 {
		p.Rank = mqs.Known(int32(rank))
	}
	for _, s := range stacks {
		p.Stacks = append(p.Stacks, stack(s))
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
	frames := []callstack.Frame{{Function: "f", File: "a.c", Line: 1}, {Function: "f", File: "a.c", Line: 2}, {Function: "f", File: "b.c", Line: 1},
		{Function: "f", Object: "/lib/libf.so"}, {Function: "f"}, {IsGap: true}, {Function: "f", IsCall: true}}
	var processes []Process
	for i, f := range frames {
		processes = append(processes, Process{Rank: mqs.Known(int32(i)), Stacks: []callstack.Stack{{Frames: []callstack.Frame{f}}}})
	}
	if tree := Merge(processes); len(tree.Frames) != len(frames) {
		t.Errorf("of %d frames %d remain", len(frames), len(tree.Frames))
	}
}
