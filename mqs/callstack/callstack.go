// Package callstack goes from the frames of threads to the MPI calls that they are in, and to
// where in the program those were made.
package callstack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// callDepth is how many frames of a thread are looked at for an MPI call.
// Between a call and the system call that it waits in there are some twenty,
// but threads that are in no MPI call are to be followed to their end.
const callDepth = 256

// maxStack bounds how much of a thread's stack is read.
const maxStack = 256 << 10

// wordCost is what an entry of [Call.Words] takes, in bytes.
const wordCost = 32

// Arguments are the names of those arguments of MPI's functions, and of the
// functions inside of MPI libraries, that say what a call waits for: as the
// standard spells them in C, and MPICH (src/mpi) those that it makes of them.
var Arguments = []string{"comm", "comm_ptr", "root", "source", "dest", "tag", "buf", "count", "datatype", "incount",
	"request", "array_of_requests", "request_ptr", "request_ptrs", "numreq", "requests"}

// LibrarySymbol is a symbol that every MPI library has, and that tools which wrap MPI's functions
// leave alone: the profiling interface's (MPI 4.1, 15.2).
const LibrarySymbol = "PMPI_Init"

// Stacks are the stacks of a process's threads, and which of their functions are the MPI library's.
type Stacks struct {
	Threads []inferior.Thread
	// library is the path of the MPI library's file, empty if not known, and program that of the program.
	// If they are one, every function of the program may be the library's.
	library, program string
}

// StacksOf returns the stacks of a process's threads, with [Arguments].
func StacksOf(r *inferior.Reader) (*Stacks, error) {
	threads, err := r.Threads(callDepth, Arguments)
	if err != nil {
		return nil, err
	}
	s := &Stacks{Threads: threads, program: r.Info().Executable}
	library, err := r.Symbol(LibrarySymbol)
	if err != nil {
		return nil, err
	}
	if library != nil {
		s.library = library.Object
	}
	return s, nil
}

// inCall returns the place of the innermost MPI call among the frames of a
// thread, -1 if it is in none. A function of a tool that has an MPI function's name
// is that call as long as the library is inside of it.
func (s *Stacks) inCall(t *inferior.Thread) int {
	for _, isCall := range []func(int, inferior.Frame) bool{
		func(_ int, f inferior.Frame) bool { return s.isMPI(f) },
		func(_ int, f inferior.Frame) bool { return insideName(f.Function) != "" },
		func(i int, f inferior.Frame) bool {
			return s.isWrapper(f) && slices.ContainsFunc(t.Frames[:i], s.inLibrary)
		},
	} {
		for i, f := range t.Frames {
			if isCall(i, f) {
				return i
			}
		}
	}
	return -1
}

// isMPI says whether the function is one of MPI's.
func (s *Stacks) isMPI(f inferior.Frame) bool { return !s.isStranger(f) && hasMPIName(f) }

// isWrapper says whether the function only has the name of one of MPI's, as those of tools have.
func (s *Stacks) isWrapper(f inferior.Frame) bool { return s.isStranger(f) && hasMPIName(f) }

// inLibrary says whether the function is in the MPI library's own file, if that is known and
// not the program.
func (s *Stacks) inLibrary(f inferior.Frame) bool {
	return s.library != "" && s.library != s.program && s.objectOf(f) == s.library
}

// isStranger says whether the function is known to be in another file than the MPI library's.
func (s *Stacks) isStranger(f inferior.Frame) bool {
	return s.library != "" && s.objectOf(f) != s.library
}

// objectOf is the path of the file that a function is in.
func (s *Stacks) objectOf(f inferior.Frame) string { return cmp.Or(f.Object, s.program) }

func hasMPIName(f inferior.Frame) bool { return strings.HasPrefix(mpiName(f), "MPI_") }

// mpiName is the function's name without the P of the profiling interface and
// the _c of calls with large counts (MPI 4).
func mpiName(f inferior.Frame) string {
	return strings.TrimSuffix(strings.TrimPrefix(f.Function, "P"), "_c")
}

// insideName is the MPI call whose frame a library's own function has taken by
// ending it (a tail call): internal_Waitany in MPICH (src/binding/c, from 4.0),
// ompi_mpi_finalize in Open MPI. It is empty for other functions.
func insideName(function string) string {
	if rest, ok := strings.CutPrefix(function, "internal_"); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
		return "MPI_" + strings.TrimSuffix(rest, "_c")
	}
	if function == "ompi_mpi_finalize" {
		return "MPI_Finalize"
	}
	return ""
}

// callName is the name of the MPI call that the frame at [Stacks.inCall] stands for.
func callName(f inferior.Frame) string {
	if name := insideName(f.Function); name != "" {
		return name
	}
	return mpiName(f)
}

// Call is a thread that is inside an MPI call.
type Call struct {
	// Thread is the debugger's number for it.
	Thread int
	// Function is the call's plain name in C: "MPI_Recv".
	Function string
	// Frames are those of the library, from the innermost one to the call's own.
	Frames []inferior.Frame
	// Stack is where they are.
	Stack inferior.Range
	// Words are all pointers that the call can hold: the registers and the
	// stack from the innermost frame to the call's own.
	Words map[inferior.Addr]bool
}

// Calls returns the threads that are inside an MPI call, the innermost one if
// calls are nested. It fails if that can't be known of a thread, or what it holds.
func Calls(r *inferior.Reader) ([]Call, error) {
	all, err := StacksOf(r)
	if err != nil {
		return nil, err
	}
	var out []Call
	var stacks []inferior.Range
	last := r.Info().LastAddr()
	for _, t := range all.Threads {
		at := all.inCall(&t)
		if at < 0 {
			if !t.Complete {
				return nil, fmt.Errorf("the stack of thread %d can't be followed", t.Number)
			}
			continue
		}
		if at+1 == len(t.Frames) {
			return nil, fmt.Errorf("the caller of %s in thread %d is not known", t.Frames[at].Function, t.Number)
		}
		start, end := t.Frames[0].StackPointer&last, t.Frames[at+1].StackPointer&last
		if end < start || end-start > maxStack {
			return nil, fmt.Errorf("the stack of thread %d, from %s to %s, can't be right", t.Number, start, end)
		}
		call := Call{Thread: t.Number, Function: callName(t.Frames[at]), Frames: t.Frames[:at+1],
			Stack: inferior.Range{Addr: start, Len: int(end - start)}, Words: map[inferior.Addr]bool{}}
		for _, v := range t.Registers {
			call.Words[inferior.Addr(v)&last] = true // a register can have a sign, or be wider than a pointer
		}
		out = append(out, call)
		stacks = append(stacks, call.Stack)
	}
	if err := r.Prefetch(stacks); err != nil {
		return nil, err
	}
	for i, s := range stacks {
		words, err := r.Pointers(s.Addr, s.Len/r.Info().PointerSize)
		if err != nil {
			return nil, err
		}
		if err := r.Spend(len(words) * wordCost); err != nil {
			return nil, err
		}
		for _, w := range words {
			out[i].Words[w] = true
		}
	}
	return out, nil
}

// Argument returns the value of an argument of the call: of the call's own
// frame or, where that does not keep it, of a frame further inside.
func (c *Call) Argument(names ...string) (int64, bool) {
	for _, f := range slices.Backward(c.Frames) {
		for _, name := range names {
			if v, ok := f.Variables[name]; ok {
				return v, true
			}
		}
	}
	return 0, false
}

// Own returns the value of an argument of the call's own frame, as the program
// has passed it.
func (c *Call) Own(name string) (int64, bool) {
	for _, f := range slices.Backward(c.Frames) {
		if callName(f) != c.Function {
			break
		}
		if v, ok := f.Variables[name]; ok {
			return v, true
		}
	}
	return 0, false
}

// Innermost is [Call.Argument] from the other end: of the innermost frame that has it.
func (c *Call) Innermost(name string) (int64, bool) {
	for _, f := range c.Frames {
		if v, ok := f.Variables[name]; ok {
			return v, true
		}
	}
	return 0, false
}

// Holds says whether an address is on the call's part of the stack.
func (c *Call) Holds(a inferior.Addr) bool {
	return a >= c.Stack.Addr && a-c.Stack.Addr < inferior.Addr(c.Stack.Len)
}
