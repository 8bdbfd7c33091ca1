package callstack

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Locate returns where the threads of a process are: its first thread, those in MPI calls or in
// the program's own code, and those that are not placed. It is nil if that can't be read.
func Locate(r *inferior.Reader) []mqs.Thread {
	stacks, err := StacksOf(r)
	if err != nil {
		return nil
	}
	out := []mqs.Thread{}
	for i := range stacks.Threads {
		t, own := threadAt(stacks, &stacks.Threads[i])
		// The threads that libraries have made for themselves are of no interest.
		if t.Call == "" && i > 0 && !own && t.Placed {
			continue
		}
		t.Activity, t.Joined = activity(&t, i, stacks.Threads)
		out = append(out, t)
	}
	return out
}

// threadAt finds the call and the program's own frame on a thread's stack, and
// says whether the program itself has such a frame.
func threadAt(s *Stacks, t *inferior.Thread) (mqs.Thread, bool) {
	out := mqs.Thread{Number: t.Number}
	own := t.Frames
	if at := s.inCall(t); at >= 0 {
		out.Call = callName(t.Frames[at])
		own = t.Frames[at+1:]
	}
	// A call that is made inside another, as those for files do, is the outer one's affair.
	for i := range own {
		if s.isMPI(own[i]) {
			out.Call, own = mpiName(own[i]), own[i+1:]
			break
		}
	}
	own = slices.DeleteFunc(slices.Clone(own), func(f inferior.Frame) bool {
		return f.Function == "" || isBinding(f.Function) && (out.Call != "" || !s.isWrapper(f))
	})
	f := programFrame(own, out.Call != "")
	out.Function, out.File, out.Line = f.Function, f.File, f.Line
	out.Placed = out.Call != "" || isOutside(s, t)
	return out, isOwn(t, f)
}

// isOutside says whether a thread that is in no call that has a name is known to be in none: its
// stack has been followed to its end, has names, and none of the program's functions is inside of
// which the MPI library is, with a function that nobody knows.
func isOutside(s *Stacks, t *inferior.Thread) bool {
	at := slices.IndexFunc(t.Frames, s.inLibrary)
	entered := at >= 0 && slices.ContainsFunc(t.Frames[at:], func(f inferior.Frame) bool { return !s.inLibrary(f) && !isForeign(f.Object) })
	return t.Complete && !entered && slices.ContainsFunc(t.Frames, func(f inferior.Frame) bool { return f.Function != "" })
}

// isOwn says whether a thread has a frame that is not a library's of an MPI or of
// the system. Of recordings that do not say where functions are only those with
// a line count.
func isOwn(t *inferior.Thread, f inferior.Frame) bool {
	if !slices.ContainsFunc(t.Frames, func(f inferior.Frame) bool { return f.Object != "" }) {
		return f.File != ""
	}
	return slices.ContainsFunc(t.Frames, func(f inferior.Frame) bool { return !isForeign(f.Object) && !isKernels(f) })
}

// isKernels tells the functions of the page of code that the kernel gives to
// every process (vDSO), which is no library to a debugger.
func isKernels(f inferior.Frame) bool {
	name := strings.TrimPrefix(f.Function, "__vdso_")
	return f.Object == "" && f.File == "" && slices.Contains([]string{"clock_gettime", "clock_getres", "gettimeofday", "time", "getcpu"}, name)
}

// isForeign tells the libraries whose threads are no part of the program: the C
// library's, and those of MPIs and what they are made of. It errs on the side of
// the program, whose threads may call MPI.
func isForeign(object string) bool {
	return isSystem(object) || isOpenMP(object) || hasPrefix(object, "libmpi", "libmpl", "libopen-", "libopen_mpi", "libpmix", "libprrte", "mca_",
		"libfabric", "libuc", "libevent", "libhwloc", "libibverbs", "librdmacm", "libmlx", "libefa", "libpsm", "libcuda", "libnvidia")
}

// isSystem tells the libraries of the languages that programs are written in.
func isSystem(object string) bool {
	return hasPrefix(object, "libc.", "libc-", "libpthread", "libm.", "libdl.", "librt.", "ld-linux", "ld-musl", "libstdc++")
}

// isOpenMP tells the libraries whose functions a thread is in while it waits for its team.
func isOpenMP(object string) bool { return hasPrefix(object, "libgomp", "libomp", "libiomp5") }

// isBinding tells the functions between a program and the C interface: of
// Fortran, and of tools that wrap calls.
func isBinding(function string) bool {
	name := strings.ToLower(function)
	return strings.HasPrefix(name, "mpi_") || strings.HasPrefix(name, "pmpi_") || strings.HasPrefix(name, "ompi_")
}

// programFrame is the frame that means most to the one who wrote the program:
// the innermost one with a line of source. In a call that is the caller if it
// has one; elsewhere system libraries may stand inside of it, with debug
// information of their own, so frames of the program itself go first.
func programFrame(frames []inferior.Frame, inCall bool) inferior.Frame {
	if !inCall {
		if i := slices.IndexFunc(frames, func(f inferior.Frame) bool { return f.File != "" && !isForeign(f.Object) }); i >= 0 {
			return frames[i]
		}
	}
	if i := slices.IndexFunc(frames, func(f inferior.Frame) bool { return f.File != "" }); i >= 0 {
		return frames[i]
	}
	if len(frames) > 0 && inCall {
		return frames[0]
	}
	// Without debug information the outermost frames that have names are the program's.
	if i := slices.IndexFunc(frames, func(f inferior.Frame) bool { return f.Function == "main" }); i >= 0 {
		return frames[i]
	}
	return inferior.Frame{}
}

func hasPrefix(object string, prefixes ...string) bool {
	base := filepath.Base(object)
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(base, p) })
}
