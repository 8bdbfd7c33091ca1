// Package inferior reads one stopped process: raw through an [Inferior] (a debugger,
// a recording), typed through a [Reader], whose page cache keeps the calls to
// the debugger few and fat, and through [Struct], which binds Go structs to the
// layouts of C types.
package inferior

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Addr is an address in the process. It prints as hex, and is a string in JSON.
type Addr uint64

func (a Addr) String() string { return "0x" + strconv.FormatUint(uint64(a), 16) }

// MarshalJSON writes the address as a hex string.
func (a Addr) MarshalJSON() ([]byte, error) { return []byte(`"` + a.String() + `"`), nil }

// UnmarshalJSON reads what [Addr.MarshalJSON] wrote, or a number, which is how debuggers send
// addresses.
func (a *Addr) UnmarshalJSON(text []byte) error {
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1] // digits are never escaped
	}
	v, err := strconv.ParseUint(string(text), 0, 64)
	if err != nil {
		return fmt.Errorf("address %q: %w", text, err)
	}
	*a = Addr(v)
	return nil
}

// Info is what is known of a process before any of its memory is read. It is so in recordings
// and, as are the types below, in the protocol that the helper and a debugger speak (package
// bridge).
type Info struct {
	// Inferior is the debugger's number for it.
	Inferior int `json:"inferior"`
	// PID is its process id, 0 where there is none (some core files).
	PID int `json:"pid"`
	// Kind is "live", "core" or "remote".
	Kind string `json:"kind"`
	// Rank is its rank in MPI_COMM_WORLD as its launcher says, nil if not known.
	Rank *int32 `json:"rank,omitempty"`
	// WorldSize is the size of that, nil if not known. Recordings have it: no debugger knows it.
	WorldSize *int32 `json:"world_size,omitempty" protocol:"-"`
	// Launcher is the software that the launcher belongs to, empty if not known; only recordings have it.
	Launcher string `json:"launcher,omitempty" protocol:"-"`
	// State is the letter that the kernel had for its state before it was attached to
	// (proc(5), /proc/PID/stat), empty if not known or if it has run since.
	State string `json:"state,omitempty"`
	// Signal is the one that ends it, or nil.
	Signal *Signal `json:"signal,omitempty"`
	// Executable is the path of its program, or empty.
	Executable string `json:"executable"`
	// Libraries are the paths of its shared libraries, in the debugger's order.
	Libraries []string `json:"libraries"`
	// Architecture is the debugger's name for it, such as "i386:x86-64".
	Architecture string `json:"architecture"`
	// PointerSize is the width of a pointer in bytes: 4 or 8.
	PointerSize int `json:"pointer_size"`
	// BigEndian is true if the most significant byte comes first.
	BigEndian bool `json:"big_endian"`
}

// Signal is one that ends a process, or at which it has stopped on its way to that.
type Signal struct {
	// Name is the system's: "SIGSEGV".
	Name string `json:"name"`
	// Code says why it was sent (si_code of siginfo_t, sigaction(2)), nil if not known.
	Code *int `json:"code,omitempty"`
	// Own is true if the process has sent it to itself, nil if not known or if no process has sent it.
	Own *bool `json:"own,omitempty"`
	// Handled is true if the program has a handler for it or ignores it, nil if not known.
	Handled *bool `json:"handled,omitempty"`
	// Thread is the debugger's number for the thread that got it, 0 if not known.
	Thread int `json:"thread,omitempty"`
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
	// Addr is its address.
	Addr Addr `json:"address"`
	// Object is the path of the library or program it is in, empty if not known.
	Object string `json:"object"`
}

// Frame is one frame of a thread's stack.
type Frame struct {
	// Function is the name of the function, empty if not known.
	Function string `json:"function"`
	// StackPointer is the value of the stack pointer in this frame.
	StackPointer Addr `json:"stack_pointer"`
	// Object is the path of the library that the function is in, empty if it is in the program.
	Object string `json:"object,omitempty"`
	// File is the source file that it is in, as the debugger names it, empty if not known.
	File string `json:"file,omitempty"`
	// Line is the line of its call of the next inner frame, or where it stands; 0 if not known.
	Line int `json:"line,omitempty"`
	// Variables are those arguments of the function that were asked for and can be read, by their
	// names: the value of an integer, an enumerator or a bool, or the address that a pointer
	// holds, in 64 bits.
	Variables map[string]int64 `json:"variables,omitempty"`
	// Kept are the values of the registers that a function has to keep for its caller, always in the same order,
	// 0 where one is not known. Only the frames of an MPI call and the one that has called it have them.
	Kept []uint64 `json:"kept,omitempty"`
}

// SystemCall is what a thread has asked the kernel for.
type SystemCall struct {
	// Number is the kernel's for the architecture, -1 if the thread is in none.
	Number int64 `json:"number"`
	// Arguments are the six that a system call can have.
	Arguments []uint64 `json:"arguments"`
	// File is what the descriptor stands for that its first argument may be, as the kernel names it;
	// empty if there is none or that is not known.
	File string `json:"file,omitempty"`
	// LockHolders are the processes that hold the lock of a file for which the call waits; none if it waits for no
	// such lock, or nobody is known to hold it.
	LockHolders []LockHolder `json:"lock_holders,omitempty"`
}

// LockHolder is a process that holds the lock of a file.
type LockHolder struct {
	// PID is its number, 0 if that is not known.
	PID int `json:"pid"`
	// Name is the name of its program, empty if not known.
	Name string `json:"name"`
}

// Thread is where one thread of the process is.
type Thread struct {
	// Number is the debugger's number for it.
	Number int `json:"number"`
	// ID is the kernel's number for it, 0 if not known.
	ID int `json:"id,omitempty"`
	// SystemCall is what it has asked the kernel for, nil if not known.
	SystemCall *SystemCall `json:"system_call,omitempty"`
	// Frames from the innermost outwards, as far as they can be found out.
	Frames []Frame `json:"frames"`
	// Complete is true if the last of them is the outermost frame of the thread.
	Complete bool `json:"complete"`
	// Registers are the values of the integer registers in the innermost frame.
	Registers []uint64 `json:"registers"`
}

// Inferior is one process, which is stopped unless it is a [Running] one. Every method takes a batch
// and makes at most one round trip. An error means that the connection or the process is gone, or
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
