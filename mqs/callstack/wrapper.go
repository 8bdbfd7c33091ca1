package callstack

import (
	"path"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// beyondTool returns the index of the frame that has called a tool's MPI function, if the frames from an index on are
// that tool's; else the index itself. A tool may have functions of its own between its MPI_Send and PMPI_Send.
func (s *stacks) beyondTool(t *inferior.Thread, from int) int {
	out := from
	for i := from; i < len(t.Frames) && s.objectOf(t.Frames[i]) == s.objectOf(t.Frames[from]); i++ {
		if s.standsForMPI(t.Frames[i]) {
			out = i + 1
		}
	}
	return out
}

// standsForMPI says whether a function is known to be one of MPI's for a language, or a tool's in the place of one.
func (s *stacks) standsForMPI(f inferior.Frame) bool {
	if s.isTool(f) {
		return s.named[mpiName(f)]
	}
	return isBinding(f.Function) && (s.inLibrary(f) || isForeign(f.Object))
}

// hidesPython says whether a thread runs Python code of which nothing is known: then the first frame of its program is the
// interpreter's.
func (s *stacks) hidesPython(t *inferior.Thread) bool {
	return len(s.python.frames[t.Number]) == 0 && slices.ContainsFunc(t.Frames, s.maybeInterpreter)
}

// callers returns the functions through which the program has come to an MPI call, where a wrapper has made it: its own,
// the first that has a line of source, and the first of the program itself. A wrapper is a library, or a header. callers is
// nil where the program has made the call, and where that is not known, as where a library is linked into the program. The
// frames are those that have led to the call, without those that stand for MPI.
func (s *stacks) callers(frames []inferior.Frame) []mqs.Caller {
	at := slices.IndexFunc(frames, s.isProgram)
	if at < 0 || frames[at].Function == "" { // what has no name and no library may be anything's
		return nil
	}
	first := slices.IndexFunc(frames[:at], func(f inferior.Frame) bool { return f.Function != "" })
	if first < 0 || slices.ContainsFunc(frames[:first+1], func(f inferior.Frame) bool {
		maybeMPI := isBinding(f.Function) && !s.looksAlike(f)
		return f.Object != frames[first].Object || maybeMPI || s.inLibrary(f) || isForeign(f.Object)
	}) {
		return nil // another one may have made the call
	}
	place := slices.IndexFunc(frames[:at], func(f inferior.Frame) bool { return f.File != "" && f.Function != "" && !isForeign(f.Object) })
	var out []mqs.Caller
	for _, i := range []int{first, max(first, place), at} {
		c := mqs.Caller{Function: withoutParameters(frames[i].Function), File: frames[i].File, Line: frames[i].Line}
		if !s.isInProgram(frames[i]) {
			c.Object = frames[i].Object
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// isProgram says whether a function is the program's own: in none of its libraries, and of no library's header.
func (s *stacks) isProgram(f inferior.Frame) bool { return s.isInProgram(f) && !isOfHeader(f) }

// isInProgram says whether a function is in the program itself and in none of its libraries.
func (s *stacks) isInProgram(f inferior.Frame) bool { return f.Object == "" || f.Object == s.program }

// isOfHeader says whether a function's source is where libraries have their headers, as Boost.MPI's templates are.
func isOfHeader(f inferior.Frame) bool {
	return path.IsAbs(f.File) && strings.Contains(f.File, "/include/")
}

// withoutParameters is a function's name as a debugger has it of functions with a line of source. Of others it has the
// parameters of C++ too: "solver::step(int, double) const".
func withoutParameters(name string) string {
	end := strings.TrimSuffix(name, " const")
	if !strings.HasSuffix(end, ")") {
		return name
	}
	depth := 0
	for i := len(end) - 1; i > 0; i-- {
		switch end[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 && end[i] == '(' {
			if strings.HasSuffix(end[:i], "operator") || strings.HasSuffix(end[:i], "::") {
				return name // "operator()", "(anonymous namespace)"
			}
			return end[:i]
		}
	}
	return name
}
