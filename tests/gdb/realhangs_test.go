//go:build live

package gdb

import "testing"

// Someone who reads the report on a hang as programs have it knows what to mend.
func TestRealHangs(t *testing.T) {
	t.Parallel()
	work.RealHangs(t)
}
