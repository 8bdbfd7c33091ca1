//go:build !linux

package procmem

import (
	"errors"
	"os"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Process is a live process, of which there is none to be read.
type Process struct {
	info    inferior.Info
	memory  *os.File
	symbols map[string]symbol
}

type symbol struct{ addr, size uint64 }

// Files are those of processes.
type Files struct{}

// NewFiles are the files of processes.
func NewFiles(...string) *Files { return &Files{} }

// Open fails where there is no /proc as Linux has it.
func (*Files) Open(int) (*Process, error) {
	return nil, errors.New("processes can be read on Linux only")
}

// BuildID is empty where processes can't be read.
func BuildID(string) string { return "" }

// Core is what the headers of a core file say of it.
type Core struct {
	Size, Whole      uint64
	BuildID, Program string
	Files            []string
}

// ReadCore fails where processes can't be read.
func ReadCore(string) (*Core, error) {
	return nil, errors.New("core files can be checked on Linux only")
}

// Images are those of processes.
type Images struct{}

// Check finds nothing wrong where processes can't be read.
func (*Images) Check(int) error { return nil }

// CheckFile finds nothing wrong where processes can't be read.
func CheckFile(string) error { return nil }
