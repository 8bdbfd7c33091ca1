package mpir

import "fmt"

// Handles (src/include/mpir_objects.h, 4.0 to 5.0): two bits say how an object
// is stored, then four what kind it is; of one in a block, what follows is the
// block's number and the place in it.
const (
	handleBuiltin  = 1
	handleDirect   = 2
	handleIndirect = 3

	handleBlock      = 0x03ff_f000
	handleBlockShift = 12
	handlePlace      = 0x0000_0fff
	handleIndex      = 0x03ff_ffff

	objectKindShift = 26
	objectKindMask  = 0xf
)

// Kinds of objects (MPII_Object_kind).
const (
	ObjectComm       = 1
	objectGroup      = 2
	ObjectDatatype   = 3
	objectErrhandler = 5
	objectOp         = 6
	objectInfo       = 7
	objectWin        = 8
	objectKeyval     = 9
	ObjectRequest    = 11
	objectSession    = 14
)

// IsHandle says whether a number may be the handle of an object of a kind.
func IsHandle(handle, kind uint32) bool {
	return handle>>objectKindShift&objectKindMask == kind
}

// IsBuiltin says whether a handle is that of a predefined object.
func IsBuiltin(handle uint32) bool { return storage(handle) == handleBuiltin }

// IsStored says whether a handle is that of any object.
func IsStored(handle uint32) bool { return storage(handle) != 0 }

// storage is how the object of a handle is stored.
func storage(handle uint32) uint32 { return handle >> 30 }

// proveHandle checks that a handle is of a kind of object in a kind of storage.
func proveHandle(handle, storedHow, kind uint32, what string) error {
	if storage(handle) != storedHow || !IsHandle(handle, kind) {
		return fmt.Errorf("%s has the handle 0x%x", what, handle)
	}
	return nil
}
