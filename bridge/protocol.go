// Package bridge is the wire between a debugger and the helper.
//
// The debugger's extension starts the helper as a child process and sends it
// JSON-RPC 2.0 requests over the child's standard input, framed with
// Content-Length headers. While a request is pending the helper calls back, on
// the same two pipes, for memory, symbols, types and threads. If it is the helper that has started
// the debugger, a socket that the debugger has inherited takes the place of the pipes.
//
// This file, jobs.go and callbacks.go, and the types of packages mqs, inferior and layout that they name, are
// the one definition of every message, from which python/mpi_queues/protocol.py is generated. A field
// tagged protocol:"-" is in no message.
package bridge

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

//go:generate go run ./pygen -o ../python/mpi_queues/protocol.py

// ProtocolVersion is what both ends must agree on in [Initialize]. It changes
// whenever a message changes in a way that an older end would misread.
const ProtocolVersion = 6

// Methods that the debugger calls in the helper.
const (
	// MethodInitialize must be the first request on a connection.
	MethodInitialize = "initialize"
	// MethodQueues reads and renders the message queues of processes.
	MethodQueues = "queues"
	// MethodDescribe says what was detected in a process, without reading its queues.
	MethodDescribe = "describe"
	// MethodRanks finds the ranks of the job that a process belongs to.
	MethodRanks = "ranks"
	// MethodDeadlock reads processes and says which of them wait for whom.
	MethodDeadlock = "deadlock"
	// MethodHandle shows what a handle of the program stands for.
	MethodHandle = "handle"
	// MethodHandles says what several handles stand for, each in a line and its parts.
	MethodHandles = "handles"
	// MethodFindCommunicator looks for a communicator's handle by its name.
	MethodFindCommunicator = "communicator/find"
	// MethodRank asks for the rank of one process.
	MethodRank = "rank"
	// MethodPlaces shows where the ranks of a job are.
	MethodPlaces = "places"
	// MethodValues puts together what an expression is in the ranks of a job.
	MethodValues = "values"
	// MethodStacks puts together the stacks of the ranks of a job.
	MethodStacks = "stacks"
	// MethodStatus says what the debugger does by itself: a helper that has started it waits for that.
	MethodStatus = "status"
	// MethodNext says which process is to be read next, and that nothing more comes of the one before.
	MethodNext = "next"
	// MethodExited is a notification: a process has ended or is not debugged any more.
	MethodExited = "exited"
	// MethodCancel is a notification: give up a request.
	MethodCancel = "cancel"
)

// Methods that the helper calls in the debugger while a request is pending.
const (
	// MethodReadMemory reads several ranges of one process.
	MethodReadMemory = "memory/read"
	// MethodFindSymbols looks up several global symbols of one process.
	MethodFindSymbols = "symbols/find"
	// MethodFindTypes looks up several C types and their fields in one process.
	MethodFindTypes = "types/find"
	// MethodListThreads asks where the threads of one process are.
	MethodListThreads = "threads/list"
	// MethodWrite hands over a piece of the answer for the debugger to show or store.
	MethodWrite = "output/write"
	// MethodProgress is a notification: how far a long request has come.
	MethodProgress = "progress"
)

// Error codes beside those of JSON-RPC itself.
const (
	// CodeUnreadable means that nothing can be shown for this process; the message is a sentence for its user.
	CodeUnreadable = 1
	// CodeCancelled means that the request ended because it was cancelled.
	CodeCancelled = 2
	// CodeVersion means that the two ends speak different versions of the protocol.
	CodeVersion = 3
	// CodeUsage means that the request itself was wrong (an unknown communicator, say); the message is a sentence.
	CodeUsage = 4
)

// InitializeParams introduces the debugger to the helper.
type InitializeParams struct {
	// Protocol is the extension's [ProtocolVersion].
	Protocol int `json:"protocol"`
	// Extension is the extension's own version.
	Extension string `json:"extension"`
	// Debugger names the debugger and its version, for the log and for recordings.
	Debugger string `json:"debugger"`
}

// InitializeResult introduces the helper to the debugger.
type InitializeResult struct {
	// Protocol is the helper's [ProtocolVersion].
	Protocol int `json:"protocol"`
	// Version is the helper's own version.
	Version string `json:"version"`
	// Window is memory that both ends can use, or null where the system has none.
	Window *Window `json:"window"`
}

// Window is a memory file of the helper's for bulk bytes: what would travel as
// base64 inside a message stands at its start instead, valid until the reply.
// An end that can't open it says so by putting the bytes into the message.
type Window struct {
	// Path names the file for the debugger to open.
	Path string `json:"path"`
	// Size is the file's length in bytes; it never changes.
	Size int `json:"size"`
}

// Signal is one that ends a process.
type Signal = inferior.Signal

// Process is one process as the debugger knows it.
type Process = inferior.Info

// Obstacle is a process that was asked for and can't be read.
type Obstacle struct {
	// Inferior is the debugger's number for it.
	Inferior int `json:"inferior"`
	// PID is its process id.
	PID int `json:"pid"`
	// Executable is the path of its program, or empty.
	Executable string `json:"executable"`
	// Rank is as in [Process].
	Rank *int32 `json:"rank"`
	// Reason is the sentence that says why.
	Reason string `json:"reason"`
}

// CancelParams names a request to give up, which may not have arrived yet.
type CancelParams struct {
	// ID is the request's JSON-RPC id.
	ID uint64 `json:"id"`
}

// ExitedParams names a process that has gone.
type ExitedParams struct {
	// Inferior is the debugger's number for it.
	Inferior int `json:"inferior"`
	// PID is its process id.
	PID int `json:"pid"`
}

// Source says where queues may be read from.
type Source struct {
	// Choice is "auto", "native", "dll" or "both".
	Choice string `json:"choice"`
	// DLL is the path of the vendor's DLL to use; empty means to find it.
	DLL string `json:"dll"`
	// SafePath are folders whose DLLs are trusted.
	SafePath []string `json:"safe_path"`
	// Timeout is how many seconds a DLL may take for one thing; 0 means no limit.
	Timeout int `json:"timeout"`
	// Starters are the debugger's processes beside those of the request. One of
	// all these may have started the job and know where the DLL is.
	Starters []Process `json:"starters"`
	// Launchers are the process ids, on this machine, of the launchers of those processes that are on
	// other machines.
	Launchers []int `json:"launchers"`
}

// QueuesParams asks for the message queues of some processes.
type QueuesParams struct {
	// Processes to read, in the order of their inferiors, which they are shown in.
	Processes []Process `json:"processes"`
	// Obstacles are shown among them, by their inferiors' numbers.
	Obstacles []Obstacle `json:"obstacles"`
	// Source says where queues may be read from.
	Source Source `json:"source"`
	// View is what is shown of what was read: "queues", "communicators", "windows" or "files". JSON
	// has all of them.
	View string `json:"view"`
	// Comm restricts to communicators of this name or unique id; empty means all.
	Comm string `json:"comm"`
	// CommHandle is the value of Comm as an expression, which counts where no communicator has the
	// name. Null if it has none.
	CommHandle *HandleValue `json:"comm_handle"`
	// CommInferior is the process that has that value.
	CommInferior int `json:"comm_inferior"`
	// Queue restricts to "sends", "receives" or "unexpected"; empty means all three.
	Queue string `json:"queue"`
	// Internal shows the MPI library's own communicators and traffic too.
	Internal bool `json:"internal"`
	// Members names the members of each communicator in text.
	Members bool `json:"members"`
	// AllCommunicators keeps communicators without pending operations in their place in text.
	AllCommunicators bool `json:"all_communicators"`
	// Limit is the largest number of operations to show for a queue; 0 means no limit.
	Limit int `json:"limit"`
	// Format is "text" or "json".
	Format string `json:"format"`
	// Styled marks up text with ANSI escapes.
	Styled bool `json:"styled"`
	// Record asks for a recording of all that was read, on the stream "recording".
	Record bool `json:"record"`
	// Handles are in variables of the processes. A recording has what they stand for, too.
	Handles []ProcessHandles `json:"handles"`
	// Window is true if the debugger has opened the window's file.
	Window bool `json:"window"`
}

// DeadlockParams asks which of some processes wait for whom.
type DeadlockParams struct {
	// Processes to read.
	Processes []Process `json:"processes"`
	// Obstacles are processes of which is known only that they are there.
	Obstacles []Obstacle `json:"obstacles"`
	// Absent are ranks of the same jobs that the debugger has no process of.
	Absent []Rank `json:"absent"`
	// Source is as in [QueuesParams].
	Source Source `json:"source"`
	// Format is "text", "json" or "svg".
	Format string `json:"format"`
	// Styled is as in [QueuesParams].
	Styled bool `json:"styled"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// HandleValue is a handle as the program has it.
type HandleValue = mqs.HandleValue

// ProcessHandles are handles of one process.
type ProcessHandles struct {
	// Inferior is the debugger's number for the process.
	Inferior int `json:"inferior"`
	// Handles are what its variables hold.
	Handles []HandleValue `json:"handles"`
}

// HandleParams asks what one handle stands for.
type HandleParams struct {
	// Process that has it.
	Process Process `json:"process"`
	// Handle to look at.
	Handle HandleValue `json:"handle"`
	// Format is "text" or "json".
	Format string `json:"format"`
	// Styled is as in [QueuesParams].
	Styled bool `json:"styled"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// HandlesParams asks what handles stand for. Nothing is asked of the threads of their process.
type HandlesParams struct {
	// Process that has them.
	Process Process `json:"process"`
	// Handles to look at.
	Handles []HandleValue `json:"handles"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// Part is a part of what a handle stands for.
type Part struct {
	// Name of the part, in a word or two.
	Name string `json:"name"`
	// Text is its value.
	Text string `json:"text"`
}

// HandleText says what a handle stands for.
type HandleText struct {
	// Summary is one line, as MPI_COMM "halo exchange" (rank 2 of 8). It is empty if nothing is known.
	Summary string `json:"summary"`
	// Parts follow the line.
	Parts []Part `json:"parts"`
	// Rank is this process's, in the object that the handle stands for; null if there is none or it is not known.
	Rank *int32 `json:"rank"`
	// Size is that of the object's group.
	Size *int32 `json:"size"`
}

// HandlesResult has an entry for each handle.
type HandlesResult struct {
	// Handles in the order of the request.
	Handles []HandleText `json:"handles"`
	// Cost is what the request took, as in [Result].
	Cost Result `json:"cost"`
}

// FindCommunicatorParams asks for a communicator's handle.
type FindCommunicatorParams struct {
	// Process to look in.
	Process Process `json:"process"`
	// Name is the communicator's, or its unique id.
	Name string `json:"name"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// FindCommunicatorResult is a communicator's handle.
type FindCommunicatorResult struct {
	// Handle is the value of the MPI_Comm, null if the library does not say.
	Handle *uint64 `json:"handle"`
}

// RankParams asks for the rank of a process.
type RankParams struct {
	// Process that is asked for.
	Process Process `json:"process"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// RankResult is the rank of a process in MPI_COMM_WORLD. Of one that has not called MPI_Init, or that uses
// sessions alone, it is the one that the launcher gave it.
type RankResult struct {
	// Rank of the process, null if not known.
	Rank *int32 `json:"rank"`
	// Size of MPI_COMM_WORLD, null if not known.
	Size *int32 `json:"size"`
	// Initialized is true if the process's MPI library has said both, which then stay as they are.
	Initialized bool `json:"initialized"`
}

// Place is what the debugger knows of a rank, or of a process whose rank is not known.
type Place struct {
	// Rank is its rank in MPI_COMM_WORLD, null if not known.
	Rank *int32 `json:"rank"`
	// Inferior is the debugger's number for it, 0 if the debugger does not have it.
	Inferior int `json:"inferior"`
	// PID is its process id, 0 if not known.
	PID int `json:"pid"`
	// Host is as in [Rank].
	Host string `json:"host"`
	// State is "stopped", "running", "core", "exited" or "not attached".
	State string `json:"state"`
	// Reason is why it is in that state, in a few words, or empty.
	Reason string `json:"reason"`
	// ExitCode is the one that it has exited with, null if not known.
	ExitCode *int `json:"exit_code"`
	// Thread is the debugger's number of the thread whose place is wanted, 0 for the first one.
	Thread int `json:"thread"`
	// Selected is true of the current inferior.
	Selected bool `json:"selected"`
	// Unplaced is why a stopped process is not among the request's, as a sentence, or empty.
	Unplaced string `json:"unplaced"`
}

// PlacesParams asks where the ranks of a job are.
type PlacesParams struct {
	// Places are the ranks in the order in which they are shown.
	Places []Place `json:"places"`
	// Processes are those of the ranks that can be read.
	Processes []Process `json:"processes"`
	// Format is "text" or "json".
	Format string `json:"format"`
	// Styled is as in [QueuesParams].
	Styled bool `json:"styled"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// Evaluation is what an expression is in one process.
type Evaluation struct {
	// Rank is the process's in MPI_COMM_WORLD, null if not known.
	Rank *int32 `json:"rank"`
	// Inferior is the debugger's number for it.
	Inferior int `json:"inferior"`
	// Text is the value as the debugger shows it.
	Text string `json:"text"`
	// Number is the value in decimal, "nan" and "inf" among them, or empty if it is no number.
	Number string `json:"number"`
	// Failure is why there is no value, empty if there is one.
	Failure string `json:"failure"`
}

// ValuesParams has what an expression is in processes.
type ValuesParams struct {
	// Expression that was evaluated.
	Expression string `json:"expression"`
	// Function is the one in whose frames that was done, empty for any frame.
	Function string `json:"function"`
	// Evaluations are those of the processes, by their ranks.
	Evaluations []Evaluation `json:"evaluations"`
	// Format is "text" or "json".
	Format string `json:"format"`
	// Styled is as in [QueuesParams].
	Styled bool `json:"styled"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// StacksParams asks for the stacks of processes.
type StacksParams struct {
	// Processes to read.
	Processes []Process `json:"processes"`
	// Unread are processes that can't be read, and why, as a clause.
	Unread []Obstacle `json:"unread"`
	// Threads asks for all threads, and not for the first one of each process alone.
	Threads bool `json:"threads"`
	// Internal asks for the frames inside MPI calls too.
	Internal bool `json:"internal"`
	// Format is "text" or "json".
	Format string `json:"format"`
	// Styled is as in [QueuesParams].
	Styled bool `json:"styled"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// DescribeParams asks what was detected in one process.
type DescribeParams struct {
	// Process to look at.
	Process Process `json:"process"`
	// Source is as in [QueuesParams].
	Source Source `json:"source"`
	// Window is as in [QueuesParams].
	Window bool `json:"window"`
}

// StatusParams says how far the debugger has come by itself, or why it goes no further.
type StatusParams struct {
	// Message is what it does, in a few words; empty if it does nothing more.
	Message string `json:"message"`
	// Attached is true if it has attached to all processes that it was to attach to.
	Attached bool `json:"attached"`
	// Failure is why it goes no further, in its own words; empty if it goes on.
	Failure string `json:"failure"`
}

// StatusResult says that the debugger may go on.
type StatusResult struct{}

// NextParams asks for a process.
type NextParams struct{}

// NextResult is a process to read.
type NextResult struct {
	// PID is its process id, 0 if there is none left.
	PID int `json:"pid"`
}

// Result ends a request. What there is to show has been handed over by
// [MethodWrite] before it.
type Result struct {
	// RoundTrips is how many call-backs the request took, [MethodWrite] not counted.
	RoundTrips int `json:"round_trips"`
	// BytesRead is how many bytes of memory they brought.
	BytesRead int64 `json:"bytes_read"`
	// Seconds from the request's arrival to this result.
	Seconds float64 `json:"seconds"`
}
