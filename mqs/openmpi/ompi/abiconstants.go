package ompi

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// abiLibrary begins the name of the library for programs of MPI 5.0's ABI (from 6.0).
const abiLibrary = "libmpi_abi"

// abiIndexBase is what the INTEGER of a handle adds to its object's index in the ABI, where lower ones are constants
// (OMPI_ABI_HANDLE_BASE_OFFSET, 6.0).
const abiIndexBase = 16385

// isABI says whether the program has the ABI's handles.
func (p *Process) isABI() bool {
	return slices.ContainsFunc(p.R.Info().Libraries, func(path string) bool { return strings.HasPrefix(filepath.Base(path), abiLibrary) })
}

// integer is the INTEGER of the handle of an object that has an index in the array of its kind.
func (p *Process) integer(kind mqs.HandleKind, index int32) int32 {
	if !p.isABI() {
		return index
	}
	for value, of := range abiConstants[kind] {
		if of == index {
			return int32(value)
		}
	}
	return index + abiIndexBase
}

// index is the index of the object that the INTEGER of a handle stands for, negative if it is none.
func (p *Process) index(kind mqs.HandleKind, integer int32) int32 {
	if !p.isABI() {
		return integer
	}
	if index, ok := abiConstants[kind][uint64(integer)]; ok {
		return index
	}
	return max(integer-abiIndexBase, -1)
}

// abiConstant is the object that a constant of MPI 5.0's ABI stands for, which programs have in the place of
// predefined handles. No object has such an address.
func (p *Process) abiConstant(kind mqs.HandleKind, value uint64) (inferior.Addr, bool) {
	index, ok := abiConstants[kind][value]
	if !ok {
		return 0, false
	}
	at, err := p.at(fortranTables[kind], index)
	return at, err == nil && at != 0
}

// given is the address of the object that a handle stands for which the program has passed to a call. In the ABI it may
// be a constant; what is none of the kind's leads to no object.
func (p *Process) given(kind mqs.HandleKind, value int64) inferior.Addr {
	if p.isABI() {
		if at, ok := p.abiConstant(kind, uint64(value)); ok {
			return at
		}
	}
	return inferior.Addr(value)
}

// The negatives of MPI 5.0's ABI (the standard's appendix on the ABI, mpi_abi.h) that Open MPI has other values for. Its
// front end translates them before anything of the library's sees them (ompi/mpi/bindings, 6.0).
const (
	abiAnyTag   = -2
	abiProcNull = -3
)

// givenRank is the rank in Open MPI's own form that the program has passed to a call.
func (p *Process) givenRank(rank int64) int32 {
	if p.isABI() && int32(rank) == abiProcNull {
		return procNull
	}
	return int32(rank)
}

// givenTag is the tag of a receive, likewise.
func (p *Process) givenTag(tag int64) int32 {
	if p.isABI() && int32(tag) == abiAnyTag {
		return AnyTag
	}
	return int32(tag)
}

// abiConstants are the places that the objects of these constants have in the arrays of their kinds (the standard's
// appendix on the ABI; ompi/mca/op/op.h, ompi/errhandler/errhandler.h and ompi/datatype/ompi_datatype_module.c, 6.0).
var abiConstants = map[mqs.HandleKind]map[uint64]int32{
	mqs.CommHandle:       {0x101: 0, 0x102: 1, 0x100: 2},
	mqs.GroupHandle:      {0x108: 0, 0x109: 1},
	mqs.WinHandle:        {0x110: 0},
	mqs.FileHandle:       {0x118: 0},
	mqs.SessionHandle:    {0x120: 0},
	mqs.MessageHandle:    {0x128: 0, 0x129: 1},
	mqs.InfoHandle:       {0x130: 0, 0x131: 1},
	mqs.ErrhandlerHandle: {0x140: 0, 0x141: 1, 0x143: 2, 0x142: 3},
	mqs.RequestHandle:    {0x180: 0},
	mqs.OpHandle: {
		0x20: 0, 0x23: 1, 0x22: 2, 0x21: 3, 0x24: 4, 0x30: 5, 0x28: 6, 0x31: 7, 0x29: 8, 0x32: 9, 0x2a: 10, 0x39: 11, 0x38: 12,
		0x3c: 13, 0x3d: 14,
	},
	mqs.DatatypeHandle: {
		0x200: 0, 0x201: 66, 0x202: 72, 0x203: 67, 0x207: 2, 0x208: 37, 0x209: 39, 0x20a: 41,
		0x20b: 43, 0x20c: 38, 0x20d: 40, 0x20e: 42, 0x20f: 44, 0x210: 45, 0x212: 69, 0x213: 55,
		0x214: 46, 0x216: 70, 0x217: 56, 0x218: 6, 0x219: 7, 0x21a: 13, 0x21b: 18, 0x21c: 17,
		0x21d: 22, 0x21e: 5, 0x220: 47, 0x224: 71, 0x225: 57, 0x228: 48, 0x229: 49, 0x22a: 51,
		0x22b: 52, 0x22c: 53, 0x22d: 50, 0x230: 23, 0x231: 24, 0x232: 25, 0x238: 68, 0x239: 54,
		0x23c: 33, 0x240: 58, 0x241: 59, 0x243: 34, 0x244: 36, 0x245: 35, 0x247: 1, 0x248: 60,
		0x249: 61, 0x250: 62, 0x251: 63, 0x258: 64, 0x259: 65, 0x2c0: 29, 0x2c1: 8, 0x2c8: 30,
		0x2c9: 9, 0x2ca: 28, 0x2d0: 31, 0x2d1: 10, 0x2d2: 14, 0x2d3: 73, 0x2d8: 32, 0x2d9: 11,
		0x2da: 15, 0x2db: 19, 0x2e0: 77, 0x2e1: 12, 0x2e2: 16, 0x2e3: 20, 0x2eb: 21,
	},
}
