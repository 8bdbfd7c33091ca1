package bridge

// This file goes on with the protocol: what the helper asks and the debugger answers.

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
	// Variables are the names of those arguments of functions that are wanted.
	Variables []string `json:"variables"`
}

// Variable is an argument of a function.
type Variable struct {
	// Name of the argument.
	Name string `json:"name"`
	// Value of an integer, an enumerator or a bool, or the address that a
	// pointer holds, in 64 bits.
	Value int64 `json:"value"`
}

// Frame is one frame of a thread's stack.
type Frame struct {
	// Function is the name of the function, empty if not known.
	Function string `json:"function"`
	// StackPointer is the value of the stack pointer in this frame.
	StackPointer uint64 `json:"stack_pointer"`
	// Object is the path of the library that the function is in, empty if it is in the program.
	Object string `json:"object"`
	// File is the source file that it is in, as the debugger names it, empty if not known.
	File string `json:"file"`
	// Line is the line of its call of the next inner frame, or where it
	// stands; 0 if not known.
	Line int `json:"line"`
	// Variables are the arguments that were asked for and can be read.
	Variables []Variable `json:"variables"`
}

// SystemCall is what a thread has asked the kernel for.
type SystemCall struct {
	// Number is the kernel's for the architecture, -1 if the thread is in none.
	Number int64 `json:"number"`
	// Arguments are the six that a system call can have.
	Arguments []uint64 `json:"arguments"`
}

// Thread is where one thread is.
type Thread struct {
	// Number is the debugger's number for it.
	Number int `json:"number"`
	// ID is the kernel's number for it, 0 if not known.
	ID int `json:"id"`
	// SystemCall is what it has asked the kernel for, null if not known.
	SystemCall *SystemCall `json:"system_call"`
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
