//go:build matrix

package mpich

import "testing"

// gdb starts jobs of a Hydra with symbols, as of one without.
func TestStartedJobs(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if v.Name == "ch4" {
			v.work.StartedJobs(t)
		}
	}
}

// TestSpawnedRanks checks both ways in which ranks of MPICH come to be spawned under `mpi-run'. Hydra starts them without
// `mpi-queues rank', so they run without a debugger, unless the program spawns that command itself.
func TestSpawnedRanks(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if v.Name == "ch3-debug" {
			t.Run("by name", func(t *testing.T) { v.work.SpawnedRanks(t, false) })
			t.Run("through mpi-queues", func(t *testing.T) { v.work.SpawnedRanks(t, true, v.work.Helper, "rank", "--") })
		}
	}
}
