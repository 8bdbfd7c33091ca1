// Package jsonout writes JSON piece by piece. A document may have a million operations, so
// nothing stands between a value and the buffer that it is appended to.
package jsonout

import (
	"io"
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Piece is how many bytes are handed on at once.
const Piece = 1 << 20

// Writer appends JSON to a buffer, which it hands on in large pieces. The caller sees to it
// that the pieces make a document. Its zero value keeps all in the buffer.
type Writer struct {
	buffer []byte
	out    io.Writer
	err    error
}

// New returns a writer to out.
func New(out io.Writer) *Writer { return &Writer{out: out} }

// Full hands on what has been written if it is more than a [Piece].
func (w *Writer) Full() {
	if len(w.buffer) > Piece {
		w.handOn()
	}
}

// End hands on the rest, and returns the first error of the writer beneath.
func (w *Writer) End() error {
	w.handOn()
	return w.err
}

func (w *Writer) handOn() {
	if w.err == nil && len(w.buffer) > 0 {
		_, w.err = w.out.Write(w.buffer)
	}
	w.buffer = w.buffer[:0]
}

// Copy writes what another writer has in its buffer.
func (w *Writer) Copy(from *Writer) *Writer { w.buffer = append(w.buffer, from.buffer...); return w }

// Raw writes what is JSON already.
func (w *Writer) Raw(s string) *Writer { w.buffer = append(w.buffer, s...); return w }

// Int writes a number.
func (w *Writer) Int(v int64) *Writer { w.buffer = strconv.AppendInt(w.buffer, v, 10); return w }

// Uint writes a number.
func (w *Writer) Uint(v uint64) *Writer { w.buffer = strconv.AppendUint(w.buffer, v, 10); return w }

// Bool writes true or false.
func (w *Writer) Bool(v bool) *Writer { w.buffer = strconv.AppendBool(w.buffer, v); return w }

// Hex writes a number as a string of hexadecimal digits.
func (w *Writer) Hex(v uint64) *Writer {
	w.buffer = strconv.AppendUint(append(w.buffer, `"0x`...), v, 16)
	w.buffer = append(w.buffer, '"')
	return w
}

// Comma writes a comma before the elements of a list but the first, whose number is 0.
func (w *Writer) Comma(i int) *Writer {
	if i > 0 {
		w.buffer = append(w.buffer, ',')
	}
	return w
}

// Text writes a string. Names come out of a foreign process, and JSON can go to a
// terminal: see [printable.AppendJSON].
func (w *Writer) Text(s string) *Writer {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == '"' || s[i] == '\\' {
			w.buffer = printable.AppendJSON(w.buffer, s)
			return w
		}
	}
	w.buffer = append(append(append(w.buffer, '"'), s...), '"')
	return w
}

// TextOrNull writes null for an empty string, which stands for one that is not known.
func (w *Writer) TextOrNull(s string) *Writer {
	if s == "" {
		return w.Raw("null")
	}
	return w.Text(s)
}
