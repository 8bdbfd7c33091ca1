//go:build matrix

// Package matrix tests what only other releases of debuggers and MPIs have. tests/matrix/run also runs
// tests/gdb and tests/mpich on them.
package matrix

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var work *live.Workspace

func TestMain(m *testing.M) { live.Main(m, live.Keep(&work)) }
