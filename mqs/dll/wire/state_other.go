//go:build !linux

package wire

import (
	"errors"
	"os"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
)

// State is memory that both processes share. Only Linux has it.
type State struct{ File *os.File }

var errState = errors.New("vendors' DLLs are loaded on Linux only")

// NewState fails.
func NewState() (*State, error) { return nil, errState }

// MapState fails.
func MapState(*os.File) (*State, error) { return nil, errState }

// Close does nothing.
func (*State) Close() {}

// Enter does nothing.
func (*State) Enter(abi.Entry) {}

// Leave does nothing.
func (*State) Leave() {}

// Inside knows nothing.
func (*State) Inside() (abi.Entry, bool) { return abi.None, false }
