package target

import (
	"fmt"
	"slices"
	"strings"
)

// callDepth is how many frames of a thread are looked at for an MPI call.
// Between a call and the system call that it waits in there are some twenty,
// but threads that are in no MPI call are to be followed to their end.
const callDepth = 256

// maxStack bounds how much of a thread's stack is read.
const maxStack = 256 << 10

// Call is a thread that is inside an MPI call.
type Call struct {
	// Function is the call's plain name in C: "MPI_Recv".
	Function string
	// Words are all pointers that the call can hold: the registers and the
	// stack from the innermost frame to the call's own.
	Words map[Addr]bool
}

// Calls returns the threads that are inside an MPI call, the innermost one if
// calls are nested. It fails if that can't be known of a thread, or what it holds.
func (r *Reader) Calls() ([]Call, error) {
	threads, err := r.t.Threads(r.ctx, callDepth)
	if err != nil {
		return nil, err
	}
	var out []Call
	var stacks []Range
	for _, t := range threads {
		at := slices.IndexFunc(t.Frames, func(f Frame) bool { return strings.HasPrefix(callName(f), "MPI_") })
		if at < 0 {
			if !t.Complete {
				return nil, fmt.Errorf("the stack of thread %d can't be followed", t.Number)
			}
			continue
		}
		call := Call{Function: callName(t.Frames[at]), Words: map[Addr]bool{}}
		for _, v := range t.Registers {
			call.Words[Addr(v)] = true
		}
		if at+1 == len(t.Frames) {
			return nil, fmt.Errorf("the caller of %s in thread %d is not known", t.Frames[at].Function, t.Number)
		}
		start, end := t.Frames[0].StackPointer, t.Frames[at+1].StackPointer
		if end < start || end-start > maxStack {
			return nil, fmt.Errorf("the stack of thread %d, from %s to %s, can't be right", t.Number, start, end)
		}
		out = append(out, call)
		stacks = append(stacks, Range{start, int(end - start)})
	}
	if err := r.Prefetch(stacks); err != nil {
		return nil, err
	}
	for i, s := range stacks {
		words, err := r.Pointers(s.Addr, s.Len/r.info.PointerSize)
		if err != nil {
			return nil, err
		}
		for _, w := range words {
			out[i].Words[w] = true
		}
	}
	return out, nil
}

// callName is a function's name without the P of the profiling interface and
// the _c of calls with large counts (MPI 4).
func callName(f Frame) string {
	return strings.TrimSuffix(strings.TrimPrefix(f.Function, "P"), "_c")
}
