package inferiortest

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// What is patched is other than beneath, and what is beneath stays as it was.
func TestPatched(t *testing.T) {
	of := New()
	of.Identity = inferior.Info{PointerSize: 4, BigEndian: true}
	of.Put(0x1000, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	of.Symbols["a"], of.Symbols["b"] = &inferior.Symbol{Addr: 1}, &inferior.Symbol{Addr: 2}
	of.Types["t"] = &layout.Layout{Size: 4}
	p := Patch(of).PutPointer(0x1000, 0x0a0b0c0d).Flip(0x1004, 0xf0).PutBytes(0x1008, []byte{0xee}).
		AddPointers(0x7000, 0x11).RemoveSymbols("a").SetSymbol("c", inferior.Symbol{Addr: 3}).SetThreads(Thread(1, "main"))
	for range 2 {
		got, err := p.ReadMemory(t.Context(), []inferior.Range{{Addr: 0x1000, Len: 9}, {Addr: 0x7000, Len: 5}})
		if err != nil || string(got[0]) != "\x0a\x0b\x0c\x0d\xf5\x06\x07\x08\xee" || string(got[1]) != "\x00\x00\x00\x11\x00" {
			t.Errorf("%x, %v", got, err)
		}
	}
	if string(of.Memory[0x1000][:9]) != "\x01\x02\x03\x04\x05\x06\x07\x08\x09" {
		t.Error("the memory beneath has changed")
	}
	symbols, err := p.FindSymbols(t.Context(), []string{"a", "b", "c", "d"})
	if err != nil || symbols[0] != nil || symbols[1].Addr != 2 || symbols[2].Addr != 3 || symbols[3] != nil {
		t.Errorf("%v, %v", symbols, err)
	}
	p.SetType("u", &layout.Layout{Size: 5})
	if types, err := p.FindTypes(t.Context(), []layout.TypeQuery{{Name: "t"}, {Name: "u"}, {Name: "v"}}); err != nil || types[0].Size != 4 || types[1].Size != 5 || types[2] != nil {
		t.Errorf("%v, %v", types, err)
	}
	if types, err := p.RemoveTypes().FindTypes(t.Context(), []layout.TypeQuery{{Name: "t"}}); err != nil || types[0] != nil {
		t.Errorf("%v, %v", types, err)
	}
	if threads, err := p.Threads(t.Context(), 1, nil); err != nil || len(threads) != 1 || p.Held() != -1 {
		t.Errorf("%v, %v, %d", threads, err, p.Held())
	}
}

// A recording is found, and what is rewritten of it knows how much there is.
func TestRewritten(t *testing.T) {
	of := Recorded(t, "openmpi-4.1.4/queues-rank-0")
	w := &Rewritten{Inferior: of, Rewrite: func(b []byte) { clear(b) }}
	if held := w.Held(); held <= 0 {
		t.Errorf("%d bytes are held", held)
	}
	symbols, err := of.FindSymbols(t.Context(), []string{"ompi_mpi_communicators"})
	if err != nil || symbols[0] == nil {
		t.Fatal(symbols, err)
	}
	at := []inferior.Range{{Addr: symbols[0].Addr, Len: 64}}
	zeros, err := w.ReadMemory(t.Context(), at)
	if err != nil || string(zeros[0]) != string(make([]byte, 64)) {
		t.Errorf("%x, %v", zeros, err)
	}
	if was, err := of.ReadMemory(t.Context(), at); err != nil || string(was[0]) == string(make([]byte, 64)) {
		t.Errorf("the recording is %x, %v", was, err)
	}
}
