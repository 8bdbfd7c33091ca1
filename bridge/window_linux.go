package bridge

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newWindow makes a memory file whose size nobody can change: a debugger that
// shortened it would kill the helper by SIGBUS.
func newWindow(size int) (*window, error) {
	fd, err := unix.MemfdCreate("mpi-queues", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*window, error) { return nil, joinClose(err, fd) }
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return fail(err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return fail(err)
	}
	b, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fail(err)
	}
	return &window{path: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), bytes: b, fd: fd}, nil
}

// close gives the memory back, as far as it is the helper's. Nobody may use it any more.
func (w *window) close() {
	if w != nil {
		_ = unix.Munmap(w.bytes)
		_ = unix.Close(w.fd)
	}
}

func joinClose(err error, fd int) error {
	_ = unix.Close(fd)
	return err
}
