// Package jsonout writes JSON by appending it to a buffer. A document may have a million
// operations, so nothing stands between a value and the buffer.
package jsonout

import (
	"io"
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// piece is how many bytes are handed on at once.
const piece = 1 << 20

// Sink takes what a buffer has become full of.
type Sink struct {
	out io.Writer
	err error
}

// New returns a sink that writes to out.
func New(out io.Writer) *Sink { return &Sink{out: out} }

// Full hands on what is in a buffer if that is a large piece, and returns the buffer to go on with.
func (s *Sink) Full(b []byte) []byte {
	if len(b) > piece {
		return s.handOn(b)
	}
	return b
}

// End hands on the rest, and returns the first error of the writer beneath.
func (s *Sink) End(b []byte) error {
	s.handOn(b)
	return s.err
}

func (s *Sink) handOn(b []byte) []byte {
	if s.err == nil {
		_, s.err = s.out.Write(b)
	}
	return b[:0]
}

// Text appends a string. Names come out of a foreign process, and JSON can go to a
// terminal: see [printable.AppendJSON].
func Text(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == '"' || s[i] == '\\' {
			return printable.AppendJSON(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// Hex appends a number as a string of hexadecimal digits.
func Hex(b []byte, v uint64) []byte {
	return append(strconv.AppendUint(append(b, `"0x`...), v, 16), '"')
}

// Comma appends what stands between the elements of a list, before the one of this number.
func Comma(b []byte, i int) []byte {
	if i == 0 {
		return b
	}
	return append(b, ',')
}
