//go:build !linux

package procmem

import "errors"

// Process is a live process.
type Process struct{ Memory }

// Open fails where there is no /proc as Linux has it.
func Open(int, ...string) (*Process, error) {
	return nil, errors.New("processes can be read on Linux only")
}

// Files are those of processes.
type Files struct{}

// NewFiles are the files of processes.
func NewFiles(...string) *Files { return &Files{} }

// Open fails as [Open] does.
func (*Files) Open(pid int) (*Process, error) { return Open(pid) }

// Close does nothing.
func (*Process) Close() {}
