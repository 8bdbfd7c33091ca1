// Package stacks merges the stacks of the ranks of a job into one tree of calls, which shows how many ranks
// have come how far, and which ones.
package stacks

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

// Process is a process whose stacks are merged with those of others.
type Process struct {
	// Rank is its rank in MPI_COMM_WORLD.
	Rank mqs.Maybe[int32]
	// Inferior is the debugger's number for it.
	Inferior int
	// Stacks are those of its threads that are asked for.
	Stacks []callstack.Stack
	// Why it has no stacks, as a clause; empty if it has.
	Why string
}

// Tree is the stacks of many processes, as far as they are the same put together.
type Tree struct {
	// Frames are those of all stacks. A frame is followed by those that it has called, and by what these
	// have called; of several, the one with the most threads is first.
	Frames []Frame `json:"frames" document:"line"`
	// Unread are the processes whose stacks are not known.
	Unread []Unread `json:"unread" document:"line"`
}

// Frame is a frame of the stacks of one or more threads.
type Frame struct {
	// Caller is the index in the list of the frame that has called it; unknown of an outermost frame.
	Caller mqs.Maybe[int] `json:"caller"`
	mqs.Members
	// Threads is how many threads have the frame.
	Threads int `json:"threads"`
	// Innermost is how many of these threads have no further frame.
	Innermost int `json:"innermost"`
	// Ends are the processes of those.
	Ends mqs.Members `json:"-"`
	// Function is its name. An MPI call has its plain name in C, "MPI_Recv".
	Function string `json:"function" document:"null"`
	// File is the source of a function of the program, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is where in the file the frame is, or the call of the next one.
	Line int `json:"line" document:"null,min=1"`
	// Object is the path of the library that the function is in. The program's own have none.
	Object string `json:"object" document:"null"`
	// Call is true of an MPI call.
	Call bool `json:"mpi_call"`
	// Gap is true of what stands for the outer frames of a stack that could not be followed to its end.
	Gap bool `json:"gap"`
}

// Unread are processes whose stacks are not known, for one reason.
type Unread struct {
	mqs.Members
	// Why they are not known, as a clause.
	Why string `json:"why"`
}

// node is a frame while stacks are merged.
type node struct {
	Frame
	called map[callstack.Frame]*node
}

// Merge makes a tree of the stacks of processes.
func Merge(processes []Process) *Tree {
	processes = slices.Clone(processes)
	slices.SortStableFunc(processes, func(a, b Process) int {
		return cmp.Or(cmp.Compare(order(a.Rank), order(b.Rank)), cmp.Compare(a.Inferior, b.Inferior))
	})
	root, out := &node{}, &Tree{}
	for i := range processes {
		p := &processes[i]
		why := p.Why
		for _, s := range p.Stacks {
			if len(s.Frames) == 0 {
				why = "the stack can't be read"
				continue
			}
			root.add(p, s.Frames)
		}
		if why != "" {
			out.leaveOut(p, why)
		}
	}
	out.flatten(root, mqs.Maybe[int]{})
	return out
}

// order is the key by which processes are ordered: those whose rank is not known come last.
func order(rank mqs.Maybe[int32]) int64 {
	if !rank.Known {
		return 1 << 32
	}
	return int64(rank.Value)
}

// add adds a stack beneath the root.
func (n *node) add(p *Process, frames []callstack.Frame) {
	for _, f := range frames {
		if n.called == nil {
			n.called = map[callstack.Frame]*node{}
		}
		next := n.called[f]
		if next == nil {
			next = &node{Frame: Frame{Function: f.Function, File: f.File, Line: f.Line, Object: f.Object, Call: f.IsCall, Gap: f.IsGap}}
			n.called[f] = next
		}
		n = next
		n.Add(p.Rank, p.Inferior)
		n.Threads++
	}
	n.Innermost++
	n.Ends.Add(p.Rank, p.Inferior)
}

// leaveOut notes why a process has no stack.
func (t *Tree) leaveOut(p *Process, why string) {
	i := slices.IndexFunc(t.Unread, func(u Unread) bool { return u.Why == why })
	if i < 0 {
		i = len(t.Unread)
		t.Unread = append(t.Unread, Unread{Why: why})
	}
	t.Unread[i].Add(p.Rank, p.Inferior)
}

// flatten appends what a node has called.
func (t *Tree) flatten(n *node, caller mqs.Maybe[int]) {
	for _, next := range n.inOrder() {
		next.Caller = caller
		at := len(t.Frames)
		t.Frames = append(t.Frames, next.Frame)
		t.flatten(next, mqs.Known(at))
	}
}

// inOrder returns what a node has called: the frame with the most threads first, then the one with the lowest rank.
func (n *node) inOrder() []*node {
	var out []*node
	for _, next := range n.called {
		out = append(out, next)
	}
	slices.SortFunc(out, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.Threads, a.Threads), a.Compare(&b.Members),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Object, b.Object))
	})
	return out
}
