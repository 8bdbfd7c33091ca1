package mpir

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// The handles of MPI_COMM_WORLD, of an object in a pool's array, of one in a block, and none
// (src/include/mpi.h.in).
func TestHandles(t *testing.T) {
	for _, c := range []struct {
		handle, kind        uint32
		isBuiltin, isStored bool
	}{{0x44000000, ObjectComm, true, true}, {0x84000002, ObjectComm, false, true}, {0xac001003, ObjectRequest, false, true}, {nullRequest, ObjectRequest, false, false}, {packed, ObjectDatatype, true, true}} {
		if !IsHandle(c.handle, c.kind) || IsHandle(c.handle, c.kind+1) || IsBuiltin(c.handle) != c.isBuiltin || IsStored(c.handle) != c.isStored {
			t.Errorf("%#x is not read", c.handle)
		}
	}
	if proveHandle(0x44000000, handleBuiltin, ObjectComm, "") != nil || proveHandle(0x84000000, handleBuiltin, ObjectComm, "") == nil || proveHandle(0x44000000, handleBuiltin, ObjectRequest, "") == nil {
		t.Error("a handle is taken for another")
	}
}

// A handle has 32 bits, of which a debugger may extend the sign.
func TestNumber(t *testing.T) {
	for value, want := range map[uint64]bool{0: true, 0x84000005: true, 0xffff_ffff: true, 0x1_0000_0000: false, 0xffff_ffff_8000_0000: true, 0xffff_ffff_7fff_ffff: false, ^uint64(0): true} {
		if number, ok := Number(mqs.HandleValue{Value: value}); ok != want || number != uint32(value) {
			t.Errorf("%#x is %#x, %t", value, number, ok)
		}
	}
}
