package mqs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// HandleKind is one of MPI's opaque types, or MPI_Status, in the word that users call it by.
type HandleKind string

// The kinds of handles.
const (
	CommHandle       HandleKind = "comm"       // MPI_Comm
	DatatypeHandle   HandleKind = "datatype"   // MPI_Datatype
	RequestHandle    HandleKind = "request"    // MPI_Request
	GroupHandle      HandleKind = "group"      // MPI_Group
	WinHandle        HandleKind = "win"        // MPI_Win
	StatusHandle     HandleKind = "status"     // MPI_Status, which is no handle but is shown like one
	OpHandle         HandleKind = "op"         // MPI_Op
	ErrhandlerHandle HandleKind = "errhandler" // MPI_Errhandler
	FileHandle       HandleKind = "file"       // MPI_File
	InfoHandle       HandleKind = "info"       // MPI_Info
	MessageHandle    HandleKind = "message"    // MPI_Message
	SessionHandle    HandleKind = "session"    // MPI_Session
)

// HandleKinds lists them.
var HandleKinds = []HandleKind{CommHandle, DatatypeHandle, RequestHandle, GroupHandle, WinHandle, StatusHandle,
	OpHandle, ErrhandlerHandle, FileHandle, InfoHandle, MessageHandle, SessionHandle}

// cTypes are the names of the handles' types in MPI's C binding.
var cTypes = map[HandleKind]string{
	CommHandle: "MPI_Comm", DatatypeHandle: "MPI_Datatype", RequestHandle: "MPI_Request", GroupHandle: "MPI_Group",
	WinHandle: "MPI_Win", StatusHandle: "MPI_Status", OpHandle: "MPI_Op", ErrhandlerHandle: "MPI_Errhandler",
	FileHandle: "MPI_File", InfoHandle: "MPI_Info", MessageHandle: "MPI_Message", SessionHandle: "MPI_Session",
}

// CType is the name of the handle's type in MPI's C binding: MPI_Comm.
func (k HandleKind) CType() string { return cTypes[k] }

// HandleValue is a handle as a program has it in a variable.
type HandleValue struct {
	// Kind is its type: "comm", "datatype", "request", "group", "win", "status", "op", "errhandler",
	// "file", "info", "message" or "session".
	Kind HandleKind `json:"kind"`
	// Fortran is true for the INTEGER of MPI's Fortran bindings, which the mpi_f08 types hold too.
	Fortran bool `json:"fortran"`
	// Value is its bits: an address, or a number of 32 bits. It is the address of an MPI_Status,
	// 0 if that is in no memory.
	Value uint64 `json:"value"`
	// Data are the bytes of an MPI_Status, else empty.
	Data []byte `json:"data"`
}

// ParseHandle reads a handle of a kind as it is printed: hexadecimal with 0x as C has it, decimal as the INTEGER of
// Fortran's bindings. A decimal that no INTEGER has is C's too.
func ParseHandle(kind HandleKind, text string) (HandleValue, error) {
	out := HandleValue{Kind: kind}
	var err error
	if digits, isHex := strings.CutPrefix(strings.ToLower(text), "0x"); isHex {
		out.Value, err = strconv.ParseUint(digits, 16, 64)
	} else if integer, notInteger := strconv.ParseInt(text, 10, 32); notInteger == nil {
		out.Fortran, out.Value = true, uint64(uint32(integer))
	} else {
		out.Value, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		return HandleValue{}, fmt.Errorf("%q is no handle: it is a number, hexadecimal with 0x", text)
	}
	return out, nil
}

// HandleState is what a handle is good for.
type HandleState string

// The states of a handle. The empty one is not known.
const (
	PredefinedHandle HandleState = "predefined" // MPI's own: MPI_COMM_WORLD, MPI_INT
	NullHandle       HandleState = "null"       // MPI_COMM_NULL and its like
	LiveHandle       HandleState = "live"       // an object that is there
	FreedHandle      HandleState = "freed"      // its object has been freed
	InvalidHandle    HandleState = "invalid"    // no handle of its kind: never initialised, or another kind's
)

// Handle is what a handle of the program stands for. Of what it is only the part of its kind is
// there.
type Handle struct {
	// Kind is its type.
	Kind HandleKind `json:"kind"`
	// Value is its bits, an address where handles are addresses.
	Value uint64 `json:"value" document:"hex"`
	// FortranHandle is the INTEGER of the Fortran bindings for the same object.
	FortranHandle Maybe[int32] `json:"fortran_handle"`
	// State is what it is good for.
	State HandleState `json:"state" document:"null"`
	// Name is the object's: the program's or, by default, the library's.
	Name Maybe[string] `json:"name"`
	// Notes are sentences on what is missing or doubtful.
	Notes []string `json:"notes"`

	// Communicator is that of a communicator's handle, or the one that a request, a message, a window or a
	// file is on.
	Communicator *Communicator `json:"communicator" document:"null"`
	// Datatype is that of a datatype's.
	Datatype *Datatype `json:"datatype" document:"null"`
	// Operation is that of a request's or a message's, as in the queues.
	Operation *PendingOperation `json:"operation" document:"null"`
	// Group is that of a group's.
	Group *ProcessGroup `json:"group" document:"null"`
	// Window is that of a window's.
	Window *Window `json:"window" document:"null"`
	// File is that of a file's.
	File *File `json:"file" document:"null"`
	// Status is what an MPI_Status holds.
	Status *MessageStatus `json:"status" document:"null"`
	// Commutative is true of a reduction operation whose operands may change places.
	Commutative Maybe[bool] `json:"commutative"`
	// Info are the keys and values of an MPI_Info.
	Info []InfoEntry `json:"info" document:"null"`
}

// Place is the rank of this process in what the handle stands for, and the size of its group.
func (h *Handle) Place() (rank, size Maybe[int32]) {
	switch {
	case h.Kind == CommHandle && h.Communicator != nil:
		return h.Communicator.LocalRank, h.Communicator.Size
	case h.Group != nil:
		return h.Group.LocalRank, h.Group.Size
	case h.Window != nil:
		return h.Window.LocalRank, h.Window.Size
	case h.File != nil:
		return h.File.LocalRank, h.File.Size
	}
	return rank, size
}

// Datatype is what an MPI_Datatype describes.
type Datatype struct {
	// Name is the program's or, by default, the library's, empty of a type that has none.
	Name Maybe[string] `json:"name"`
	// Size is how many bytes of data one element has.
	Size Maybe[int64] `json:"size" document:"min=0"`
	// LowerBound is where one begins, in bytes.
	LowerBound Maybe[int64] `json:"lower_bound"`
	// Extent is how far the next element is, in bytes.
	Extent Maybe[int64] `json:"extent"`
	// Committed is true if messages may have it.
	Committed Maybe[bool] `json:"committed"`
	// Construction is how it was built, as far as the library keeps it: "vector 3 of 2 MPI_DOUBLE
	// stride 100".
	Construction string `json:"construction" document:"null"`
}

// ProcessGroup is what an MPI_Group holds.
type ProcessGroup struct {
	// LocalRank is the rank of this process, not known if it is no member.
	LocalRank Maybe[int32] `json:"local_rank"`
	// Size is the number of members.
	Size Maybe[int32] `json:"size" document:"min=0"`
	// Members is the global rank of each member; nil if it can't be read.
	Members []Maybe[int32] `json:"members" document:"null,min=0"`
}

// MessageStatus is what an MPI_Status holds.
type MessageStatus struct {
	// Source is the local rank of the message's sender.
	Source Maybe[int32] `json:"source"`
	// Tag is the message's.
	Tag Maybe[int32] `json:"tag"`
	// Error is an error code, 0 if there was none. Calls for one message leave it as it was.
	Error Maybe[int32] `json:"error"`
	// Length is how many bytes the message has.
	Length Maybe[int64] `json:"length"`
	// Cancelled is true if MPI_Cancel was in time.
	Cancelled Maybe[bool] `json:"cancelled"`
}

// InfoEntry is one key of an MPI_Info.
type InfoEntry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Flavor is how a window came to its memory, in the words of MPI_WIN_CREATE_FLAVOR.
type Flavor string

// The flavours of windows. The empty one is not known.
const (
	CreatedWindow   Flavor = "create"   // MPI_Win_create
	AllocatedWindow Flavor = "allocate" // MPI_Win_allocate
	DynamicWindow   Flavor = "dynamic"  // MPI_Win_create_dynamic
	SharedWindow    Flavor = "shared"   // MPI_Win_allocate_shared
)

// Window is a window for one-sided communication.
type Window struct {
	// Handle is the window's in C: an address, or a number of 32 bits.
	Handle inferior.Addr `json:"handle"`
	// FortranHandle is the INTEGER of the Fortran bindings.
	FortranHandle Maybe[int32] `json:"fortran_handle"`
	// Name is set by the program or, by default, by the MPI library.
	Name Maybe[string] `json:"name"`
	// Comm is the unique id of the communicator that the library has made for it.
	Comm Maybe[inferior.Addr] `json:"communicator"`
	// LocalRank is the rank of this process in the window's group.
	LocalRank Maybe[int32] `json:"local_rank"`
	// Size is the number of ranks that share the window.
	Size Maybe[int32] `json:"size" document:"min=0"`
	// Flavor is how it came to its memory.
	Flavor Flavor `json:"flavor" document:"null"`
	// Base is where this process's memory of it begins.
	Base Maybe[inferior.Addr] `json:"base"`
	// Length is how many bytes that has.
	Length Maybe[int64] `json:"length" document:"min=0"`
	// DisplacementUnit is how many bytes a displacement of 1 is.
	DisplacementUnit Maybe[int32] `json:"displacement_unit"`
	// Epochs are those that are open in this process; nil if that is not known.
	Epochs []Epoch `json:"epochs" document:"null"`
	// Idle is true if no lock, start or post has opened an epoch that is open in this process. Only of
	// windows of which it is not known whether a fence has opened one does it say more than the epochs.
	Idle Maybe[bool] `json:"idle"`
	// LockWaiters are the local ranks that have asked for a lock of this process's memory and have yet
	// to get it; nil if the library does not keep them there.
	LockWaiters []int32 `json:"lock_waiters" document:"null,min=0"`
}

// Label is the window's name in a sentence.
func (w *Window) Label() string { return label("window", w.Name) }

// EpochKind is the way in which an epoch of one-sided communication was opened.
type EpochKind string

// The kinds of epochs.
const (
	FenceEpoch   EpochKind = "fence"    // MPI_Win_fence
	LockEpoch    EpochKind = "lock"     // MPI_Win_lock
	LockAllEpoch EpochKind = "lock_all" // MPI_Win_lock_all
	StartEpoch   EpochKind = "start"    // MPI_Win_start
	PostEpoch    EpochKind = "post"     // MPI_Win_post
)

// Epoch is one that is open on a window.
type Epoch struct {
	Kind EpochKind `json:"kind"`
	// Exclusive is true of a lock that nobody else may hold (MPI_LOCK_EXCLUSIVE).
	Exclusive Maybe[bool] `json:"exclusive"`
	// Ranks are the local ranks that it is open with, nil if all are or they are not known.
	Ranks []int32 `json:"ranks" document:"null,min=0"`
	// Granted is true of a lock that the process has, and of a start that all its ranks have answered
	// with a post; false of one that it has asked for. While the call that opens the epoch is under way,
	// some libraries have it here already.
	Granted Maybe[bool] `json:"granted"`
	// Completed is how many of the ranks of a post have completed their accesses.
	Completed Maybe[int32] `json:"completed" document:"min=0"`
}

// File is an open file.
type File struct {
	// Handle is the file's in C: an address, or a number of 32 bits.
	Handle inferior.Addr `json:"handle"`
	// FortranHandle is the INTEGER of the Fortran bindings.
	FortranHandle Maybe[int32] `json:"fortran_handle"`
	// Name is the file's.
	Name Maybe[string] `json:"name"`
	// Comm is the unique id of the communicator that the library has made for it.
	Comm Maybe[inferior.Addr] `json:"communicator"`
	// LocalRank is the rank of this process among those that have opened it.
	LocalRank Maybe[int32] `json:"local_rank"`
	// Size is the number of ranks that have opened it.
	Size Maybe[int32] `json:"size" document:"min=0"`
	// AccessMode are the constants that it was opened with: MPI_MODE_RDWR; nil if not known.
	AccessMode []string `json:"access_mode" document:"null"`
}

// Label is the file's name in a sentence.
func (f *File) Label() string { return label("file", f.Name) }

// label is what an object with a name is called in a sentence.
func label(kind string, name Maybe[string]) string {
	if name.Value == "" {
		return kind + " without a name"
	}
	return kind + ` "` + name.Value + `"`
}
