// Package stacks merges the stacks of the ranks of a job into one tree of calls, which shows how many ranks
// have come how far, and which ones; those of several looks, also which ranks stand.
package stacks

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Process is a process whose stacks are merged with those of others.
type Process struct {
	// Rank is its rank in MPI_COMM_WORLD.
	Rank mqs.Maybe[int32]
	// Inferior is the debugger's number for it.
	Inferior int
	// Stacks are those of its threads that are asked for.
	Stacks []mqs.Stack
	// Why it has no stacks, as a clause; empty if it has.
	Why string
}

// Tree is the stacks of many processes, as far as they are the same put together.
type Tree struct {
	// Looks is how often the processes were looked at.
	Looks int `json:"looks" document:"min=0"`
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
	// Threads is how many threads have the frame, or had it in one look.
	Threads int `json:"threads"`
	// Innermost is how many of these threads have no further frame, or had none in one look.
	Innermost int `json:"innermost"`
	// Ends are the processes of those.
	Ends mqs.Members `json:"-"`
	// Standing are the ranks a thread of which had the frame in every look.
	Standing []int32 `json:"standing" document:"ranges"`
	// Representative is a rank whose thread has no further frame, one that is so in every look if there is any.
	Representative mqs.Maybe[int32] `json:"representative" document:"min=0"`
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
	called map[mqs.StackFrame]*node
	// seen and ended are in how many looks each thread had the frame, and had no further one.
	seen, ended map[thread]int
}

// thread is a thread of a process.
type thread struct {
	rank             mqs.Maybe[int32]
	inferior, number int
}

// Merge makes a tree of the stacks of processes.
func Merge(processes []Process) *Tree { return MergeLooks([][]Process{processes}) }

// MergeLooks makes a tree of the stacks that processes had in several looks.
func MergeLooks(looks [][]Process) *Tree {
	root, out := &node{}, &Tree{Looks: len(looks)}
	for _, processes := range looks {
		processes = slices.Clone(processes)
		slices.SortStableFunc(processes, func(a, b Process) int {
			return cmp.Or(cmp.Compare(order(a.Rank), order(b.Rank)), cmp.Compare(a.Inferior, b.Inferior))
		})
		for i := range processes {
			p := &processes[i]
			why := p.Why
			for _, s := range p.Stacks {
				if len(s.Frames) == 0 {
					why = "the stack can't be read"
					continue
				}
				root.add(thread{p.Rank, p.Inferior, s.Thread}, s.Frames)
			}
			if why != "" {
				out.leaveOut(p, why)
			}
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

// mostFrames bounds a stack, of which a document may have any: where there are more, the outer ones are left out.
const mostFrames = 1500

// add adds a stack beneath the root.
func (n *node) add(t thread, frames []mqs.StackFrame) {
	if more := len(frames) - mostFrames; more > 0 {
		frames = slices.Concat([]mqs.StackFrame{{IsGap: true}}, frames[more:])
	}
	for _, f := range frames {
		if n.called == nil {
			n.called = map[mqs.StackFrame]*node{}
		}
		next := n.called[f]
		if next == nil {
			next = &node{Frame: Frame{Function: f.Function, File: f.File, Line: f.Line, Object: f.Object, Call: f.IsCall, Gap: f.IsGap},
				seen: map[thread]int{}, ended: map[thread]int{}}
			n.called[f] = next
		}
		n = next
		n.Add(t.rank, t.inferior)
		n.seen[t]++
	}
	n.Ends.Add(t.rank, t.inferior)
	n.ended[t]++
}

// count fills in what the looks say of a frame.
func (n *node) count(looks int) {
	n.Threads, n.Innermost = len(n.seen), len(n.ended)
	var standing []int32
	for t, times := range n.seen {
		if times == looks && t.rank.Known {
			standing = append(standing, t.rank.Value)
		}
	}
	slices.Sort(standing)
	n.Standing = slices.Compact(standing)
	stands := false
	for t, times := range n.ended {
		if t.rank.Known && (!n.Representative.Known || times == looks && !stands || (times == looks) == stands && t.rank.Value < n.Representative.Value) {
			n.Representative, stands = t.rank, times == looks
		}
	}
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
	for _, next := range n.called {
		next.count(t.Looks)
	}
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
