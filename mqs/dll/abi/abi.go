// Package abi is the binary interface between a debugger and a vendor's message
// queue DLL, as the header mpi_interface.h of the 1.03 note has it and every
// DLL was compiled with it: types, constants and tables in the standard's
// names. Where the 1.0 draft differs (it lacks mqs_dprints_ft and, in the
// image's table, mqs_field_offset_ft), the header is followed.
//
// Go's uintptr and int have the widths of C's unsigned long and long on every
// system with such DLLs, so the structures are the same in both languages; a
// test holds each size and offset against the facts.
package abi

import "bytes"

// Compatibility levels that a DLL may have (MQS_INTERFACE_COMPATIBILITY).
const (
	// Compatibility is that of the original interface.
	Compatibility = 2
	// CompatibilityMPI2 is that of a DLL with the additions for process creation.
	CompatibilityMPI2 = 3
)

// Result codes; a DLL's own are [FirstUserCode] and above.
const (
	OK            = 0   // mqs_ok
	NoInformation = 1   // mqs_no_information
	EndOfList     = 2   // mqs_end_of_list
	FirstUserCode = 100 // mqs_first_user_code
)

// InvalidProcess is MQS_INVALID_PROCESS: a process index that is none.
const InvalidProcess = -1

// LangCode is mqs_lang_code.
type LangCode int32

// The languages of functions and types.
const (
	LangC     LangCode = 'c' // mqs_lang_c
	LangCplus LangCode = 'C' // mqs_lang_cplus
	LangF77   LangCode = 'f' // mqs_lang_f77
	LangF90   LangCode = 'F' // mqs_lang_f90
)

// OpClass is mqs_op_class.
type OpClass int32

// The queues.
const (
	PendingSends       OpClass = iota // mqs_pending_sends
	PendingReceives                   // mqs_pending_receives
	UnexpectedMessages                // mqs_unexpected_messages
)

// The states of an operation (enum mqs_status).
const (
	StPending  = iota // mqs_st_pending
	StMatched         // mqs_st_matched
	StComplete        // mqs_st_complete
)

// What follows is opaque to the other side: the debugger's objects to the DLL,
// the DLL's to the debugger. 0 is none.
type (
	// Image is mqs_image *, an executable with its libraries.
	Image uintptr
	// Process is mqs_process *, a process of an image.
	Process uintptr
	// Type is mqs_type *, a type of an image.
	Type uintptr
	// Job is mqs_job *, all processes of a job (compatibility 3).
	Job uintptr
	// ImageInfo is mqs_image_info *, what the DLL keeps of an image.
	ImageInfo uintptr
	// ProcessInfo is mqs_process_info *, what the DLL keeps of a process.
	ProcessInfo uintptr
	// JobInfo is mqs_job_info *, what the DLL keeps of a job.
	JobInfo uintptr
)

// TaddrT is mqs_taddr_t, an address in the process.
type TaddrT uintptr

// TwordT is mqs_tword_t, a word of the process.
type TwordT int

// TargetTypeSizes is mqs_target_type_sizes, in bytes. Open MPI's private header
// has two members more, which its DLL fills in by itself; all others end here.
type TargetTypeSizes struct {
	ShortSize    int32
	IntSize      int32
	LongSize     int32
	LongLongSize int32
	PointerSize  int32
}

// NameSize is the size of mqs_communicator.name and of each line of
// mqs_pending_operation.extra_text in bytes; the terminator may be missing.
const NameSize = 64

// ExtraLines is the number of lines of mqs_pending_operation.extra_text.
const ExtraLines = 5

// Communicator is mqs_communicator.
type Communicator struct {
	UniqueID  TaddrT
	LocalRank TwordT
	Size      TwordT
	Name      [NameSize]byte
}

// PendingOperation is mqs_pending_operation. Integers that C has as int are
// followed by C's padding.
type PendingOperation struct {
	Status            int32
	DesiredLocalRank  TwordT
	DesiredGlobalRank TwordT
	TagWild           int32
	DesiredTag        TwordT
	DesiredLength     TwordT
	SystemBuffer      int32
	Buffer            TaddrT
	ActualLocalRank   TwordT
	ActualGlobalRank  TwordT
	ActualTag         TwordT
	ActualLength      TwordT
	ExtraText         [ExtraLines][NameSize]byte
}

// The lengths of mqs_process_location's members: FILENAME_MAX of the C library
// on Linux, and 64.
const (
	imageNameSize = 4096
	hostNameSize  = 64
)

// ProcessLocation is mqs_process_location (compatibility 3): where a process is
// that this one has created or connected to.
type ProcessLocation struct {
	PID       TwordT
	ImageName [imageNameSize]byte
	HostName  [hostNameSize]byte
}

// Text is the string in a fixed array, whose terminator may be missing.
func Text(array []byte) string {
	if i := bytes.IndexByte(array, 0); i >= 0 {
		array = array[:i]
	}
	return string(array)
}

// A table holds C function pointers.
type (
	// BasicCallbacks is mqs_basic_callbacks. The last two are read by DLLs of
	// compatibility 3 only.
	BasicCallbacks struct {
		Malloc, Free, Dprints, Errorstring, PutImageInfo, GetImageInfo, PutProcessInfo, GetProcessInfo,
		PutJobInfo, GetJobInfo uintptr
	}
	// ImageCallbacks is mqs_image_callbacks.
	ImageCallbacks struct {
		GetTypeSizes, FindFunction, FindSymbol, FindType, FieldOffset, Sizeof uintptr
	}
	// ProcessCallbacks is mqs_process_callbacks. The last two are read by DLLs
	// of compatibility 3 only.
	ProcessCallbacks struct {
		GetGlobalRank, GetImage, FetchData, TargetToHost,
		GetProcessJob, GetProcessIdentity uintptr
	}
	// JobCallbacks is mqs_job_callbacks (compatibility 3).
	JobCallbacks struct {
		GetProcess uintptr
	}
)
