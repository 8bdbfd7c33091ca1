package host

import (
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A DLL makes some forty call-backs for each operation, nearly all for a few bytes of memory that is here already and for
// what it has itself told the debugger to remember. A general call-back enters Go's runtime, which
// takes a microsecond. The leaf's are a few instructions (leaf_linux_amd64.s): they answer these from
// the memory below, and leave everything else to the general ones.

const (
	leafPages    = 2048
	leafPageSize = 4096
)

// leaf is the memory of the leaf's call-backs. It is no part of Go's heap.
type leaf struct {
	thread      uintptr // tells the thread on which the DLL is called from others
	top         uintptr // of that thread's stack, as far as the DLL may have anything there
	process     abi.Process
	processInfo abi.ProcessInfo
	image       abi.Image
	imageInfo   abi.ImageInfo
	sameOrder   abi.Process // the process if its bytes are in this machine's order, else 0
	_           uintptr
	general     [5]uintptr // call-backs: fetch, to host, process info, image, image info
	_           [4096 - 13*8]byte
	tags        [leafPages]uint64 // of each page its number and 1, 0 for none
	pages       [leafPages][leafPageSize]byte
}

// leafAt is where it stands, for the code.
var leafAt uintptr //nolint:unused // but in assembly

// leafCode are the functions of the leaf: those that take the places of the general ones, and two that tell
// of the thread.
var leafCode [7]uintptr

// The code has these as numbers.
var (
	_ [unsafe.Offsetof(leaf{}.general) - 64]byte
	_ [64 - unsafe.Offsetof(leaf{}.general)]byte
	_ [unsafe.Offsetof(leaf{}.tags) - 4096]byte
	_ [4096 - unsafe.Offsetof(leaf{}.tags)]byte
	_ [unsafe.Offsetof(leaf{}.pages) - 20480]byte
	_ [20480 - unsafe.Offsetof(leaf{}.pages)]byte
)

// newLeaf puts the leaf's call-backs into the tables, in place of the general ones. Without memory for it, the general
// ones stay. It is called on the thread on which the DLL is called, once.
func (h *host) newLeaf() {
	b, err := unix.Mmap(-1, 0, int(unsafe.Sizeof(leaf{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return
	}
	l := (*leaf)(unsafe.Pointer(&b[0]))
	leafAt = uintptr(unsafe.Pointer(l))
	l.thread, _, _ = purego.SyscallN(leafCode[5])
	l.top, _, _ = purego.SyscallN(leafCode[6])
	for i, entry := range []*uintptr{&h.tables.process.FetchData, &h.tables.process.TargetToHost, &h.tables.basic.GetProcessInfo,
		&h.tables.process.GetImage, &h.tables.basic.GetImageInfo} {
		l.general[i], *entry = *entry, leafCode[i]
	}
	h.leaf = l
}

// follow has the leaf answer for the process that is open, if any: for what it has of that process now.
func (l *leaf) follow(p *process) {
	if l == nil {
		return
	}
	clear(l.tags[:])
	l.remember(p)
}

// remember has the leaf answer with what the DLL has told the debugger to remember of a process.
func (l *leaf) remember(p *process) {
	if l == nil {
		return
	}
	l.process, l.processInfo, l.image, l.imageInfo, l.sameOrder = 0, 0, 0, 0, 0
	if p == nil || p.image == nil || p.reader == nil {
		return
	}
	l.process, l.processInfo, l.image, l.imageInfo = p.handle, p.info, p.image.handle, p.image.info
	if p.target.BigEndian == hostIsBigEndian() {
		l.sameOrder = p.handle
	}
}

// keep has the leaf answer for the page of an address that was just read.
func (l *leaf) keep(p *process, a inferior.Addr) {
	if l == nil {
		return
	}
	number := uint64(a / leafPageSize)
	i := number % leafPages
	if l.tags[i] == number+1 {
		return
	}
	b, err := p.reader.Bytes(inferior.Addr(number*leafPageSize), leafPageSize)
	if err != nil {
		return // a part of it can't be read
	}
	copy(l.pages[i][:], b)
	l.tags[i] = number + 1
}
