package target

import (
	"context"
	"encoding/binary"
	"testing"
)

// What a call holds is found whatever the width and order of its pointers, and
// in registers that have a sign or are wider than a pointer.
func TestCallsHoldPointers(t *testing.T) {
	const stack, held, register, other = 0xfffe_1000, 0xf7a0_1238, 0xf7a0_4560, 0x8049_5678
	for _, c := range []struct {
		name  string
		info  Info
		order binary.AppendByteOrder
		// registers that hold the address register, and the stack pointer of a frame
		registers []uint64
		sp        func(Addr) Addr
	}{
		{"i386", Info{PointerSize: 4}, binary.LittleEndian, []uint64{0xffff_ffff_f7a0_4560}, func(a Addr) Addr { return a }},
		{"powerpc", Info{PointerSize: 4, BigEndian: true}, binary.BigEndian, []uint64{0xf7a0_4560}, func(a Addr) Addr { return a }},
		{"x32", Info{PointerSize: 4}, binary.LittleEndian, []uint64{0x1234_5678_f7a0_4560}, func(a Addr) Addr { return a }},
		{"sign-extending", Info{PointerSize: 4, BigEndian: true}, binary.BigEndian, []uint64{0xffff_ffff_f7a0_4560}, func(a Addr) Addr { return a | 0xffff_ffff<<32 }},
		{"x86-64", Info{PointerSize: 8}, binary.LittleEndian, []uint64{0xf7a0_4560}, func(a Addr) Addr { return a }},
		{"s390x", Info{PointerSize: 8, BigEndian: true}, binary.BigEndian, []uint64{0xf7a0_4560}, func(a Addr) Addr { return a }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			f.info = c.info
			var words []byte
			for _, w := range []uint64{1, held, other} {
				if c.info.PointerSize == 4 {
					words = c.order.AppendUint32(words, uint32(w))
				} else {
					words = c.order.AppendUint64(words, w)
				}
			}
			page := make([]byte, pageSize)
			copy(page, words)
			f.regions[stack] = page
			end := stack + Addr(2*c.info.PointerSize)
			f.threads = []Thread{{Number: 1, Complete: true, Registers: c.registers, Frames: []Frame{
				{Function: "poll", StackPointer: c.sp(stack)},
				{Function: "PMPI_Recv", StackPointer: c.sp(stack)},
				{Function: "main", StackPointer: c.sp(end)},
			}}}
			calls, err := NewReader(context.Background(), f).Calls()
			if err != nil || len(calls) != 1 {
				t.Fatal(calls, err)
			}
			got := calls[0]
			if got.Function != "MPI_Recv" || !got.Words[held] || !got.Words[register] || got.Words[other] {
				t.Errorf("%s holds %v", got.Function, got.Words)
			}
			if !got.Holds(stack) || got.Holds(end) || len(got.Words) != 3 {
				t.Errorf("its stack is %v, its words %v", got.Stack, got.Words)
			}
		})
	}
}
