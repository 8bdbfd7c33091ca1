// Package procmem reads variables of a live process that nobody debugs: it finds
// them by the symbols of the files that the process has in its memory, and reads
// them while the process runs on. On other systems than Linux it reads nothing.
package procmem

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Memory is a process that is read.
type Memory interface {
	// Symbol is a variable's address and its size in bytes, 0 if that is not known.
	Symbol(name string) (addr, size uint64, ok bool)
	// Bytes are n bytes, all of them or an error.
	Bytes(addr uint64, n int) ([]byte, error)
	// PointerSize is 4 or 8.
	PointerSize() int
	BigEndian() bool
}

// pageSize is that of the smallest pages: what is readable in part is so in
// pages of this or a multiple.
const pageSize = 4096

// Order is the order of the bytes in a process's memory.
func Order(m Memory) binary.ByteOrder {
	if m.BigEndian() {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Pointer reads a pointer.
func Pointer(m Memory, at uint64) (uint64, error) {
	b, err := m.Bytes(at, m.PointerSize())
	if err != nil {
		return 0, err
	}
	if len(b) == 4 {
		return uint64(Order(m).Uint32(b)), nil
	}
	return Order(m).Uint64(b), nil
}

// Text reads a string for people, such as a path: it ends within the limit, and
// can be printed.
func Text(m Memory, at uint64, limit int) (string, error) {
	var out []byte
	for len(out) < limit {
		next := at + uint64(len(out))
		// Not beyond its page: the next one may not be there.
		n := min(limit-len(out), 256, int(pageSize-next%pageSize))
		b, err := m.Bytes(next, n)
		if err != nil {
			return "", err
		}
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			out = append(out, b...)
			continue
		}
		s := string(append(out, b[:end]...))
		if s != printable.Line(s) {
			return "", fmt.Errorf("no text at %#x", at)
		}
		return s, nil
	}
	return "", fmt.Errorf("the text at %#x does not end within %d bytes", at, limit)
}
