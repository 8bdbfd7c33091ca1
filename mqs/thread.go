package mqs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// Thread is where one thread of a process is: in which MPI call, and where in
// the program's own source.
type Thread struct {
	// Number is the debugger's number for it.
	Number int
	// Placed is true if it is known whether the thread is in an MPI call. It is not
	// where its stack could not be followed to its end, or has no frame with a name.
	Placed bool
	// Call is the MPI function that it is inside, in its plain C name:
	// "MPI_Recv". Empty if it is in none or that is not known.
	Call string
	// Activity is what a placed thread does that is in no MPI call, empty if not known.
	Activity Activity
	// Joined is the number of the thread that one that [Joins] waits for.
	Joined Maybe[int]
	// Function, File and Line are where the program's own code is, which of a
	// call is where it is called; empty and 0 as far as not known.
	Function, File string
	Line           int

	// Comm is the unique id of the communicator that the call works on.
	Comm Maybe[target.Addr]
	// Root is the local rank of the root of a collective call.
	Root Maybe[int32]
	// Source and Tag are what a probe looks for, [AnyRank] for any source and -1 for any
	// tag, where no queue has it. Source is a local rank.
	Source, Tag Maybe[int32]
	// Requests are the requests that the call waits for, as in
	// [PendingOperation.Request], whether a queue has them or not.
	Requests []target.Addr
	// AllRequests is true if Requests are all that it waits for.
	AllRequests bool
}

// Activity is what a thread does that is in no MPI call.
type Activity string

// The activities. The empty one is not known.
const (
	Computes Activity = "computes" // it runs in the program's code, or in a library's
	Sleeps   Activity = "sleeps"   // it is in a call that returns by itself after a time, as nanosleep
	Joins    Activity = "joins"    // it waits for another thread of its process to end, as in pthread_join
	Blocks   Activity = "blocks"   // it is in a call that waits for somebody, as for a lock, a signal or input
)

// Activities lists them.
var Activities = []Activity{Computes, Sleeps, Joins, Blocks}

// RunState is what the kernel's scheduler says of a process.
type RunState string

// The states of Linux (proc(5), /proc/PID/stat). The empty one is not known.
const (
	Running         RunState = "running"         // R: it runs, or would if it had a processor
	Sleeping        RunState = "sleeping"        // S: it waits and a signal can wake it
	Uninterruptible RunState = "uninterruptible" // D: it waits, most often for a disk
	Stopped         RunState = "stopped"         // T: a signal has stopped it
	Traced          RunState = "traced"          // t: a debugger has stopped it
	Zombie          RunState = "zombie"          // Z: it has ended and its parent has not noticed
)

// RunStates lists them.
var RunStates = []RunState{Running, Sleeping, Uninterruptible, Stopped, Traced, Zombie}

// RunStateOf returns the state of a letter of /proc/PID/stat, empty for one that says nothing.
func RunStateOf(letter byte) RunState {
	return map[byte]RunState{'R': Running, 'S': Sleeping, 'D': Uninterruptible, 'T': Stopped, 't': Traced, 'Z': Zombie, 'X': Zombie}[letter]
}

// Phase is how far a process has come with MPI.
type Phase string

// The phases. The empty one is not known.
const (
	Starting Phase = "starting" // MPI_Init has not returned
	Active   Phase = "active"   // it may have queues; MPI_Finalize may have been called
	Finished Phase = "finished" // MPI_Finalize is done
	Exited   Phase = "exited"   // the process is gone
)

// Traffic counts the messages between a process and one peer on a communicator.
// Numbers wrap around at 2^16: what the sender has sent and its peer has seen
// arrive are the same if nothing is on its way.
type Traffic struct {
	Peer          int32 // local rank
	Sent, Arrived uint16
}

// A Waiter is a [Source] that knows what calls wait for.
type Waiter interface {
	// Waits fills in the communicators, roots, probes and requests of threads
	// that are in a call.
	Waits(threads []Thread)
}

// A Counter is a [Source] that counts messages.
type Counter interface {
	// Traffic returns the counts of a communicator that Communicators yielded,
	// nil if they are not known. Peers that there was no traffic with are left out.
	Traffic(c *Communicator) []Traffic
}

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
		// The threads that libraries have made for themselves are of no interest.
		if t, own := threadAt(&threads[i]); t.Call != "" || i == 0 || own || !t.Placed {
			p.Threads = append(p.Threads, t)
		}
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
		if name := own[i].MPIName(); strings.HasPrefix(name, "MPI_") {
			out.Call, own = name, own[i+1:]
			break
		}
	}
	own = slices.DeleteFunc(slices.Clone(own), func(f target.Frame) bool { return f.Function == "" || isBinding(f.Function) })
	f := programFrame(own, out.Call != "")
	out.Function, out.File, out.Line = f.Function, f.File, f.Line
	out.Placed = out.Call != "" || t.Complete && slices.ContainsFunc(t.Frames, func(f target.Frame) bool { return f.Function != "" })
	return out, isOwn(t, f)
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
	base := filepath.Base(object)
	for _, name := range []string{"libc.", "libc-", "libpthread", "libm.", "libdl.", "librt.", "ld-linux", "libgomp", "libstdc++",
		"libmpi", "libmpl", "libopen-", "libopen_mpi", "libpmix", "libprrte", "mca_", "libfabric", "libuc", "libevent", "libhwloc",
		"libibverbs", "librdmacm", "libmlx", "libefa", "libpsm", "libcuda", "libnvidia"} {
		if strings.HasPrefix(base, name) {
			return true
		}
	}
	return false
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
