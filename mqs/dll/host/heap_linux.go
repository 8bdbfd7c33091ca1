package host

import (
	"bytes"
	"fmt"

	"github.com/ebitengine/purego"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
)

// heap is the C library's: a DLL may hand what it got from mqs_malloc to C's own free.
type heap struct {
	malloc, free, memset uintptr
	used                 uintptr // bytes
	texts                map[int32]uintptr
}

// maxHeap is how much a DLL may have allocated at once, in bytes.
const maxHeap = 1 << 30

// garbage is what new memory is full of: a rank or a length that a DLL forgets
// to fill in is then out of every range, instead of a plausible zero.
const garbage = 0xa5

func findHeap() (heap, error) {
	h := heap{texts: map[int32]uintptr{}}
	for name, at := range map[string]*uintptr{"malloc": &h.malloc, "free": &h.free, "memset": &h.memset} {
		f, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
		if err != nil {
			return h, fmt.Errorf("the C library has no %s: %w", name, err)
		}
		*at = f
	}
	return h, nil
}

func (h *host) malloc(size uintptr) uintptr {
	if size > maxHeap-h.heap.used {
		h.fault("asked mqs_malloc for %d bytes when it had %d", size, h.heap.used)
		return 0
	}
	// Each block is followed by as much room again. LAM/MPI 7.1's DLL writes a long for each member of a group into room
	// for an int, which with more ranks than a few would destroy the C library's heap (dll_lam.c, build_comm_list).
	p, _, _ := purego.SyscallN(h.heap.malloc, 2*max(size, 1))
	if p == 0 {
		return 0
	}
	_, _, _ = purego.SyscallN(h.heap.memset, p, garbage, 2*size)
	h.heap.used -= h.blocks[p] // what C's own free has freed behind our back
	h.blocks[p] = size
	h.heap.used += size
	return p
}

func (h *host) free(p uintptr) uintptr {
	if p == 0 {
		return 0
	}
	size, ok := h.blocks[p]
	if !ok {
		h.fault("freed memory that it had not allocated, or had freed before")
		return 0
	}
	if room, ok := get(p+size, int(size)); ok && bytes.Count(room, []byte{garbage}) < len(room) {
		h.fault("wrote past the end of memory from mqs_malloc")
	}
	delete(h.blocks, p)
	h.heap.used -= size
	_, _, _ = purego.SyscallN(h.heap.free, p)
	return 0
}

// reportLeaks says what the DLL still has when nothing is left that it could be for.
func (h *host) reportLeaks() {
	if len(h.images) == 0 && len(h.blocks) > 0 {
		h.fault("has not freed %d bytes in %d blocks", h.heap.used, len(h.blocks))
		clear(h.blocks) // told once
		h.heap.used = 0
	}
}

// errorString has words for the codes that call-backs return.
func (h *host) errorString(code uintptr) uintptr {
	c := int32(code)
	if p, ok := h.heap.texts[c]; ok {
		return p
	}
	words := map[int32]string{
		abi.OK:            "no error",
		abi.NoInformation: "the debugger has no information",
		abi.EndOfList:     "end of list",
	}[c]
	if words == "" {
		words = "an error that the debugger does not know"
		if c != unknownCode {
			return h.errorString(uintptr(unknownCode))
		}
	}
	p, _, _ := purego.SyscallN(h.heap.malloc, uintptr(len(words)+1))
	if p == 0 || !put(p, append([]byte(words), 0)) {
		return 0
	}
	h.heap.texts[c] = p
	return p
}

// unknownCode stands for all codes that are none of the debugger's.
const unknownCode = 1<<31 - 1
