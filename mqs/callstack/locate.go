package callstack

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Locate returns where the threads of a process are: its first thread, the threads in MPI calls or in the
// program's own code, and those of which this is not known. It is nil if the threads can't be read.
func Locate(r *inferior.Reader) []mqs.Thread {
	stacks, err := stacksOf(r)
	if err != nil {
		return nil
	}
	if stacks.python, err = pythonOf(r, stacks); err != nil {
		return nil
	}
	out := []mqs.Thread{}
	var places []int
	for i := range stacks.threads {
		t, own := threadAt(stacks, &stacks.threads[i])
		// Threads that libraries have made for themselves do not matter.
		if t.Call == "" && i > 0 && !own && t.Placed {
			continue
		}
		does := activity(&t, i, stacks.threads)
		t.Activity, t.Joined, t.BlockedIn, t.BlockedOn, t.LockHolders = does.activity, does.joined, does.in, does.on, does.holders
		out, places = append(out, t), append(places, i)
	}
	findHolders(r, out, places, stacks.threads)
	findEnded(r, out, places, stacks.threads)
	stacks.python.findGIL(out, places, stacks.threads)
	stacks.findCollections(out, places)
	return out
}

// threadAt finds the call and the program's frame on a thread's stack, and says whether the program itself
// has a frame there.
func threadAt(s *stacks, t *inferior.Thread) (mqs.Thread, bool) {
	out := mqs.Thread{Number: t.Number}
	from := 0
	if at := s.inCall(t); at >= 0 {
		out.Call = callName(t.Frames[at])
		from = at + 1
	}
	// A call that is made inside another call, as those for files do, belongs to the outer one.
	if i := slices.IndexFunc(t.Frames[from:], s.isMPI); i >= 0 {
		from += i
		out.Call = mpiName(t.Frames[from])
		from++
	}
	if out.Call != "" {
		from = s.beyondTool(t, from)
	}
	own := s.replaced(t, from, func(f inferior.Frame) bool {
		return f.Function == "" || isBinding(f.Function) && !s.looksAlike(f) && (out.Call != "" || !s.isTool(f))
	})
	f := programFrame(own, out.Call != "")
	out.Function, out.File, out.Line = f.Function, f.File, f.Line
	if !s.isInProgram(f) {
		out.Object = f.Object
	}
	if out.Call != "" && !s.hidesPython(t) {
		out.Callers = s.callers(s.replaced(t, from, s.standsForMPI))
	}
	out.Placed = out.Call != "" || isOutside(s, t)
	return out, s.hasProgramFrame(t, f)
}

// isOutside reports whether a thread that is in no named MPI call is known to be in no MPI call at all. Its stack must be complete,
// and no function of the program may have called an unnamed function of the MPI library. At least one function must have a name,
// unless the library of each function is known.
func isOutside(s *stacks, t *inferior.Thread) bool {
	at := slices.IndexFunc(t.Frames, s.inLibrary)
	entered := at >= 0 && slices.ContainsFunc(t.Frames[at:], func(f inferior.Frame) bool { return !s.inLibrary(f) && !isForeign(f.Object) })
	hasName := slices.ContainsFunc(t.Frames, func(f inferior.Frame) bool { return f.Function != "" })
	return t.Complete && !entered && (hasName || isInLibraries(t))
}

// isInLibraries reports whether the library of each of a thread's frames is known.
func isInLibraries(t *inferior.Thread) bool {
	return len(t.Frames) > 0 && !slices.ContainsFunc(t.Frames, func(f inferior.Frame) bool { return f.Object == "" })
}

// hasProgramFrame says whether a thread has a frame that belongs to no library of an MPI or of the system.
// In recordings that do not say which file defines a function, only frames with a line count.
func (s *stacks) hasProgramFrame(t *inferior.Thread, f inferior.Frame) bool {
	if !slices.ContainsFunc(t.Frames, func(f inferior.Frame) bool { return f.Object != "" }) {
		return f.File != ""
	}
	for i, f := range t.Frames {
		if !isForeign(f.Object) && !isVDSO(f) && !s.isRuntime(t, i) {
			return true
		}
	}
	return false
}

// isVDSO says whether a function belongs to the page of code that the kernel gives to every process (vDSO).
// A debugger does not show this page as a library.
func isVDSO(f inferior.Frame) bool {
	name := strings.TrimPrefix(f.Function, "__vdso_")
	return f.Object == "" && f.File == "" && slices.Contains([]string{"clock_gettime", "clock_getres", "gettimeofday", "time", "getcpu"}, name)
}

// isForeign says whether a file is a library whose threads do not belong to the program: the C library's,
// or one of an MPI and what it is made of. In doubt it says no, since the program's threads may call MPI.
func isForeign(object string) bool {
	return isSystem(object) || isOpenMP(object) || isGPU(object) || isSanitizer(object) || isWorkers(object) || hasPrefix(object, "libmpi", "libmpl", "libopen-", "libopen_mpi", "libpmix", "libprrte", "mca_",
		"libfabric", "libuc", "libevent", "libhwloc", "libibverbs", "librdmacm", "libmlx", "libefa", "libpsm", "libcuda", "libnvidia")
}

// isSystem says whether a file is a library of a programming language or of the loader.
func isSystem(object string) bool {
	return hasPrefix(object, "libc.", "libc-", "libpthread", "libm.", "libdl.", "librt.", "ld-linux", "ld-musl", "libstdc++")
}

// isSanitizer reports whether a file is the run-time library of a sanitizer, which wraps functions of the C library and starts threads
// of its own.
func isSanitizer(object string) bool {
	return hasPrefix(object, "libasan", "libtsan", "liblsan", "libubsan", "libhwasan", "libclang_rt.")
}

// sanitizerSymbol is a function of every sanitizer's runtime (sanitizer/common_interface_defs.h).
const sanitizerSymbol = "__sanitizer_set_death_callback"

// sanitizerFunctions are the beginnings of the names of the functions of sanitizers' runtimes.
var sanitizerFunctions = []string{"__sanitizer", "__asan", "__tsan", "__lsan", "__msan", "__hwasan", "__ubsan", "__interceptor_", "___interceptor_", "asan_thread_start"}

// isRuntime reports whether a frame of a thread is a function of a sanitizer's runtime that is linked into the program (clang's always is,
// gcc's with -static-libtsan). It has a name that only a sanitizer uses, or is a wrapper that has called the C library's function
// of the same name.
func (s *stacks) isRuntime(t *inferior.Thread, i int) bool {
	f := t.Frames[i]
	if !s.isInProgram(f) || f.File != "" {
		return false
	}
	if slices.ContainsFunc(sanitizerFunctions, func(begin string) bool { return strings.HasPrefix(f.Function, begin) }) {
		return true
	}
	return s.isSanitized && wrapsSystem(t, i)
}

// wrapsSystem reports whether a function of the program has called the C library's function of its own name.
func wrapsSystem(t *inferior.Thread, i int) bool {
	f := t.Frames[i]
	return f.Object == "" && f.File == "" && f.Function != "" && i > 0 && isSystem(t.Frames[i-1].Object) && plainName(t.Frames[i-1].Function) == f.Function
}

// isWorkers reports whether a file is a library whose worker threads run tasks of the program. An idle worker calls no function of the
// program.
func isWorkers(object string) bool {
	return hasPrefix(object, "libtbb", "libopenblas", "libscipy_openblas", "libmkl_", "libblis")
}

// isOpenMP says whether a file is an OpenMP library, in which a thread waits for its team.
func isOpenMP(object string) bool { return hasPrefix(object, "libgomp", "libomp", "libiomp5") }

// isBinding says whether a function is between the program and the C interface: Fortran's, or that of a
// tool that wraps calls.
func isBinding(function string) bool {
	name := strings.ToLower(function)
	return strings.HasPrefix(name, "mpi_") || strings.HasPrefix(name, "pmpi_") || strings.HasPrefix(name, "ompi_")
}

// programFrame returns the frame that means most to the program's author: the innermost one with a line of
// source. In a call this is the caller, if it has a line. System libraries with debug information may be further inside,
// so the others go first.
func programFrame(frames []inferior.Frame, inCall bool) inferior.Frame {
	if i := slices.IndexFunc(frames, func(f inferior.Frame) bool { return f.File != "" && !isForeign(f.Object) }); i >= 0 {
		return frames[i]
	}
	if i := slices.IndexFunc(frames, func(f inferior.Frame) bool { return f.File != "" }); i >= 0 {
		return frames[i]
	}
	if len(frames) > 0 && inCall {
		return frames[0]
	}
	// Without debug information, the outermost frames with names are the program's.
	if i := slices.IndexFunc(frames, func(f inferior.Frame) bool { return f.Function == "main" }); i >= 0 {
		return frames[i]
	}
	return inferior.Frame{}
}

func hasPrefix(object string, prefixes ...string) bool {
	base := filepath.Base(object)
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(base, p) })
}
