package wire

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
)

// State is memory that both processes share, so that the helper knows what the
// DLL was doing when its host ended or had to be ended.
type State struct {
	File  *os.File
	bytes []byte
	entry *atomic.Int32
}

// NewState makes a state, for the helper.
func NewState() (*State, error) {
	fd, err := unix.MemfdCreate("mpi-queues dll state", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("no memory to share with a DLL's host: %w", err)
	}
	f := os.NewFile(uintptr(fd), "state")
	if err := f.Truncate(int64(os.Getpagesize())); err != nil {
		_ = f.Close()
		return nil, err
	}
	// A DLL that made it shorter would make the helper read beyond its end.
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		_ = f.Close()
		return nil, err
	}
	return MapState(f)
}

// MapState maps the state in a file, which it takes over.
func MapState(f *os.File) (*State, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("no memory to share with a DLL's host: %w", err)
	}
	return &State{f, b, (*atomic.Int32)(unsafe.Pointer(&b[0]))}, nil
}

// Close unmaps the state.
func (s *State) Close() {
	_ = unix.Munmap(s.bytes)
	_ = s.File.Close()
}

// running is added to the entry point so that 0 means that none runs.
const running = 1

// Enter says that an entry point has been called.
func (s *State) Enter(e abi.Entry) { s.entry.Store(int32(e) + running) }

// Leave says that the entry point has returned.
func (s *State) Leave() { s.entry.Store(0) }

// Inside returns the entry point that has been called and has not returned.
func (s *State) Inside() (e abi.Entry, ok bool) {
	e = abi.Entry(s.entry.Load() - running)
	return e, e.Exists() // a DLL can write here too
}
