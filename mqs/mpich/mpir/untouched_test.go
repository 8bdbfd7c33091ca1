package mpir

import (
	"encoding/binary"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

const (
	untouchedBase  = 0x10000 // where the library is loaded
	untouchedBytes = 0x3000  // of its file
)

// untouched returns a process that has loaded a library with so many bytes of zero-initialized data.
func untouched(width, zeros int) *inferiortest.Process {
	p := inferiortest.New()
	p.Identity = inferior.Info{PointerSize: width}
	put := func(at inferior.Addr, words ...inferior.Addr) {
		for i, w := range words {
			p.Put(at+inferior.Addr(i*width), p.Pointer(w))
		}
	}
	p.Symbols[symDebug] = &inferior.Symbol{Addr: 0x1000}
	put(0x1000, 1, 0x1100)
	put(0x1100, 0x2000, 0, 0, 0x1200) // the program
	put(0x1200, untouchedBase, 0, 0, 0x1300)
	put(0x1300, 0x8000000, 0, 0, 0) // another library, behind it
	image := make([]byte, untouchedBytes+zeros)
	copy(image, "\x7fELF")
	word, half := binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint16
	at := 64
	// Each program header has its type, flags, p_vaddr, p_filesz and p_memsz.
	for _, h := range [][5]uint32{{6, 4, 0, 64, 64}, {1, 5, 0, 0x2000, 0x2000}, {1, 6, 0x2000, 0x1000, uint32(0x1000 + zeros)}} {
		b := image[at:]
		word(b, h[0])
		if width == 8 {
			word(b[4:], h[1])
			word(b[16:], h[2])
			word(b[32:], h[3])
			word(b[40:], h[4])
			at += 56
		} else {
			word(b[8:], h[2])
			word(b[16:], h[3])
			word(b[20:], h[4])
			word(b[24:], h[1])
			at += 32
		}
	}
	if width == 8 {
		word(image[32:], 64)
		half(image[54:], 56)
		half(image[56:], 3)
	} else {
		word(image[28:], 64)
		half(image[42:], 32)
		half(image[44:], 3)
	}
	image[untouchedBytes-1] = 1 // data with a value
	p.Put(untouchedBase, image)
	return p
}

// TestUntouched checks that a library's zero-initialized data is known to be as it was only if all of it is zero.
func TestUntouched(t *testing.T) {
	const zeros = 2*imageStep + 40
	for _, width := range []int{4, 8} {
		for name, c := range map[string]struct {
			zeros  int
			change func(p *inferiortest.Process)
			symbol inferior.Addr
			want   bool
		}{
			"as it was":       {zeros, func(*inferiortest.Process) {}, untouchedBase + 0x100, true},
			"first byte":      {zeros, func(p *inferiortest.Process) { p.Put(untouchedBase+untouchedBytes, []byte{1}) }, untouchedBase + 0x100, false},
			"last byte":       {zeros, func(p *inferiortest.Process) { p.Put(untouchedBase+untouchedBytes+zeros-1, []byte{1}) }, untouchedBase + 0x100, false},
			"little data":     {minZeros - 8, func(*inferiortest.Process) {}, untouchedBase + 0x100, false},
			"no ELF header":   {zeros, func(p *inferiortest.Process) { p.Put(untouchedBase, []byte{0}) }, untouchedBase + 0x100, false},
			"no list":         {zeros, func(p *inferiortest.Process) { delete(p.Symbols, symDebug) }, untouchedBase + 0x100, false},
			"a broken list":   {zeros, func(p *inferiortest.Process) { p.Put(0x1000+inferior.Addr(width), p.Pointer(0x4000)) }, untouchedBase + 0x100, false},
			"in another file": {zeros, func(*inferiortest.Process) {}, untouchedBase + 0x1000000, false},
		} {
			p := untouched(width, c.zeros)
			c.change(p)
			if got := IsUntouched(inferior.NewReader(t.Context(), p), inferior.Symbol{Addr: c.symbol}); got != c.want {
				t.Errorf("%s, pointers of %d bytes: %v", name, width, got)
			}
		}
	}
}
