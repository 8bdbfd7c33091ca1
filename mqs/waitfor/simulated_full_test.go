//go:build full

package waitfor

import "testing"

// The same with more jobs.
func TestAgainstManyPrograms(t *testing.T) { againstPrograms(t, 100_000, 2) }
