//go:build linux

package acquisition

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// The variables of the interface that a debugger sets, each an int.
const (
	beingDebugged = "MPIR_being_debugged"
	debugGate     = "MPIR_debug_gate"
)

// Poke sets an int of a process that this one may trace; it is no error if the process has none of the
// name.
func Poke(pid int, symbol string, value int32) error {
	p, err := procmem.Open(pid, symbol)
	if err != nil {
		return err
	}
	defer p.Close()
	found, err := p.FindSymbols(context.Background(), []string{symbol})
	if err != nil || found[0] == nil {
		return err
	}
	memory, err := os.OpenFile(procfs.Host.Path(pid, "mem"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = memory.Close() }()
	_, err = memory.WriteAt(binary.NativeEndian.AppendUint32(nil, uint32(value)), int64(found[0].Addr))
	return err
}

// OpenGate lets a rank go on that waits for its debugger.
func OpenGate(pid int) error { return Poke(pid, debugGate, 1) }

// mend takes away the breakpoints that a gdb has left in a process when it was killed: the process's
// code becomes what its files have. It would be killed by the first that it comes to.
func mend(pid int) {
	memory, err := os.OpenFile(procfs.Host.Path(pid, "mem"), os.O_RDWR, 0)
	if err != nil {
		return // it has ended
	}
	defer func() { _ = memory.Close() }()
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil {
			return
		}
		if m.IsCode && m.File != "" {
			mendMapping(memory, m, procfs.Host.Path(pid, "root", m.Path))
		}
	}
}

// maxPiece is how much is compared at once, in bytes.
const maxPiece = 1 << 20

func mendMapping(memory *os.File, m procfs.Mapping, path string) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	for at := m.Start; at < m.End; at += maxPiece {
		is, was := make([]byte, min(maxPiece, m.End-at)), make([]byte, min(maxPiece, m.End-at))
		n, err := file.ReadAt(was, int64(m.Offset+at-m.Start))
		if err != nil && !errors.Is(err, io.EOF) {
			return
		}
		if k, err := memory.ReadAt(is[:n], int64(at)); err != nil || k != n {
			return
		}
		for i := 0; i < n; i++ {
			end := i
			for end < n && is[end] != was[end] {
				end++
			}
			if end > i {
				_, _ = memory.WriteAt(was[i:end], int64(at)+int64(i))
				i = end
			}
		}
	}
}
