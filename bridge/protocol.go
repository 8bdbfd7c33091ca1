// Package bridge is the wire between a debugger and the helper.
//
// The debugger's extension starts the helper as a child process and sends it
// JSON-RPC 2.0 requests over the child's standard input, framed with
// Content-Length headers. While a request is pending the helper calls back, on
// the same two pipes, for memory, symbols and types. This file is the one
// definition of every message; python/mpi_queues/protocol.py is generated from it.
package bridge

//go:generate go run ./pygen -o ../python/mpi_queues/protocol.py

// ProtocolVersion is what both ends must agree on in [Initialize]. It changes
// whenever a message changes in a way that an older end would misread.
const ProtocolVersion = 2

// Methods that the debugger calls in the helper.
const (
	// MethodInitialize must be the first request on a connection.
	MethodInitialize = "initialize"
	// MethodQueues reads and renders the message queues of processes.
	MethodQueues = "queues"
	// MethodDescribe says what was detected in a process, without reading its queues.
	MethodDescribe = "describe"
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
	// Window is memory that both ends can map, or null where the system has none.
	Window *Window `json:"window"`
}

// Window is a memory file of the helper's for bulk bytes: what would travel as
// base64 inside a message stands at its start instead, valid until the reply.
// An end that can't map it says so by putting the bytes into the message.
type Window struct {
	// Path names the file for the debugger to open.
	Path string `json:"path"`
	// Size is the file's length in bytes; it never changes.
	Size int `json:"size"`
}

// Process is one process as the debugger knows it.
type Process struct {
	// Inferior is the debugger's number for it.
	Inferior int `json:"inferior"`
	// PID is its process id, 0 where there is none (some core files).
	PID int `json:"pid"`
	// Kind is "live", "core" or "remote".
	Kind string `json:"kind"`
	// Executable is the path of its program, or empty.
	Executable string `json:"executable"`
	// Libraries are the paths of its shared libraries, in the debugger's order.
	Libraries []string `json:"libraries"`
	// Architecture is the debugger's name for it, such as "i386:x86-64".
	Architecture string `json:"architecture"`
	// PointerSize is the width of a pointer in bytes.
	PointerSize int `json:"pointer_size"`
	// BigEndian is true if the most significant byte comes first.
	BigEndian bool `json:"big_endian"`
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
	// Starters are the debugger's other processes, one of which may have
	// started the job and know where the DLL is.
	Starters []Process `json:"starters"`
}

// QueuesParams asks for the message queues of some processes.
type QueuesParams struct {
	// Processes to read, in the order to show them in.
	Processes []Process `json:"processes"`
	// Source says where queues may be read from.
	Source Source `json:"source"`
	// Comm restricts to communicators of this name or unique id; empty means all.
	Comm string `json:"comm"`
	// Queue restricts to "sends", "receives" or "unexpected"; empty means all three.
	Queue string `json:"queue"`
	// Internal shows the MPI library's own communicators and traffic too.
	Internal bool `json:"internal"`
	// Limit is the largest number of operations to show for a queue; 0 means no limit.
	Limit int `json:"limit"`
	// Format is "text" or "json".
	Format string `json:"format"`
	// Styled marks up text with ANSI escapes.
	Styled bool `json:"styled"`
	// Record asks for a recording of all that was read, on the stream "recording".
	Record bool `json:"record"`
	// Window is true if the debugger has mapped the window.
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

// MemoryRange is a piece of a process's address space.
type MemoryRange struct {
	// Address of its first byte.
	Address uint64 `json:"address"`
	// Length in bytes.
	Length int `json:"length"`
}

// ReadMemoryParams asks for memory.
type ReadMemoryParams struct {
	// Inferior is the process to read.
	Inferior int `json:"inferior"`
	// Ranges to read; together at most the window's size, where there is a window.
	Ranges []MemoryRange `json:"ranges"`
}

// ReadMemoryResult holds what could be read.
type ReadMemoryResult struct {
	// Readable says for each range how many bytes from its start could be read.
	Readable []int `json:"readable"`
	// Data is the readable bytes of all ranges, one after the other, as base64;
	// null when they stand at the start of the window.
	Data []byte `json:"data"`
}

// FindSymbolsParams asks where global symbols are.
type FindSymbolsParams struct {
	// Inferior is the process to look in.
	Inferior int `json:"inferior"`
	// Names to look up.
	Names []string `json:"names"`
}

// Symbol is where a global symbol is.
type Symbol struct {
	// Address of the symbol.
	Address uint64 `json:"address"`
	// Object is the path of the library or program it is in, empty if not known.
	Object string `json:"object"`
}

// FindSymbolsResult holds what was found.
type FindSymbolsResult struct {
	// Symbols has an entry for each name, null for one that there is not.
	Symbols []*Symbol `json:"symbols"`
}

// TypeQuery asks for one C type.
type TypeQuery struct {
	// Name of a typedef, of one of C's own types, or of a struct, union or enum
	// without the keyword.
	Name string `json:"name"`
	// Fields are paths of members, with dots between levels ("req_status.MPI_TAG").
	Fields []string `json:"fields"`
}

// FindTypesParams asks for the layout of C types.
type FindTypesParams struct {
	// Inferior is the process to look in.
	Inferior int `json:"inferior"`
	// Types to look up.
	Types []TypeQuery `json:"types"`
}

// Field is where a member stands in its type.
type Field struct {
	// Offset in bytes from the start of the type.
	Offset int `json:"offset"`
	// Size in bytes.
	Size int `json:"size"`
	// Kind is "signed", "unsigned", "pointer", "float", "array" or "struct" (unions too).
	Kind string `json:"kind"`
}

// Type is the layout of a C type.
type Type struct {
	// Size in bytes.
	Size int `json:"size"`
	// Object is the path of the library or program that describes it, empty if not known.
	Object string `json:"object"`
	// Fields has an entry for each path asked for, null for one that there is not.
	Fields []*Field `json:"fields"`
}

// FindTypesResult holds what was found.
type FindTypesResult struct {
	// Types has an entry for each query, null for a type that is not known or not complete.
	Types []*Type `json:"types"`
}

// ListThreadsParams asks for the innermost frames of all threads.
type ListThreadsParams struct {
	// Inferior is the process to look in.
	Inferior int `json:"inferior"`
	// Depth is how many frames of each thread are wanted at most.
	Depth int `json:"depth"`
}

// Frame is one frame of a thread's stack.
type Frame struct {
	// Function is the name of the function, empty if not known.
	Function string `json:"function"`
	// StackPointer is the value of the stack pointer in this frame.
	StackPointer uint64 `json:"stack_pointer"`
}

// Thread is where one thread is.
type Thread struct {
	// Number is the debugger's number for it.
	Number int `json:"number"`
	// Frames from the innermost outwards, as far as they can be found out.
	Frames []Frame `json:"frames"`
	// Complete is true if the last of them is the outermost frame of the thread.
	Complete bool `json:"complete"`
	// Registers are the values of the integer registers in the innermost frame.
	Registers []uint64 `json:"registers"`
}

// ListThreadsResult holds all threads of the process.
type ListThreadsResult struct {
	// Threads in the debugger's order.
	Threads []Thread `json:"threads"`
}

// WriteParams is a piece of the answer.
type WriteParams struct {
	// Stream is "display" for what a user sees, "recording" for a recording's bytes.
	Stream string `json:"stream"`
	// Length is how many bytes at the start of the window; 0 when Data holds them.
	Length int `json:"length"`
	// Data is the bytes as base64 where there is no window, else null.
	Data []byte `json:"data"`
	// Last is true for the piece that makes the stream whole even if the
	// request fails, as a recording is. Else it is whole if the request succeeds.
	Last bool `json:"last"`
}

// ProgressParams says how far a request has come.
type ProgressParams struct {
	// Message is what is being done, in a few words.
	Message string `json:"message"`
}
