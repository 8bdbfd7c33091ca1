//go:build linux

package dll_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/tests/dll/testdll"
)

// Where the toy's objects are.
const (
	toyState = 0x10000
	toyComm  = 0x10100
	toySend  = 0x10200
	toyGroup = 0x10400
	toyEnd   = 0x11000
)

// toy is a made-up process of the toy MPI (tests/dll/toy.h), of the byte order that this
// machine has not, and with longs of 4 bytes as its debugger says.
func toy() *inferiortest.Process {
	memory, order := make([]byte, toyEnd-toyState), binary.ByteOrder(binary.BigEndian)
	isBig := binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	if isBig {
		order = binary.LittleEndian
	}
	p := &inferiortest.Process{
		Identity: inferior.Info{Inferior: 1, PID: 1, Kind: "core", Executable: "/other/toy", BigEndian: !isBig},
		Memory:   map[inferior.Addr][]byte{toyState: memory},
		Symbols:  map[string]*inferior.Symbol{"toy_state": {Addr: toyState}, "toy_changed": {Addr: toyEnd}},
		Types:    map[string]*layout.Layout{"long": {Size: 4}},
	}
	// The members of toy.h with their offsets in LP64, of which each is an int, a long or a pointer.
	layout := func(name string, size int, fields map[string]int) {
		l := &layout.Layout{Size: size, Fields: map[string]layout.Field{}}
		for f, at := range fields {
			l.Fields[f] = layout.Field{Offset: at, Size: 8, Kind: layout.KindSigned}
		}
		p.Types[name] = l
	}
	layout("toy_state_t", 32, map[string]int{"magic": 0, "world_rank": 4, "world_size": 8, "sequence": 16, "comms": 24})
	layout("toy_comm_t", 152, map[string]int{"next": 0, "unique_id": 8, "rank": 16, "size": 24, "name": 32, "group": 96,
		"group_answer": 104, "group_written": 108, "answers": 112, "queues": 128})
	layout("toy_operation_t", 432, map[string]int{"next": 0, "status": 8, "desired_local_rank": 16, "desired_global_rank": 24, "tag_wild": 32,
		"desired_tag": 40, "desired_length": 48, "system_buffer": 56, "buffer": 64, "actual_local_rank": 72, "actual_global_rank": 80,
		"actual_tag": 88, "actual_length": 96, "lines": 104, "text": 108})
	narrow := func(at, offset int, v uint32) { order.PutUint32(memory[at-toyState+offset:], v) }
	wide := func(at, offset int, v uint64) { order.PutUint64(memory[at-toyState+offset:], v) }
	narrow(toyState, 0, 0x70791234)
	wide(toyState, 24, toyComm)
	wide(toyComm, 8, 0x1122334455667788)
	wide(toyComm, 16, 1)
	wide(toyComm, 24, 2)
	copy(memory[toyComm-toyState+32:], "other world")
	wide(toyComm, 96, toyGroup)
	narrow(toyComm, 108, 2)
	wide(toyComm, 128, toySend)
	narrow(toySend, 8, 1)
	for offset, v := range map[int]uint64{16: 1, 24: 5, 40: 0x1234, 48: 1 << 33, 64: 0x7f0000001000, 72: 1, 80: 5, 88: 0x1234, 96: 77} {
		wide(toySend, offset, v)
	}
	narrow(toySend, 56, 1)
	narrow(toyGroup, 0, 4)
	narrow(toyGroup, 4, 5)
	return p
}

// A DLL reads a process of the other byte order, and is told the sizes that the debugger knows.
func TestOtherByteOrder(t *testing.T) {
	t.Parallel()
	process := toy()
	path := testdll.In(t.TempDir()).Reference(t, "-DOTHER_ORDER=1", "-DLONG_SIZE=4")
	h := hosts()
	defer h.Close()
	s, err := h.Open(t.Context(), dll.Process{Inferior: process}, dll.Settings{Path: path, SafePath: []string{"/"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := read.Collect(inferior.NewReader(t.Context(), process), s, read.Filter{})
	if err != nil || len(p.Communicators) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	c, calls := p.Communicators[0], p.Communicators[1]
	if c.UniqueID != 0x1122334455667788 || c.LocalRank != mqs.Known[int32](1) || c.Size != mqs.Known[int32](2) || c.Name != mqs.Known("other world") ||
		len(c.Group) != 2 || c.Group[0] != mqs.Known[int32](4) || c.Group[1] != mqs.Known[int32](5) {
		t.Errorf("the communicator is %+v", c.Communicator)
	}
	ops := c.Queue[mqs.PendingSends].Operations
	if len(ops) != 1 {
		t.Fatalf("the sends are %+v", ops)
	}
	op := ops[0]
	if op.Status != mqs.Matched || op.DesiredLocalRank.Value != 1 || op.DesiredGlobalRank.Value != 5 || op.DesiredTag.Value != 0x1234 ||
		op.DesiredLength.Value != 1<<33 || !op.SystemBuffer.Value || op.Buffer.Value != 0x7f0000001000 || op.ActualLength.Value != 77 {
		t.Errorf("the send is %+v", op)
	}
	for _, failed := range calls.Queue[mqs.PendingReceives].Operations {
		t.Errorf("a check of the DLL's failed: %s", strings.Join(failed.ExtraText, ""))
	}
}
