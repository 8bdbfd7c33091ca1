package inferiortest

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A range goes on over pages that follow each other, and ends where memory does.
func TestMadeUpMemory(t *testing.T) {
	p := New()
	p.Identity.BigEndian = true
	p.Put(0x1ffc, []byte("12345678"))
	p.Put(0x5000, p.Pointer(0x0102))
	got, err := p.ReadMemory(t.Context(), []inferior.Range{{Addr: 0x1ffc, Len: 8}, {Addr: 0x2ffe, Len: 8}, {Addr: 0x4000, Len: 8}, {Addr: 0x5006, Len: 2}})
	if err != nil || string(got[0]) != "12345678" || len(got[1]) != 2 || got[2] != nil || !slices.Equal(got[3], []byte{1, 2}) {
		t.Errorf("%q, %v", got, err)
	}
	if p.Calls != 1 || p.BytesRead != 12 || p.Info().PointerSize != 8 {
		t.Errorf("%d calls, %d bytes, %+v", p.Calls, p.BytesRead, p.Info())
	}
}

func TestThread(t *testing.T) {
	got := Thread(2, "? < PMPI_Recv@/lib/libmpi.so < main:", 0x10)
	want := []inferior.Frame{
		{StackPointer: stackPointer},
		{Function: "PMPI_Recv", Object: "/lib/libmpi.so", StackPointer: stackPointer},
		{Function: "main", File: "a.c", Line: 1, StackPointer: stackPointer},
	}
	if got.Number != 2 || got.ID != 102 || !got.Complete || !slices.Equal(got.Registers, []uint64{0x10}) || len(got.Frames) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, f := range got.Frames {
		if f.Function != want[i].Function || f.Object != want[i].Object || f.File != want[i].File || f.Line != want[i].Line || f.StackPointer != want[i].StackPointer {
			t.Errorf("%d: %+v, want %+v", i, f, want[i])
		}
	}
}
