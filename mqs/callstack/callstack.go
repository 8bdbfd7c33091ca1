// Package callstack finds, from the frames of threads, the MPI calls that they are in, where the program
// made these calls, and what the calls wait for.
package callstack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// callDepth is the number of frames of a thread that are searched for an MPI call. Some twenty frames are
// between a call and the system call in which it waits, but the stack of a thread in no MPI call has to
// be followed to its end.
const callDepth = 256

// maxStack bounds the part of a thread's stack that is read, in bytes.
const maxStack = 256 << 10

// wordCost is the memory that an entry of [Call.CandidatePointers] takes, in bytes.
const wordCost = 32

// argumentNames are the names of the arguments that say what a call waits for: those of MPI's functions, as the
// standard spells them in C, and those of functions inside MPICH (src/mpi).
var argumentNames = []string{"comm", "comm_ptr", "root", "source", "dest", "tag", "buf", "count", "datatype", "incount",
	"recvcount", "recvtype", "op",
	"request", "array_of_requests", "request_ptr", "request_ptrs", "numreq", "requests",
	"win", "win_ptr", "rank", "group", "group_ptr", "fh", "adio_fh", "fd"}

// LibrarySymbol is a symbol that every MPI library defines, and that tools which wrap MPI's functions do
// not: it belongs to the profiling interface (MPI 4.1, 15.2).
const LibrarySymbol = "PMPI_Init"

// stacks are the stacks of a process's threads, with the file of its MPI library.
type stacks struct {
	threads []inferior.Thread
	// library is the path of the MPI library, empty if it is not known; program is that of the program. If
	// they are equal, each function of the program may be the library's.
	library, program string
	python           python
	// named says of functions outside of the MPI library that have names like MPI's whether MPI has such a function.
	// What is not known of is not there.
	named map[string]bool
	// isSanitized is true if a sanitizer's runtime is linked into the program. It is found out only if a frame may belong to it.
	isSanitized bool
}

// stacksOf returns the stacks of a process's threads, with the values of [argumentNames].
func stacksOf(r *inferior.Reader) (*stacks, error) {
	threads, err := r.Threads(callDepth, argumentNames)
	if err != nil {
		return nil, err
	}
	return stacksWith(r, threads)
}

// stacksWith adds to stacks what tells which frames are the MPI library's.
func stacksWith(r *inferior.Reader, threads []inferior.Thread) (*stacks, error) {
	s := &stacks{threads: threads, program: r.Info().Executable}
	library, err := r.Symbol(LibrarySymbol)
	if err != nil {
		return nil, err
	}
	if library != nil {
		s.library = library.Object
	}
	if s.isSanitized, err = s.findRuntime(r); err != nil {
		return nil, err
	}
	return s, s.findNamed(r)
}

// findRuntime reports whether a sanitizer's runtime is linked into the program. It is asked only where a wrapper of a function of the C
// library may be the runtime's.
func (s *stacks) findRuntime(r *inferior.Reader) (bool, error) {
	for i := range s.threads {
		for k := range s.threads[i].Frames {
			if !wrapsSystem(&s.threads[i], k) {
				continue
			}
			symbol, err := r.Symbol(sanitizerSymbol)
			return symbol != nil && (symbol.Object == "" || symbol.Object == s.program), err
		}
	}
	return false, nil
}

// maxNames bounds how many names are looked up that may be MPI's.
const maxNames = 64

// findNamed finds out which functions of other libraries have names of MPI's functions, and which only look like it. The
// MPI library has each of MPI's functions with a P before its name too (MPI 4.1, 15.2).
func (s *stacks) findNamed(r *inferior.Reader) error {
	var names []string
	for i := range s.threads {
		for _, f := range s.threads[i].Frames {
			if name := "P" + mpiName(f); s.isTool(f) && len(names) < maxNames && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	found, err := r.Symbols(names...)
	if err != nil {
		return err
	}
	s.named = map[string]bool{}
	for _, name := range names {
		if _, has := found[name]; has || r.Lacks(name) {
			s.named[name[1:]] = has
		}
	}
	return nil
}

// looksAlike says whether a function is known to be none of MPI's, whatever its name.
func (s *stacks) looksAlike(f inferior.Frame) bool {
	has, known := s.named[mpiName(f)]
	return known && !has && s.isElsewhere(f)
}

// inCall returns the index of the innermost MPI call among the frames of a thread; -1 if there is none. A
// tool's function with the name of an MPI function is that call if it has called the library.
func (s *stacks) inCall(t *inferior.Thread) int {
	for _, isCall := range []func(int, inferior.Frame) bool{
		func(_ int, f inferior.Frame) bool { return s.isMPI(f) },
		func(_ int, f inferior.Frame) bool { return tailCalled(f.Function) != "" },
		func(i int, f inferior.Frame) bool {
			return s.isTool(f) && slices.ContainsFunc(t.Frames[:i], s.inLibrary)
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

// isMPI says whether a function is an MPI function.
func (s *stacks) isMPI(f inferior.Frame) bool { return !s.isElsewhere(f) && hasMPIName(f) }

// isTool says whether a function has the name of an MPI function and is a tool's.
func (s *stacks) isTool(f inferior.Frame) bool {
	return s.isElsewhere(f) && hasMPIName(f) && !s.looksAlike(f)
}

// inLibrary says whether a function is in the MPI library's file, if that is known and is not the program.
func (s *stacks) inLibrary(f inferior.Frame) bool {
	return s.library != "" && s.library != s.program && s.objectOf(f) == s.library
}

// isElsewhere says whether a function is known to be in another file than the MPI library's.
func (s *stacks) isElsewhere(f inferior.Frame) bool {
	return s.library != "" && s.objectOf(f) != s.library
}

// objectOf returns the path of the file that defines a function.
func (s *stacks) objectOf(f inferior.Frame) string { return cmp.Or(f.Object, s.program) }

func hasMPIName(f inferior.Frame) bool { return strings.HasPrefix(mpiName(f), "MPI_") }

// mpiName returns a function's name without the P of the profiling interface and the _c of calls with
// large counts (MPI 4).
func mpiName(f inferior.Frame) string {
	return strings.TrimSuffix(strings.TrimPrefix(f.Function, "P"), "_c")
}

// tailCalled returns the MPI call that has tail-called an internal function, which so has replaced its
// frame: internal_Waitany in MPICH (src/binding/c, from 4.0), ompi_mpi_finalize and mca_pml_base_bsend_detach
// in Open MPI. It is empty for other functions.
func tailCalled(function string) string {
	if rest, ok := strings.CutPrefix(function, "internal_"); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
		return "MPI_" + strings.TrimSuffix(rest, "_c")
	}
	switch function {
	case "ompi_mpi_finalize":
		return "MPI_Finalize"
	case "mca_pml_base_bsend_detach":
		return "MPI_Buffer_detach"
	}
	return ""
}

// callName returns the name of the MPI call for which a frame stands: see [stacks.inCall].
func callName(f inferior.Frame) string {
	if name := tailCalled(f.Function); name != "" {
		return name
	}
	return mpiName(f)
}

// Call is an MPI call that a thread is inside of.
type Call struct {
	// Thread is the debugger's number for the thread.
	Thread int
	// Function is the call's plain name in C: "MPI_Recv".
	Function string
	// Frames are the library's frames, from the innermost one to the call's own.
	Frames []inferior.Frame
	// Stack is the part of the stack that these frames take.
	Stack inferior.Range
	// CandidatePointers are all values that may be pointers of the call: its registers, and the words of Stack.
	CandidatePointers map[inferior.Addr]bool
	// kept are the values of registers that only its own frames have: see [Call.Keeps].
	kept map[inferior.Addr]bool
	// Outer is the call that has made this one, as those for files do; nil if the program has made it.
	Outer *Call
}

// Calls returns the MPI calls that threads are in; of nested calls, the innermost one. It fails if a
// thread's stack, or what a call holds, is not known.
func Calls(r *inferior.Reader) ([]Call, error) {
	all, err := stacksOf(r)
	if err != nil {
		return nil, err
	}
	var out []Call
	last := r.Info().LastAddr()
	// within is the call of the frame at an index whose stack begins at that of another frame.
	within := func(t *inferior.Thread, from, at int) (*Call, error) {
		if at+1 == len(t.Frames) {
			return nil, fmt.Errorf("the caller of %s in thread %d is not known", t.Frames[at].Function, t.Number)
		}
		start, end := t.Frames[from].StackPointer&last, t.Frames[at+1].StackPointer&last
		if end < start || end-start > maxStack {
			return nil, fmt.Errorf("the stack of thread %d, from %s to %s, can't be right", t.Number, start, end)
		}
		return &Call{Thread: t.Number, Function: callName(t.Frames[at]), Frames: t.Frames[from : at+1],
			Stack: inferior.Range{Addr: start, Len: int(end - start)}, CandidatePointers: map[inferior.Addr]bool{}}, nil
	}
	for _, t := range all.threads {
		at := all.inCall(&t)
		if at < 0 {
			if !t.Complete {
				return nil, fmt.Errorf("the stack of thread %d can't be followed", t.Number)
			}
			continue
		}
		call, err := within(&t, 0, at)
		if err != nil {
			return nil, err
		}
		for _, v := range t.Registers {
			call.CandidatePointers[inferior.Addr(v)&last] = true // a register may be signed, or wider than a pointer
		}
		call.kept = keptBy(call.Frames, t.Frames[at+1], last)
		if outer := slices.IndexFunc(t.Frames[at+1:], all.isMPI); outer >= 0 {
			call.Outer, _ = within(&t, at+1, at+1+outer) // of one that is not known, nothing is asked
		}
		out = append(out, *call)
	}
	return out, readStacks(r, out)
}

// keptBy returns what is in the registers that functions keep, in frames of a call, and not in the same register of
// its caller: that may be the caller's own.
func keptBy(frames []inferior.Frame, caller inferior.Frame, last inferior.Addr) map[inferior.Addr]bool {
	out := map[inferior.Addr]bool{}
	for _, f := range frames {
		for i, v := range f.Kept {
			if i < len(caller.Kept) && v != 0 && v != caller.Kept[i] {
				out[inferior.Addr(v)&last] = true
			}
		}
	}
	return out
}

// Keeps says whether one of the call's functions has a value in a register that the functions that it calls have to
// keep: then it works with it. The words on its stack may be left from calls before.
func (c *Call) Keeps(a inferior.Addr) bool { return c.kept[a] }

// readStacks adds the words on the stacks of calls to what may be their pointers.
func readStacks(r *inferior.Reader, calls []Call) error {
	var all []*Call
	var stacks []inferior.Range
	for i := range calls {
		for c := &calls[i]; c != nil; c = c.Outer {
			all, stacks = append(all, c), append(stacks, c.Stack)
		}
	}
	if err := r.Prefetch(stacks); err != nil {
		return err
	}
	for _, c := range all {
		words, err := r.Pointers(c.Stack.Addr, c.Stack.Len/r.Info().PointerSize)
		if err != nil {
			return err
		}
		if err := r.Spend(len(words) * wordCost); err != nil {
			return err
		}
		for _, w := range words {
			c.CandidatePointers[w] = true
		}
	}
	return nil
}

// Argument returns the value of the first of some arguments that a frame has. The call's own frame is
// searched first, and then those inside of it.
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

// CallArgument returns the value of an argument in the call's own frame, as the program has passed it.
func (c *Call) CallArgument(name string) (int64, bool) {
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

// InnermostArgument returns the value of an argument in the innermost frame that has it.
func (c *Call) InnermostArgument(name string) (int64, bool) {
	for _, f := range c.Frames {
		if v, ok := f.Variables[name]; ok {
			return v, true
		}
	}
	return 0, false
}

// OnStack says whether an address is on the call's part of the stack.
func (c *Call) OnStack(a inferior.Addr) bool {
	return a >= c.Stack.Addr && a-c.Stack.Addr < inferior.Addr(c.Stack.Len)
}
