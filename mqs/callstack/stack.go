package callstack

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// stackDepth is the number of frames that are read of a thread whose whole stack is asked for.
const stackDepth = 1000

// Frame is a frame of a stack as far as frames of different processes can be the same.
type Frame struct {
	// Function is its name, empty if it has none. An MPI call has its plain name in C.
	Function string
	// File is the source of a function of the program, Line where in the file the call of the next frame is.
	// A library's function has none.
	File string
	Line int
	// Object is the path of the library that the function is in, empty if it is in the program.
	Object string
	// IsCall is true of an MPI call.
	IsCall bool
	// IsGap stands for the outer frames of a stack that can't be followed to its end.
	IsGap bool
}

// Stack is the stack of one thread.
type Stack struct {
	// Thread is the debugger's number for the thread.
	Thread int
	// Frames from the outermost inwards. There are none of a thread that can't be read.
	Frames []Frame
}

// Stacks returns the stacks of a process's threads, in the debugger's order. Without internal, a stack ends
// at the MPI call that the thread is in or, if it is in none, at the call of the C library.
func Stacks(r *inferior.Reader, internal bool) ([]Stack, error) {
	threads, err := r.Threads(stackDepth, nil)
	if err != nil {
		return nil, err
	}
	s, err := stacksWith(r, threads)
	if err != nil {
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
	frames := t.Frames
	at := s.outermostCall(t)
	switch {
	case internal:
	case at >= 0:
		frames = frames[at:]
		at = 0
	default:
		frames = frames[max(0, systemFrames(t)-1):]
	}
	for i, f := range frames {
		frame := Frame{Function: systemName(f), File: f.File, Line: f.Line, Object: f.Object}
		if i == at {
			frame.Function, frame.IsCall = callName(f), true
		}
		if i == at || isForeign(f.Object) || s.inLibrary(f) {
			frame.File, frame.Line = "", 0
		}
		out.Frames = append(out.Frames, frame)
	}
	if !t.Complete && len(frames) > 0 {
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
