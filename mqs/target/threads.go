package target

import (
	"cmp"
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

// Threads returns where the threads are, with [Arguments].
func (r *Reader) Threads() ([]Thread, error) {
	if r.threads != nil {
		return r.threads, nil
	}
	threads, err := r.t.Threads(r.ctx, callDepth, Arguments)
	if err != nil {
		return threads, err
	}
	if _, asked := r.symbols[LibrarySymbol]; !asked {
		if _, err := r.Symbols(LibrarySymbol); err != nil {
			return nil, err
		}
	}
	if library := r.symbols[LibrarySymbol]; library != nil && library.Object != "" {
		threads = marked(threads, library.Object, r.info.Executable)
	}
	r.threads = threads
	return threads, nil
}

// marked returns threads whose frames know whether they are in the MPI library. If that is
// a part of the program, every function of the program may be the library's.
func marked(threads []Thread, library, program string) []Thread {
	out := slices.Clone(threads)
	for i := range out {
		out[i].Frames = slices.Clone(out[i].Frames)
		for k := range out[i].Frames {
			f := &out[i].Frames[k]
			object := cmp.Or(f.Object, program)
			f.inLibrary = object == library && library != program
			f.isStranger = object != library
		}
	}
	return out
}

// InCall returns the place of the innermost MPI call among the frames of a
// thread, -1 if it is in none. A function of a tool that has an MPI function's name
// is that call as long as the library is inside of it.
func (t *Thread) InCall() int {
	for _, isCall := range []func(int, Frame) bool{
		func(_ int, f Frame) bool { return f.IsMPI() },
		func(_ int, f Frame) bool { return insideName(f.Function) != "" },
		func(i int, f Frame) bool { return f.IsWrapper() && slices.ContainsFunc(t.Frames[:i], Frame.InLibrary) },
	} {
		for i, f := range t.Frames {
			if isCall(i, f) {
				return i
			}
		}
	}
	return -1
}

// IsMPI says whether the function is one of MPI's.
func (f Frame) IsMPI() bool { return !f.isStranger && f.hasMPIName() }

// IsWrapper says whether the function only has the name of one of MPI's, as those of tools have.
func (f Frame) IsWrapper() bool { return f.isStranger && f.hasMPIName() }

// InLibrary says whether the function is in the MPI library's own file, if that is known and
// not the program.
func (f Frame) InLibrary() bool { return f.inLibrary }

func (f Frame) hasMPIName() bool { return strings.HasPrefix(f.MPIName(), "MPI_") }

// MPIName is the function's name without the P of the profiling interface and
// the _c of calls with large counts (MPI 4).
func (f Frame) MPIName() string {
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

// CallName is the name of the MPI call that the frame at [Thread.InCall] stands for.
func (f Frame) CallName() string {
	if name := insideName(f.Function); name != "" {
		return name
	}
	return f.MPIName()
}

// Call is a thread that is inside an MPI call.
type Call struct {
	// Thread is the debugger's number for it.
	Thread int
	// Function is the call's plain name in C: "MPI_Recv".
	Function string
	// Frames are those of the library, from the innermost one to the call's own.
	Frames []Frame
	// Stack is where they are.
	Stack Range
	// Words are all pointers that the call can hold: the registers and the
	// stack from the innermost frame to the call's own.
	Words map[Addr]bool
}

// Calls returns the threads that are inside an MPI call, the innermost one if
// calls are nested. It fails if that can't be known of a thread, or what it holds.
func (r *Reader) Calls() ([]Call, error) {
	threads, err := r.Threads()
	if err != nil {
		return nil, err
	}
	var out []Call
	var stacks []Range
	last := r.info.lastAddr()
	for _, t := range threads {
		at := t.InCall()
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
		call := Call{Thread: t.Number, Function: t.Frames[at].CallName(), Frames: t.Frames[:at+1],
			Stack: Range{start, int(end - start)}, Words: map[Addr]bool{}}
		for _, v := range t.Registers {
			call.Words[Addr(v)&last] = true // a register can have a sign, or be wider than a pointer
		}
		out = append(out, call)
		stacks = append(stacks, call.Stack)
	}
	if err := r.Prefetch(stacks); err != nil {
		return nil, err
	}
	for i, s := range stacks {
		words, err := r.Pointers(s.Addr, s.Len/r.info.PointerSize)
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
		if f.CallName() != c.Function {
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
func (c *Call) Holds(a Addr) bool { return a >= c.Stack.Addr && a-c.Stack.Addr < Addr(c.Stack.Len) }
