package bridge

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// This file goes on with the protocol: what the helper asks and the debugger answers.

// MemoryRange is a piece of a process's address space.
type MemoryRange struct {
	// Address of its first byte. It is a number, as an [inferior.Addr] that Go sends is not.
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
type Symbol = inferior.Symbol

// FindSymbolsResult holds what was found.
type FindSymbolsResult struct {
	// Symbols has an entry for each name, null for one that there is not.
	Symbols []*Symbol `json:"symbols"`
}

// TypeQuery asks for one C type.
type TypeQuery = layout.TypeQuery

// FindTypesParams asks for the layout of C types.
type FindTypesParams struct {
	// Inferior is the process to look in.
	Inferior int `json:"inferior"`
	// Types to look up.
	Types []TypeQuery `json:"types"`
}

// Field is where a member stands in its type.
type Field = layout.Field

// Type is the layout of a C type.
type Type = layout.Layout

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

// Frame is one frame of a thread's stack.
type Frame = inferior.Frame

// LockHolder is a process that holds the lock of a file.
type LockHolder = inferior.LockHolder

// SystemCall is what a thread has asked the kernel for.
type SystemCall = inferior.SystemCall

// Thread is where one thread is.
type Thread = inferior.Thread

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
