package mqs

import (
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Thread is where one thread of a process is: in which MPI call, and where in
// the program's own source.
type Thread struct {
	// Number is the debugger's number of the thread.
	Number int `json:"number"`
	// Placed is true if it is known whether the thread is in an MPI call. It is not
	// where its stack could not be followed to its end, or has no frame with a name.
	Placed bool `json:"placed"`
	// Call is the MPI function that it is inside, in its plain C name:
	// "MPI_Recv". There is none if it is in none or that is not known.
	Call string `json:"call" document:"null"`
	// Activity is what a placed thread does outside MPI, or inside an MPI call where the call itself waits for something
	// other than messages: [UsesGPU], [Locks] for a file's lock, and [UsesFile] in calls for files.
	Activity Activity `json:"activity" document:"null"`
	// Joined is the number of the thread that one that [Joins] waits for.
	Joined Maybe[int] `json:"joined"`
	// Holder is the number of the thread that holds the lock for which this one waits.
	Holder Maybe[int] `json:"holder"`
	// BlockedIn is the function or the system call in which a thread waits, but not for messages:
	// "pthread_mutex_lock", "cudaStreamSynchronize", "flock".
	BlockedIn string `json:"blocked_in" document:"null"`
	// BlockedOn is the file of that system call, as the kernel names it.
	BlockedOn string `json:"blocked_on" document:"null"`
	// LockHolders are the processes that hold the lock of that file for which the thread waits; none if it waits for
	// no file's lock, or nobody is known to hold it.
	LockHolders []LockHolder `json:"lock_holders" document:"omit,max=16"`
	// Function is the program's own function: the one that has made the call, or in which the
	// thread is. It is a wrapper's if that alone has a line of source.
	Function string `json:"function" document:"null"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is where in the file the call is, or the thread.
	Line int `json:"line" document:"null,min=1"`
	// Object is the path of the library that the function is in. The program's own have none.
	Object string `json:"object" document:"null"`
	// Callers are the functions through which the program has come to a call that a wrapper has made, from the innermost
	// outwards: the wrapper's, the first that has a line of source, and the first of the program itself.
	Callers []Caller `json:"callers" document:"omit,max=3"`

	// Collection is whether the thread is in a garbage collection of Python, as where a finalizer that the collection runs has called
	// MPI. It is empty if the thread is in none, or that is unknown.
	Collection Collection `json:"garbage_collection" document:"null"`
	// CollectionFile is the file of the program's Python code that was running when the collection began.
	CollectionFile string `json:"garbage_collection_file" document:"null"`
	// CollectionLine is the line there.
	CollectionLine int `json:"garbage_collection_line" document:"null,min=1"`
	// GIL is whether the Python interpreter to which the thread belongs uses a global interpreter lock now. A free-threaded build does
	// not unless something has enabled the lock. It is unknown of threads of no interpreter, and of interpreters that can't be read.
	GIL Maybe[bool] `json:"gil"`

	// Comm is the unique id of the communicator that the call works on.
	Comm Maybe[inferior.Addr] `json:"communicator"`
	// Root is the local rank of the root of a collective call.
	Root Maybe[int32] `json:"root"`
	// Length is how many bytes of data a collective call was given, where all members have to give as many.
	Length Maybe[int64] `json:"length" document:"min=0"`
	// Datatype is the MPI name of the type of that data, empty of a type that has none.
	Datatype Maybe[string] `json:"datatype"`
	// Operation is the MPI name of the operation of a reduction, empty of one that the program has made.
	Operation Maybe[string] `json:"operation"`
	// Source is the local rank that a probe looks for a message from, [AnyRank] for any, where
	// no queue has it.
	Source Maybe[int32] `json:"source" document:"min=-1"`
	// Tag is the one that such a probe looks for, -1 for any.
	Tag Maybe[int32] `json:"tag"`
	// Window is the handle of the window that the call works on.
	Window Maybe[inferior.Addr] `json:"window"`
	// Target is the local rank whose memory a call locks, unlocks or flushes.
	Target Maybe[int32] `json:"target" document:"min=0"`
	// OpenFile is the handle of the file that the call works on.
	OpenFile Maybe[inferior.Addr] `json:"open_file"`
	// Requests are the requests that the call waits for, as in
	// [PendingOperation.Request], whether a queue has them or not. They are in no order.
	Requests []inferior.Addr `json:"requests"`
	// AllRequests is true if these are all that it waits for.
	AllRequests bool `json:"all_requests"`
	// SomeRequests is true if it waits for one or more of these, and for no others; which ones is not known.
	SomeRequests bool `json:"some_requests"`

	// Flags are the flags in shared memory that the call waits for, where ranks of one machine carry out a collective by these instead
	// of by messages. There are none if it waits for no flag, or if that is unknown.
	Flags []Flag `json:"flags" document:"omit,max=256"`

	// Polls is true if an analysis takes the thread to poll until what it asks about comes.
	Polls bool `json:"-"`
}

// Flag is a counter in memory that the ranks of one machine share, which only one of them raises. By these counters MPICH carries out
// collectives on a communicator (src/mpid/ch4/shm/posix/release_gather, 3.4 to 5.0).
type Flag struct {
	// Comm is the unique id of the communicator, which may be one that the library has made for the ranks of a machine.
	Comm inferior.Addr `json:"communicator"`
	// LocalRank is the rank there that raises the flag.
	LocalRank int32 `json:"local_rank" document:"min=0"`
	// Kind is what it counts.
	Kind FlagKind `json:"kind"`
	// Count is its value, or the one for which a call waits.
	Count int64 `json:"count" document:"min=0"`
}

// FlagKind is what a [Flag] counts.
type FlagKind string

// The kinds of flags.
const (
	Gathered FlagKind = "gathered" // how many gather steps its rank and the ranks below it in a tree have completed
	Released FlagKind = "released" // how many release steps its rank has completed
)

// LockHolder is a process that holds the lock of a file.
type LockHolder struct {
	// PID is its process id on the waiting thread's node. The kernel does not report it for each lock.
	PID Maybe[int] `json:"pid" document:"min=1"`
	// Name is the name of its program.
	Name string `json:"name" document:"null"`
}

// HeldBy names the holders of the file's lock for which a thread waits: ", held by process 7 (python3)". It is empty if the thread
// waits for no such lock.
func (t *Thread) HeldBy() string {
	if t.Activity != Locks || t.BlockedOn == "" {
		return ""
	}
	var known []string
	for _, h := range t.LockHolders {
		switch {
		case h.PID.Known && h.Name != "":
			known = append(known, fmt.Sprintf("process %d (%s)", h.PID.Value, h.Name))
		case h.PID.Known:
			known = append(known, fmt.Sprintf("process %d", h.PID.Value))
		}
	}
	switch {
	case len(known) == 0:
		return "; its holder is unknown"
	case len(known) < len(t.LockHolders):
		known = append(known, "others that are unknown")
	}
	return ", held by " + strings.Join(known, ", ")
}

// TakeGIL is [Thread.BlockedIn] of a thread that waits for Python's global interpreter lock (Python/ceval_gil.c).
const TakeGIL = "take_gil"

// HeldLock names the lock for which a thread waits whose holder is known: "the lock that thread 3 holds".
func (t *Thread) HeldLock() string {
	lock := "lock"
	if t.BlockedIn == TakeGIL {
		lock = "global interpreter lock (GIL)"
	}
	return fmt.Sprintf("the %s that thread %d holds", lock, t.Holder.Value)
}

// Collection is whether a thread is in a garbage collection of Python.
type Collection string

// The values of Collection. It is empty if the thread is in no collection, or if that is unknown.
const (
	InCollection Collection = "inside"
	MayBeInOne   Collection = "possible" // one of several threads is in a collection, and which one is unknown
)

// Activity is what a thread does that is in no MPI call.
type Activity string

// The activities. The empty one is not known.
const (
	Computes Activity = "computes" // it runs in the program's code, or in a library's
	Sleeps   Activity = "sleeps"   // it is in a call that returns by itself after a time, as nanosleep
	Joins    Activity = "joins"    // it waits for another thread of its process to end, as in pthread_join
	Blocks   Activity = "blocks"   // it is in a call that waits for somebody, as for a condition, a signal or input
	Waits    Activity = "waits"    // it waits, for as long as it takes, for what only a thread of its process can do, as to signal a condition
	Locks    Activity = "locks"    // it waits for a lock, of its process or of a file
	Teams    Activity = "team"     // it waits for the other threads of its OpenMP team
	UsesGPU  Activity = "gpu"      // it is in the library of a GPU
	UsesFile Activity = "file"     // it is in a system call on a file
	InKernel Activity = "kernel"   // it is in another system call
)

// RunState is what the kernel's scheduler says of a process.
type RunState string

// The states of Linux (proc(5), /proc/PID/stat). The empty one is not known.
const (
	Running         RunState = "running"         // it runs, or would if it had a processor (R)
	Sleeping        RunState = "sleeping"        // it waits, and a signal can wake it (S)
	Uninterruptible RunState = "uninterruptible" // it waits, most often for a disk (D)
	Stopped         RunState = "stopped"         // a signal has stopped it (T)
	Traced          RunState = "traced"          // a debugger has stopped it (t)
	Zombie          RunState = "zombie"          // it has ended, and its parent has not noticed (Z)
)

// RunStateOf returns the state of a letter of /proc/PID/stat, empty for one that says nothing.
func RunStateOf(letter byte) RunState {
	return map[byte]RunState{'R': Running, 'S': Sleeping, 'D': Uninterruptible, 'T': Stopped, 't': Traced, 'Z': Zombie, 'X': Zombie}[letter]
}

// Phase is how far a process has come with MPI.
type Phase string

// The phases. The empty one is not known.
const (
	Starting Phase = "starting" // MPI_Init has not returned
	Active   Phase = "active"   // it may have queues, and MPI_Finalize may have been called
	Finished Phase = "finished" // MPI_Finalize is done
	Exited   Phase = "exited"   // the process is gone
)

// Traffic counts the messages between a process and one peer on a communicator.
// Numbers wrap around at 2^16: what the sender has sent and its peer has seen
// arrive are the same if nothing is on its way.
type Traffic struct {
	Peer    int32 // local rank
	Sent    uint16
	Arrived uint16
}
