//go:build live

package gdb

import "testing"

// TestRenamed checks that a new name replaces the old one, as the naming proposal of 1996 has it, with Open MPI.
func TestRenamed(t *testing.T) {
	t.Parallel()
	work.CheckRenamed(t)
}
