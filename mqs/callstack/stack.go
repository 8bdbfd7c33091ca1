package callstack

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// stackDepth is the number of frames that are read of a thread whose whole stack is asked for.
const stackDepth = 1000

// Frame is the model's.
type Frame = mqs.StackFrame

// Stack is the model's.
type Stack = mqs.Stack

// Stacks returns the stacks of a process's threads, in the debugger's order. Without internal, a stack ends
// at the MPI call that the thread is in or, if it is in none, at the call of the C library, and the functions of a
// Python program are in the place of those of the interpreter.
func Stacks(r *inferior.Reader, internal bool) ([]Stack, error) {
	threads, err := r.Threads(stackDepth, nil)
	if err != nil {
		return nil, err
	}
	s, err := stacksWith(r, threads)
	if err != nil {
		return nil, err
	}
	if s.python, err = pythonOf(r, s); err != nil {
		return nil, err
	}
	out := make([]Stack, len(threads))
	for i := range threads {
		out[i] = s.whole(&threads[i], internal)
	}
	return out, nil
}

// whole returns the stack of a thread.
func (s *stacks) whole(t *inferior.Thread, internal bool) Stack {
	out := Stack{Thread: t.Number}
	from, at := 0, s.outermostCall(t)
	switch {
	case internal:
	case at >= 0:
		from = at
	default:
		from = max(0, systemFrames(t)-1)
	}
	for i := from; i < len(t.Frames); i++ {
		for _, p := range s.python.frames[t.Number][i] {
			out.Frames = append(out.Frames, Frame{Function: p.Function, File: p.File, Line: int(p.Line)})
		}
		f := t.Frames[i]
		if !internal && s.isReplaced(t, i) {
			continue
		}
		frame := Frame{Function: systemName(f), File: f.File, Line: f.Line, Object: f.Object}
		if i == at {
			frame.Function, frame.IsCall = callName(f), true
		}
		if i == at || isForeign(f.Object) || s.inLibrary(f) {
			frame.File, frame.Line = "", 0
		}
		out.Frames = append(out.Frames, frame)
	}
	if !t.Complete && from < len(t.Frames) {
		out.Frames = append(out.Frames, Frame{IsGap: true})
	}
	slices.Reverse(out.Frames)
	return out
}

// systemFrames returns how many of the innermost frames of a thread are the C library's.
func systemFrames(t *inferior.Thread) int {
	n := slices.IndexFunc(t.Frames, func(f inferior.Frame) bool { return !isSystemFrame(f) })
	if n < 0 {
		return 0 // not even its outermost function is the program's
	}
	return n
}

// systemName returns the name of a function; one of the C library's that is known by a plain name has that.
func systemName(f inferior.Frame) string {
	name := plainName(f.Function)
	if activities[name] != "" && isSystemFrame(f) || slices.Contains(byArguments, name) && isSystem(f.Object) {
		return name
	}
	return f.Function
}

// outermostCall returns the index of the MPI call that the program has made: the innermost one or, if another
// call has made that, as those for files do, the other. It is -1 if there is none.
func (s *stacks) outermostCall(t *inferior.Thread) int {
	at := s.inCall(t)
	if at < 0 {
		return at
	}
	for i := at + 1; i < len(t.Frames); i++ {
		f := t.Frames[i]
		switch {
		case s.isMPI(f):
			at = i
		case !s.inLibrary(f):
			return at
		}
	}
	return at
}
