//go:build matrix

// Package dap tests the requests and events for editors, which speak the Debug Adapter Protocol with gdb.
// It needs a gdb that speaks it: gdb 13 does not.
package dap

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var work *live.Workspace

func TestMain(m *testing.M) { live.Main(m, live.Keep(&work)) }
