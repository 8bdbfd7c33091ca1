package mqs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// Locate fills in where the threads of a process are. That this can't be read
// is no error: they are then not known.
func Locate(ctx context.Context, t target.Target, p *Process) {
	p.locate(target.NewReader(ctx, t), nil)
}

func (p *Process) locate(r *target.Reader, s Source) {
	threads, err := r.Threads()
	if err != nil {
		return
	}
	p.Threads = []Thread{}
	for i := range threads {
		t, own := threadAt(&threads[i])
		// The threads that libraries have made for themselves are of no interest.
		if t.Call == "" && i > 0 && !own && t.Placed {
			continue
		}
		t.Activity, t.Joined = activity(&t, i, threads)
		p.Threads = append(p.Threads, t)
	}
	if w, ok := s.(Waiter); ok {
		w.Waits(p.Threads)
	}
}

// threadAt finds the call and the program's own frame on a thread's stack, and
// says whether the program itself has such a frame.
func threadAt(t *target.Thread) (Thread, bool) {
	out := Thread{Number: t.Number}
	own := t.Frames
	if at := t.InCall(); at >= 0 {
		out.Call = t.Frames[at].CallName()
		own = t.Frames[at+1:]
	}
	// A call that is made inside another, as those for files do, is the outer one's affair.
	for i := range own {
		if own[i].IsMPI() {
			out.Call, own = own[i].MPIName(), own[i+1:]
			break
		}
	}
	own = slices.DeleteFunc(slices.Clone(own), func(f target.Frame) bool {
		return f.Function == "" || isBinding(f.Function) && (out.Call != "" || !f.IsWrapper())
	})
	f := programFrame(own, out.Call != "")
	out.Function, out.File, out.Line = f.Function, f.File, f.Line
	out.Placed = out.Call != "" || isOutside(t)
	return out, isOwn(t, f)
}

// isOutside says whether a thread that is in no call that has a name is known to be in none: its
// stack has been followed to its end, has names, and none of the program's functions is inside of
// which the MPI library is, with a function that nobody knows.
func isOutside(t *target.Thread) bool {
	at := slices.IndexFunc(t.Frames, target.Frame.InLibrary)
	entered := at >= 0 && slices.ContainsFunc(t.Frames[at:], func(f target.Frame) bool { return !f.InLibrary() && !isForeign(f.Object) })
	return t.Complete && !entered && slices.ContainsFunc(t.Frames, func(f target.Frame) bool { return f.Function != "" })
}

// isOwn says whether a thread has a frame that is not a library's of an MPI or of
// the system. Of recordings that do not say where functions are only those with
// a line count.
func isOwn(t *target.Thread, f target.Frame) bool {
	if !slices.ContainsFunc(t.Frames, func(f target.Frame) bool { return f.Object != "" }) {
		return f.File != ""
	}
	return slices.ContainsFunc(t.Frames, func(f target.Frame) bool { return !isForeign(f.Object) && !isKernels(f) })
}

// isKernels tells the functions of the page of code that the kernel gives to
// every process (vDSO), which is no library to a debugger.
func isKernels(f target.Frame) bool {
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

func hasPrefix(object string, prefixes ...string) bool {
	base := filepath.Base(object)
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(base, p) })
}

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
func programFrame(frames []target.Frame, inCall bool) target.Frame {
	if !inCall {
		if i := slices.IndexFunc(frames, func(f target.Frame) bool { return f.File != "" && !isForeign(f.Object) }); i >= 0 {
			return frames[i]
		}
	}
	if i := slices.IndexFunc(frames, func(f target.Frame) bool { return f.File != "" }); i >= 0 {
		return frames[i]
	}
	if len(frames) > 0 && inCall {
		return frames[0]
	}
	// Without debug information the outermost frames that have names are the program's.
	if i := slices.IndexFunc(frames, func(f target.Frame) bool { return f.Function == "main" }); i >= 0 {
		return frames[i]
	}
	return target.Frame{}
}
