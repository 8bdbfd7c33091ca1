package ompi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// abiConstant is the object that a constant of MPI 5.0's ABI stands for, which programs have in the place of
// predefined handles (from 6.0, libmpi_abi). No object has such an address.
func (p *Process) abiConstant(kind mqs.HandleKind, value uint64) (inferior.Addr, bool) {
	index, ok := abiConstants[kind][value]
	if !ok {
		return 0, false
	}
	at, err := p.at(fortranTables[kind], index)
	return at, err == nil && at != 0
}

// abiConstants are the places that the objects of these constants have in the arrays of their kinds. Datatypes and
// operations, of which there are many, are not among them.
var abiConstants = map[mqs.HandleKind]map[uint64]int32{
	mqs.CommHandle:       {0x101: 0, 0x102: 1, 0x100: 2},
	mqs.GroupHandle:      {0x108: 0, 0x109: 1},
	mqs.WinHandle:        {0x110: 0},
	mqs.FileHandle:       {0x118: 0},
	mqs.SessionHandle:    {0x120: 0},
	mqs.MessageHandle:    {0x128: 0, 0x129: 1},
	mqs.InfoHandle:       {0x130: 0, 0x131: 1},
	mqs.ErrhandlerHandle: {0x140: 0, 0x141: 1, 0x142: 2},
	mqs.RequestHandle:    {0x180: 0},
}
