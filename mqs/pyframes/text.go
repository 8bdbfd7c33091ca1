package pyframes

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// text reads a compact str; another is not known, and empty. The bits of kind, compact and ascii follow
// those of interned, which are two (Include/cpython/unicodeobject.h) or, with the same values, sixteen: no
// str has a kind of 0. What is behind them is padding.
func (w *walk) text(at inferior.Addr) string {
	if !w.is(at, "str") {
		return ""
	}

	state, err := w.r.Uint(at+inferior.Addr(w.textState), 4)
	if err != nil {
		return ""
	}

	length, err := w.r.Uint(at+inferior.Addr(w.textLength), 8)
	if err != nil || length > maxText {
		return ""
	}

	const isCompact, isASCII = 1 << 3, 1 << 4

	if state&0xfffc == 0 {
		state >>= 14
	}

	state >>= 2
	width, from := state&7, at+inferior.Addr(w.asciiSize)

	switch {
	case state&isCompact == 0 || width != 1 && width != 2 && width != 4:
		return ""
	case state&isASCII == 0:
		from = at + inferior.Addr(w.compactSize)
	}

	b, err := w.r.Bytes(from, int(length*width))
	if err != nil || w.r.Spend(4*int(length)) != nil {
		return ""
	}

	return decode(b, int(width))
}

// decode makes text of characters that have width bytes each.
func decode(b []byte, width int) string {
	out := make([]rune, 0, len(b)/width)

	for i := 0; i < len(b); i += width {
		switch width {
		case 1:
			out = append(out, rune(b[i]))
		case 2:
			out = append(out, rune(binary.LittleEndian.Uint16(b[i:])))
		default:
			out = append(out, rune(binary.LittleEndian.Uint32(b[i:])))
		}
	}

	for i, c := range out {
		if utf16.IsSurrogate(c) {
			out[i] = '\uFFFD' // of a name whose bytes are no text (PEP 383)
		}
	}

	return string(out)
}
