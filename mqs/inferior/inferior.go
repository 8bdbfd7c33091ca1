// Package inferior reads one stopped process: raw through an [Inferior] (a debugger,
// a recording), typed through a [Reader], whose page cache keeps the calls to
// the debugger few and fat, and through [Struct], which binds Go structs to the
// layouts of C types.
package inferior

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Addr is an address in the process. It prints as hex, and is a string in JSON.
type Addr uint64

func (a Addr) String() string { return "0x" + strconv.FormatUint(uint64(a), 16) }

// MarshalJSON writes the address as a hex string.
func (a Addr) MarshalJSON() ([]byte, error) { return []byte(`"` + a.String() + `"`), nil }

// UnmarshalJSON reads what [Addr.MarshalJSON] wrote.
func (a *Addr) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return fmt.Errorf("address %q: %w", s, err)
	}
	*a = Addr(v)
	return nil
}

// Info is what is known of a process before any of its memory is read.
type Info struct {
	// Inferior is the debugger's number for the process.
	Inferior int `json:"inferior"`
	// PID is its process id, 0 if there is none.
	PID int `json:"pid"`
	// Kind is "live", "core" or "remote".
	Kind string `json:"kind"`
	// Rank is its rank in MPI_COMM_WORLD as its launcher says, nil if not known.
	Rank *int32 `json:"rank,omitempty"`
	// WorldSize is the size of that, nil if not known.
	WorldSize *int32 `json:"world_size,omitempty"`
	// State is the letter that the kernel had for its state before it was attached to
	// (proc(5), /proc/PID/stat), empty if not known.
	State string `json:"state,omitempty"`
	// Executable is the path of its program, empty if not known.
	Executable string `json:"executable"`
	// Libraries are the paths of its shared libraries.
	Libraries []string `json:"libraries"`
	// Architecture is the debugger's name for it.
	Architecture string `json:"architecture"`
	// PointerSize is the width of a pointer in bytes: 4 or 8.
	PointerSize int `json:"pointer_size"`
	// BigEndian is true if the most significant byte comes first.
	BigEndian bool `json:"big_endian"`
}

// Check refuses processes that can't be.
func (i Info) Check() error {
	if i.PointerSize != 4 && i.PointerSize != 8 {
		return fmt.Errorf("pointers of %d bytes can't be read", i.PointerSize)
	}
	return nil
}

// LastAddr is the last address that a pointer of the process can hold.
func (i Info) LastAddr() Addr {
	if i.PointerSize == 4 {
		return 1<<32 - 1
	}
	return ^Addr(0)
}

// Range is a piece of the address space.
type Range struct {
	Addr Addr
	Len  int // bytes
}

// Symbol is a global symbol of the process.
type Symbol struct {
	Addr Addr `json:"address"`
	// Object is the path of the library or program it is in, empty if not known.
	Object string `json:"object"`
}

// Frame is one frame of a thread's stack.
type Frame struct {
	// Function is its name, empty if not known.
	Function     string `json:"function"`
	StackPointer Addr   `json:"stack_pointer"`
	// Object is the path of the library that the function is in, empty if it is in the program.
	Object string `json:"object,omitempty"`
	// File and Line are where in its source it is, empty and 0 if not known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Variables are those of its function's arguments that were asked for and
	// that the debugger knows.
	Variables map[string]int64 `json:"variables,omitempty"`
}

// SystemCall is what a thread has asked the kernel for.
type SystemCall struct {
	// Number is the kernel's for its architecture, -1 if the thread is in none.
	Number int64 `json:"number"`
	// Arguments are the six that a system call can have.
	Arguments []uint64 `json:"arguments"`
}

// Thread is where one thread of the process is.
type Thread struct {
	// Number is the debugger's number for it.
	Number int `json:"number"`
	// ID is the kernel's, 0 if not known.
	ID int `json:"id,omitempty"`
	// SystemCall is nil if it is not known whether the thread is in one.
	SystemCall *SystemCall `json:"system_call,omitempty"`
	// Frames from the innermost outwards.
	Frames []Frame `json:"frames"`
	// Complete is true if the last frame is the outermost one.
	Complete bool `json:"complete"`
	// Registers are the integer registers of the innermost frame.
	Registers []uint64 `json:"registers"`
}

// Inferior is one process, which is stopped unless it is a [Running] one. Every method takes a batch and makes at most
// one round trip; an error means that the connection or the process is gone, or
// that ctx ended, never that something was not found.
type Inferior interface {
	// Info never makes a round trip.
	Info() Info
	// ReadMemory returns for each range what is readable from its start, in
	// a slice that the caller may keep; shorter than asked where memory ends.
	ReadMemory(ctx context.Context, ranges []Range) ([][]byte, error)
	// FindSymbols returns for each name where it is, nil if there is no such symbol.
	FindSymbols(ctx context.Context, names []string) ([]*Symbol, error)
	// FindTypes returns for each query the type's layout from debug
	// information, nil if there is none.
	FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error)
	// Threads returns where the threads are, each with at most depth frames;
	// variables are the names of the arguments that are wanted of functions.
	Threads(ctx context.Context, depth int, variables []string) ([]Thread, error)
}

// Running is an [Inferior] that runs on while it is read, and that costs little to ask. A [Reader]
// reads nothing ahead of it, and soon forgets what it has read: what must be read anew takes a
// Reader of its own.
type Running interface {
	Inferior
	// Keep is how many bytes of memory a Reader keeps at most, beside those of one call.
	Keep() int64
}
