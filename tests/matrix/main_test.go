//go:build matrix

// Package matrix tests what only other releases of debuggers and MPIs have. tests/matrix/run also runs
// tests/gdb and tests/mpich on them.
package matrix

import (
	"fmt"
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/hosts"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var work *live.Workspace

func TestMain(m *testing.M) {
	hosts.Main()
	var err error
	if work, err = live.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	work.Close()
	os.Exit(code)
}
