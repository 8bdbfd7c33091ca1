package callstack

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// What a call holds is found whatever the width and order of its pointers, and
// in registers that have a sign or are wider than a pointer.
func TestCallsHoldPointers(t *testing.T) {
	const stack, held, register, other = 0xfffe_1000, 0xf7a0_1238, 0xf7a0_4560, 0x8049_5678
	for _, c := range []struct {
		name  string
		info  inferior.Info
		order binary.AppendByteOrder
		// registers that hold the address register, and the stack pointer of a frame
		registers []uint64
		sp        func(inferior.Addr) inferior.Addr
	}{
		{"i386", inferior.Info{PointerSize: 4}, binary.LittleEndian, []uint64{0xffff_ffff_f7a0_4560}, func(a inferior.Addr) inferior.Addr { return a }},
		{"powerpc", inferior.Info{PointerSize: 4, BigEndian: true}, binary.BigEndian, []uint64{0xf7a0_4560}, func(a inferior.Addr) inferior.Addr { return a }},
		{"x32", inferior.Info{PointerSize: 4}, binary.LittleEndian, []uint64{0x1234_5678_f7a0_4560}, func(a inferior.Addr) inferior.Addr { return a }},
		{"sign-extending", inferior.Info{PointerSize: 4, BigEndian: true}, binary.BigEndian, []uint64{0xffff_ffff_f7a0_4560}, func(a inferior.Addr) inferior.Addr { return a | 0xffff_ffff<<32 }},
		{"x86-64", inferior.Info{PointerSize: 8}, binary.LittleEndian, []uint64{0xf7a0_4560}, func(a inferior.Addr) inferior.Addr { return a }},
		{"s390x", inferior.Info{PointerSize: 8, BigEndian: true}, binary.BigEndian, []uint64{0xf7a0_4560}, func(a inferior.Addr) inferior.Addr { return a }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var words []byte
			for _, w := range []uint64{1, held, other} {
				if c.info.PointerSize == 4 {
					words = c.order.AppendUint32(words, uint32(w))
				} else {
					words = c.order.AppendUint64(words, w)
				}
			}
			end := stack + inferior.Addr(2*c.info.PointerSize)
			f := &inferiortest.Process{Identity: c.info, Memory: map[inferior.Addr][]byte{stack: words}}
			f.Stacks = []inferior.Thread{{Number: 1, Complete: true, Registers: c.registers, Frames: []inferior.Frame{
				{Function: "poll", StackPointer: c.sp(stack)},
				{Function: "PMPI_Recv", StackPointer: c.sp(stack)},
				{Function: "main", StackPointer: c.sp(end)},
			}}}
			calls, err := Calls(inferior.NewReader(context.Background(), f))
			if err != nil || len(calls) != 1 {
				t.Fatal(calls, err)
			}
			got := calls[0]
			if got.Function != "MPI_Recv" || !got.CandidatePointers[held] || !got.CandidatePointers[register] || got.CandidatePointers[other] {
				t.Errorf("%s holds %v", got.Function, got.CandidatePointers)
			}
			if !got.OnStack(stack) || got.OnStack(end) || len(got.CandidatePointers) != 3 {
				t.Errorf("its stack is %v, its words %v", got.Stack, got.CandidatePointers)
			}
		})
	}
}

// A call keeps what a function of its own has in a register that functions keep, not what its caller may have there.
func TestKeeps(t *testing.T) {
	const own, left, callers, unknown = 0x100, 0x200, 0x300, 0
	thread := inferiortest.Thread(1, "wait@/lib/libmpi.so < MPI_Win_lock@/lib/libmpi.so < main:")
	thread.Frames[0].Kept = []uint64{own, callers, callers}
	thread.Frames[1].Kept = []uint64{unknown, callers, callers}
	thread.Frames[2].Kept = []uint64{left, callers, callers}
	calls, err := Calls(inferior.NewReader(context.Background(), stopped(thread)))
	if err != nil || len(calls) != 1 {
		t.Fatal(calls, err)
	}
	for at, is := range map[inferior.Addr]bool{own: true, left: false, callers: false, unknown: false} {
		if calls[0].Keeps(at) != is {
			t.Errorf("it keeps %s: %v, want %v", at, !is, is)
		}
	}
}

// TestBadStacks checks that no call is reported of a process with a stack that ends too early or leads backwards: another call may
// hold the pointers that are asked for.
func TestBadStacks(t *testing.T) {
	const call = "poll@/lib/libc.so < MPI_Recv@/lib/libmpi.so"
	cut, backwards := inferiortest.Thread(1, "poll@/lib/libc.so"), inferiortest.Thread(1, call+" < main:")
	cut.Complete = false
	backwards.Frames[2].StackPointer = backwards.Frames[0].StackPointer - 8
	for says, thread := range map[string]inferior.Thread{
		"the caller of MPI_Recv in thread 1 is not known": inferiortest.Thread(1, call),
		"the stack of thread 1, from 0x7000 to 0x6ff8, ":  backwards,
		"the stack of thread 1 can't be followed":         cut,
	} {
		if calls, err := Calls(inferior.NewReader(t.Context(), stopped(thread))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", says, calls, err)
		}
	}
}
