//go:build matrix

// Package matrix tests what the debuggers and the MPIs of other releases add to
// the tests in tests/gdb and tests/mpich, which tests/matrix/run runs on them too.
package matrix

import (
	"fmt"
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var work *live.Workspace

func TestMain(m *testing.M) {
	var err error
	if work, err = live.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	work.Close()
	os.Exit(code)
}
