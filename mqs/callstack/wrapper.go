package callstack

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// beyondTool returns the index of the frame that has called a tool's MPI function, if the frames from an index on are
// that tool's; else the index itself. A tool may have functions of its own between its MPI_Send and PMPI_Send.
func (s *stacks) beyondTool(t *inferior.Thread, from int) int {
	out := from
	for i := from; i < len(t.Frames); i++ {
		switch {
		case s.objectOf(t.Frames[i]) != s.objectOf(t.Frames[from]):
			return out
		case s.isTool(t.Frames[i]):
			out = i + 1
		}
	}
	return out
}

// hidesPython says whether a thread runs Python code of which nothing is known: then the first frame of its program is the
// interpreter's.
func (s *stacks) hidesPython(t *inferior.Thread) bool {
	return len(s.python.frames[t.Number]) == 0 && slices.ContainsFunc(t.Frames, s.maybeInterpreter)
}

// callers returns the functions through which the program has come to an MPI call, where a wrapper has made it: its own,
// the first that has a line of source, and the first of the program itself. It is nil where the program has made
// the call, and where that is not known, as where the wrapper is linked into the program.
func (s *stacks) callers(frames []inferior.Frame) []mqs.Caller {
	if len(frames) == 0 || s.isProgram(frames[0]) || s.inLibrary(frames[0]) || isForeign(frames[0].Object) {
		return nil
	}
	at := slices.IndexFunc(frames, s.isProgram)
	if at < 0 {
		return nil
	}
	place := max(slices.IndexFunc(frames[:at], func(f inferior.Frame) bool { return f.File != "" }), 0)
	var out []mqs.Caller
	for _, f := range []inferior.Frame{frames[0], frames[place], frames[at]} {
		c := mqs.Caller{Function: f.Function, File: f.File, Line: f.Line}
		if !s.isProgram(f) {
			c.Object = f.Object
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// isProgram says whether a function is in the program itself and in none of its libraries.
func (s *stacks) isProgram(f inferior.Frame) bool { return f.Object == "" || f.Object == s.program }
