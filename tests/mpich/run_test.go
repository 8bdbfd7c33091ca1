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
