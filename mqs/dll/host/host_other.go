//go:build !linux

// Package host is the process that runs one vendor's DLL. There is one on Linux only.
package host

import (
	"errors"
	"io"

	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
)

// Serve fails.
func Serve(io.ReadWriter, *wire.State) error {
	return errors.New("vendors' DLLs are loaded on Linux only")
}
