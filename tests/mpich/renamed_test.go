//go:build matrix

package mpich

import "testing"

// TestRenamed checks that a new name replaces the old one, as the naming proposal of 1996 has it, with each build of MPICH.
func TestRenamed(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			v.work.CheckRenamed(t)
		})
	}
}
