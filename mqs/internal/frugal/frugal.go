// Package frugal reads untrusted JSON in bounded memory: three bytes of it can become an object of a
// thousand.
package frugal

import (
	"bytes"
	"errors"
	"io"
)

// What is counted of a text, in bytes of memory: what is made of it at most, before and
// after it is decoded. Brackets and commas in strings count too: there are few.
const (
	objectCost  = 1 << 10
	elementCost = 32
)

const (
	// Free may be made of any text.
	Free = 32 << 20
	// PerByte may be made of each byte of a text. Those of this program have objects of
	// more than a hundred bytes.
	PerByte = 32
	// PerPacked may be made of each byte that a text is packed to. An operation counts as
	// 1.6 KiB; it takes two bytes if it is as the one before, else seven.
	PerPacked = 1 << 10
)

// ErrTooMuch means that a text has more objects than its length warrants.
var ErrTooMuch = errors.New("it has more objects than is right for its length")

// Reader reads a JSON text, and fails with [ErrTooMuch] before more is handed on than may be
// made of it.
type Reader struct {
	from io.Reader
	// left is what may still be made, in bytes, to which each byte that is read adds so many.
	left, perByte int64
}

// NewReader reads a text of whose length nothing is known.
func NewReader(from io.Reader) *Reader { return &Reader{from, Free, PerByte} }

// Unpacked reads a text that has been packed to so many bytes.
func Unpacked(from io.Reader, packed int64) *Reader { return &Reader{from, Free + PerPacked*packed, 0} }

// Read reads the next bytes of the text.
func (r *Reader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	objects, elements := bytes.Count(b[:n], []byte("{")), bytes.Count(b[:n], []byte(","))
	r.left += int64(n)*r.perByte - int64(objects)*objectCost - int64(elements)*elementCost
	if r.left < 0 {
		return 0, ErrTooMuch
	}
	return n, err
}
