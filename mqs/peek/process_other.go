//go:build !linux

package peek

import "errors"

// Process is a live process.
type Process struct{ Memory }

// Open fails where there is no /proc as Linux has it.
func Open(int, ...string) (*Process, error) {
	return nil, errors.New("processes can be read on Linux only")
}

// Close does nothing.
func (*Process) Close() {}
