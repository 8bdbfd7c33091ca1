//go:build live

// Package gdb tests mpi-queues as its users have it: a real gdb that has sourced gdbinit reads real MPI
// jobs, and what it shows is compared with what the programs of the jobs say of themselves. Nothing is
// skipped: without gdb, gdbserver, mpicc.openmpi or mpirun the tests fail.
package gdb

import (
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/faulty"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var work *live.Workspace

// release is the Open MPI that the jobs have.
func release(t *testing.T) string {
	t.Helper()
	return work.MPI.Release(t)
}

func TestMain(m *testing.M) {
	if plan := os.Getenv(faulty.Environment); plan != "" {
		os.Exit(faulty.Run(plan))
	}
	live.Main(m, live.Keep(&work))
}
