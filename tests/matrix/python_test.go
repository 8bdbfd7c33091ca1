//go:build matrix

package matrix

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A job of mpi4py's that hangs is reported with its Python lines, with the release's own CPython and Open MPI. The
// interpreter has to find mpi4py.
func TestMPI4Py(t *testing.T) {
	t.Parallel()
	work.PythonHang(t, slices.Concat(live.OpenMPI.Launcher, []string{"--mca", "pml", "ob1"}), "/usr/bin/python3", live.PythonDeadlock...)
}
