package target

import (
	"fmt"
	"strings"
)

// callDepth is how many frames of a thread are looked at for an MPI call.
// Between a call and the system call that it waits in there are some twenty.
const callDepth = 64

// maxStack bounds how much of a thread's stack is read.
const maxStack = 256 << 10

// Call is a thread that is inside an MPI call.
type Call struct {
	// Function is the call's name in C without the P of the profiling
	// interface: "MPI_Recv".
	Function string
	// Words are all pointers that the call can hold: the registers and the
	// stack from the innermost frame to the call's own.
	Words map[Addr]bool
}

// Calls returns the threads that are inside an MPI call, the innermost one if
// calls are nested. It fails if the stack of a thread can't be followed: such a
// thread can be in any call.
func (r *Reader) Calls() ([]Call, error) {
	threads, err := r.t.Threads(r.ctx, callDepth)
	if err != nil {
		return nil, err
	}
	var out []Call
	for _, t := range threads {
		if len(t.Frames) < 2 {
			return nil, fmt.Errorf("the stack of thread %d can't be followed", t.Number)
		}
		for i, f := range t.Frames {
			name := strings.TrimPrefix(f.Function, "P")
			if !strings.HasPrefix(name, "MPI_") {
				continue
			}
			call := Call{Function: name, Words: map[Addr]bool{}}
			for _, v := range t.Registers {
				call.Words[Addr(v)] = true
			}
			end := f.StackPointer
			if i+1 < len(t.Frames) {
				end = t.Frames[i+1].StackPointer
			}
			r.addWords(call.Words, t.Frames[0].StackPointer, end)
			out = append(out, call)
			break
		}
	}
	return out, nil
}

// addWords adds the pointers between two stack pointers. What can't be read adds none.
func (r *Reader) addWords(words map[Addr]bool, start, end Addr) {
	width := Addr(r.info.PointerSize)
	if end <= start || end-start > maxStack {
		return
	}
	stack, err := r.Pointers(start, int((end-start)/width))
	if err != nil {
		return
	}
	for _, p := range stack {
		words[p] = true
	}
}
