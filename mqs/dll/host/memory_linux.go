package host

import (
	"bytes"
	"unsafe"
)

// What a DLL hands over as a pointer may be anything. The runtime turns faults
// of Go's own reads and writes into panics (debug.SetPanicOnFault in [Serve]),
// and here they end as a false.

// at is what C has at an address, n bytes long.
func at(addr uintptr, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}

// readable runs f, which reads or writes at an address of C's.
func readable(addr uintptr, f func()) (ok bool) {
	if addr == 0 {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	f()
	return true
}

// put writes to an address of C's; false if it is none.
func put(addr uintptr, data []byte) bool {
	return readable(addr, func() { copy(at(addr, len(data)), data) })
}

// get reads n bytes.
func get(addr uintptr, n int) (out []byte, ok bool) {
	ok = readable(addr, func() { out = bytes.Clone(at(addr, n)) })
	return out, ok
}

// cString reads a string of at most limit bytes; a longer one is cut.
func cString(addr uintptr, limit int) (s string, ok bool) {
	const page = 4096
	var out []byte
	for len(out) < limit {
		a := addr + uintptr(len(out))
		piece, ok := get(a, min(limit-len(out), page-int(a%page)))
		if !ok {
			return string(out), len(out) > 0
		}
		if i := bytes.IndexByte(piece, 0); i >= 0 {
			return string(append(out, piece[:i]...)), true
		}
		out = append(out, piece...)
	}
	return string(out), true
}

// value writes a value.
func value[T any](addr uintptr, v T) bool {
	return put(addr, unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
}
