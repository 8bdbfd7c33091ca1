//go:build matrix

package wheels

import (
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// ob1 are mpirun's flags.
var ob1 = []string{"--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"}

// A job of mpi4py's that hangs is reported with its Python lines, live and in core files, whichever wheel has the MPI. With
// MPICH's it is not known which message a probe waits for: one that has come may be it, so there is no verdict.
func TestMPI4Py(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		flags, wants []string
	}{
		{"openmpi-4.1.8", ob1, live.PythonDeadlock}, {"openmpi-5.0.11", ob1, live.PythonDeadlock}, {"mpich-5.0.2", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bin := filepath.Join(folder, c.name, "bin")
			work.PythonHang(t, append([]string{filepath.Join(bin, "mpirun")}, c.flags...), filepath.Join(bin, "python"), c.wants...)
		})
	}
}
