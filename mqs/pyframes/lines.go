// Package pyframes reads from outside where a thread of CPython is: the
// functions of the program, their files and lines, with nothing run in it.
package pyframes

// kinds of entries of a location table (CPython's Objects/locations.md, 3.11
// and later); those below oneLine hold columns only.
const (
	oneLine    = 10
	noColumns  = 13
	longForm   = 14
	noLocation = 15
)

// unitSize is the size of one code unit, in which a table counts
// (_Py_CODEUNIT, Include/cpython/code.h).
const unitSize = 2

// Line finds the line of the instruction at offset, in bytes from the start of
// the code (co_code_adaptive), in a location table (co_linetable) whose first
// entry counts from first (co_firstlineno). An instruction without a line, past
// the table or in a broken one has none.
func Line(table []byte, first int32, offset uint64) (int32, bool) {
	line := int64(first)
	unit := offset / unitSize

	for i, end := 0, uint64(0); i < len(table); {
		head := table[i]
		if head&0x80 == 0 {
			return 0, false
		}

		kind := head >> 3 & 0xf
		end += uint64(head&7) + 1

		body := i + 1
		for i = body; i < len(table) && table[i]&0x80 == 0; i++ {
		}

		delta, ok := lineDelta(kind, table[body:i])
		if !ok {
			return 0, false
		}

		line += delta
		if unit >= end {
			continue
		}

		if kind == noLocation || line < 1 || line > 1<<31-1 {
			return 0, false
		}

		return int32(line), true
	}

	return 0, false
}

// lineDelta says how far an entry's line is from that of the entry before; an
// entry whose bytes are fewer or more than its kind has is none.
func lineDelta(kind byte, body []byte) (int64, bool) {
	switch {
	case kind < oneLine:
		return 0, len(body) == 1
	case kind < noColumns:
		return int64(kind - oneLine), len(body) == 2
	case kind == noLocation:
		return 0, len(body) == 0
	}

	delta, n, ok := varint(body)
	if !ok {
		return 0, false
	}

	rest := body[n:]
	if kind == longForm {
		for range 3 {
			if _, n, ok = varint(rest); !ok {
				return 0, false
			}

			rest = rest[n:]
		}
	}

	// the sign is the lowest bit.
	signed := int64(delta >> 1)
	if delta&1 != 0 {
		signed = -signed
	}

	return signed, len(rest) == 0
}

// varint reads a number in chunks of six bits, the lowest first, and says how
// many bytes it took; a line needs no more than six of them.
func varint(b []byte) (uint64, int, bool) {
	var v uint64

	for i := 0; i < len(b) && i < 6; i++ {
		v |= uint64(b[i]&0x3f) << (6 * i)

		if b[i]&0x40 == 0 {
			return v, i + 1, true
		}
	}

	return 0, 0, false
}
