//go:build matrix

package matrix

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// slurm are the MPIs of the root, with the plugins of Slurm's that they need.
var slurm = []struct {
	name, plugin string
	mpi          live.MPI
}{{"openmpi", "pmix", live.OpenMPI}, {"mpich", "pmi2", live.StockMPICH}}

// Slurm's srun starts jobs for gdb as other launchers do, on one node and on two, and nothing of
// them is left to Slurm. It needs tests/matrix/slurm.
func TestSlurm(t *testing.T) {
	for _, c := range slurm {
		for _, nodes := range []string{"1", "2"} {
			t.Run(c.name+" "+nodes, func(t *testing.T) {
				c.mpi.Launcher = []string{"srun", "--mpi=" + c.plugin, "-N", nodes}
				w, err := work.With("slurm-"+c.name+"-"+nodes, c.mpi)
				if err != nil {
					t.Fatal(err)
				}
				t.Run("jobs", w.StartedJobs)
				t.Run("without-environment", func(t *testing.T) {
					w.MPI.Launcher = append(w.MPI.Launcher, "--export=HOME,PATH,OMPI_MCA_btl_tcp_if_include")
					w.StartedJobs(t)
				})
				untilNoStep(t)
			})
		}
	}
}

// untilNoStep waits until Slurm has nothing to run.
func untilNoStep(t *testing.T) {
	t.Helper()
	live.Until(t, "for the end of all steps", func() bool {
		out, err := exec.Command("squeue", "--steps", "--noheader").Output()
		return err == nil && strings.TrimSpace(string(out)) == ""
	})
}
