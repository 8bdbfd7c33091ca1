package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/across"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
)

func TestRanks(t *testing.T) {
	ranks := []across.Rank{
		{Rank: known[int32](0), Inferior: known(1), PID: 41, State: across.Stopped, Reason: "breakpoint 2", Thread: known(1), Call: "MPI_Recv", Function: "exchange", File: "/src/halo.c", Line: 88, Selected: true},
		{Rank: known[int32](1), Inferior: known(2), PID: 42, State: across.Running},
		{Rank: known[int32](2), Inferior: known(3), PID: 43, State: across.Exited, ExitCode: known(3)},
		{Rank: known[int32](3), Inferior: known(4), PID: 44, State: across.Exited, Reason: "SIGKILL"},
		{Rank: known[int32](4), PID: 45, State: across.Away, Reason: "another user's\x1b[31m"},
		{Inferior: known(6), State: across.Core, Reason: "SIGSEGV", Thread: known(2), Function: "main"},
		{Inferior: known(8), State: across.Core, Thread: known(1), Call: "MPI_Recv", Callers: []mqs.Caller{{Function: "close", Object: "/lib/libio.so.1"}, {Function: "main", File: "/src/a.c", Line: 7}}},
		{Inferior: known(7), PID: 47, State: across.Stopped, Unplaced: "Its threads can't be read."},
	}
	want := `  rank  inferior  process  state               where
* 0     1         41       breakpoint 2        MPI_Recv, called by exchange at halo.c:88
  1     2         42       running
  2     3         43       exited with code 3
  3     4         44       killed by SIGKILL
  4     -         45       not attached, another user's` + "�[31m" + `
  ?     6         -        core, SIGSEGV       main
  ?     8         -        core                MPI_Recv, called by close (libio) from main at a.c:7
  ?     7         47       stopped             Its threads can't be read
`

	var b strings.Builder
	if err := Ranks(&b, &across.Ranks{Ranks: ranks}); err != nil || squeezed(b.String()) != squeezed(want) {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	ranks[1].Host = "node7"
	b.Reset()
	if err := Ranks(&b, &across.Ranks{Ranks: ranks[:2]}); err != nil || !strings.Contains(b.String(), "  1     2         node7     42") || !strings.Contains(b.String(), "this one") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// squeezed has one blank for several.
func squeezed(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestValues(t *testing.T) {
	list := []across.Evaluation{
		{Rank: known[int32](0), Text: "12", Number: "12"}, {Rank: known[int32](1), Text: "12", Number: "12"}, {Rank: known[int32](3), Text: "12", Number: "12"},
		{Rank: known[int32](2), Text: "7", Number: "7"}, {Inferior: 9, Text: "nan(0x8)", Number: "nan"}, {Rank: known[int32](4), Failure: "not in f()"},
	}
	var b strings.Builder
	want := `ranks 0-1, 3: 12
rank 2: 7
inferior 9: nan(0x8)
rank 4: not in f()
minimum 7 (rank 2), maximum 12 (ranks 0-1, 3), mean 10.75, 1 NaN (inferior 9)
`
	if err := Values(&b, across.Merge("x", "f", list), Style{}); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	want = "ranks 0-1, 3: 12\n"
	if err := Values(&b, across.Merge("x", "f", list[:3]), Style{}); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}

// frames are a stack, from the outermost on: "main:9" is a function of the program at a line, "MPI_Recv" a call.
func frames(text string) callstack.Stack {
	var s callstack.Stack
	for _, f := range strings.Fields(text) {
		name, line, found := strings.Cut(f, ":")
		frame := callstack.Frame{Function: name, IsCall: strings.HasPrefix(name, "MPI_")}
		switch {
		case found:
			frame.File = "/src/halo.c"
			_, _ = fmt.Sscan(line, &frame.Line)
		case name == "-":
			frame = callstack.Frame{IsGap: true}
		case name == "??":
			frame = callstack.Frame{Object: "/lib/libfoo.so.1"}
		}
		s.Frames = append(s.Frames, frame)
	}
	return s
}

func TestStacks(t *testing.T) {
	on := func(rank int32, texts ...string) stacks.Process {
		p := stacks.Process{Rank: known(rank)}
		for _, text := range texts {
			stack := frames(text)
			stack.Thread = len(p.Stacks) + 1
			p.Stacks = append(p.Stacks, stack)
		}
		return p
	}
	for _, c := range []struct {
		processes []stacks.Process
		want      string
	}{
		{nil, "There are no stacks.\n"},
		{[]stacks.Process{on(0, "main:9 MPI_Recv"), on(1, "main:9 MPI_Recv")}, `ranks 0-1 (2 ranks)
  main at halo.c:9
  MPI_Recv
`},
		{[]stacks.Process{on(0, "main:9 exchange:4 MPI_Recv"), on(2, "main:9 exchange:4 MPI_Recv"), on(1, "main:9 exchange:5 MPI_Send"), on(5, "main:9"), on(7, "- ?? main:9 f:3 f:3 f:3"),
			{Rank: known[int32](3), Why: "running"}, {Rank: known[int32](4), Why: "running"}, {Inferior: 8, Why: "its program is not known."}}, `ranks 0-2, 5 (4 ranks)
  main at halo.c:9
  rank 5: here
  ranks 0, 2 (2 ranks)
    exchange at halo.c:4
    MPI_Recv
  rank 1
    exchange at halo.c:5
    MPI_Send
rank 7
  ... (the outer frames are not known)
  ?? in libfoo.so.1
  main at halo.c:9
  f at halo.c:3 (3 times)
ranks 3-4: running
inferior 8: its program is not known
`},
		{[]stacks.Process{on(0, "main:9 MPI_Recv", "start work:3", "start work:3"), on(1, "main:9 MPI_Recv", "start work:3", "start work:4")}, `ranks 0-1 (4 threads)
  start
  ranks 0-1 (3 threads)
    work at halo.c:3
  rank 1 (1 thread)
    work at halo.c:4
ranks 0-1 (2 threads)
  main at halo.c:9
  MPI_Recv
`},
	} {
		var b strings.Builder
		if err := Stacks(&b, stacks.Merge(c.processes), Style{}); err != nil || b.String() != c.want {
			t.Errorf("%v\n%s\nwant\n%s", err, b.String(), c.want)
		}
	}
}

// A tree of many ranks is as short as one of few, and its lines are.
func TestStacksOfManyRanks(t *testing.T) {
	var processes []stacks.Process
	for rank := range 2000 {
		text := "main:9 exchange:4 MPI_Recv"
		if rank%2 == 1 {
			text = fmt.Sprintf("main:9 compute:%d", 1+rank%200)
		}
		processes = append(processes, stacks.Process{Rank: known(int32(rank)), Stacks: []callstack.Stack{frames(text)}})
	}
	var b strings.Builder
	if err := Stacks(&b, stacks.Merge(processes), Style{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines) > 2*mostBranches+20 || !strings.Contains(b.String(), "\n  ... and 41 more branches of 101\n") || !strings.Contains(b.String(), "... (1000 ranks)\n") {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
	for _, line := range lines {
		if len(line) > 100 {
			t.Errorf("a long line: %s", line)
		}
	}
}
