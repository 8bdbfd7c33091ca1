//go:build matrix

package mpich

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A job that was attached, shown and let go of fifty times runs on, and comes to
// its normal end.
func TestJobFiftyTimes(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if v.Name != "ch4-debug" {
			continue // they differ in what is shown only
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			job := v.work.Start(t, "ring", 4, nil, "quiet")
			attach := fmt.Sprintf("mpi-attach %d", job.Launcher())
			s := v.work.StartSession(t, live.Nothing())
			times := 45
			if testing.Short() {
				times = 8 // gdb reads the library's debug information each time, which takes ten seconds
			}
			for i := range times {
				s.Says(attach, "Attached 4 ranks of mpiexec.hydra")
				if out := s.Says("mpi-queues -all -comm idle", "Rank 3 of 4"); strings.Count(out, "Pending receives") != 4 {
					t.Fatalf("time %d:\n%s", i, out)
				}
				s.Says("mpi-detach", "Detached 4 processes, which go on running.")
			}
			for _, account := range job.Accounts[:3] {
				out := v.work.GDB(t, live.Nothing(), fmt.Sprintf("mpi-attach %d", account.PID), "mpi-deadlock -all", "mpi-detach")
				out.Contains(t, "Attached 4 ranks", "ranks 0-3", "Detached 4 processes")
				out.Lacks(t, "Traceback")
			}
			if status, output := job.End(t); status != 0 {
				t.Errorf("the job ends with status %d:\n%s", status, output)
			}
			for i := range job.Accounts {
				if !live.Exists(filepath.Join(job.Folder, fmt.Sprintf("done-%d", i))) {
					t.Errorf("rank %d has not come to its end", i)
				}
			}
		})
	}
}
