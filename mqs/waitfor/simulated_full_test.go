//go:build full

package waitfor

import "testing"

// TestAgainstManyPrograms checks the properties of TestAgainstPrograms and TestKnowingLess on more jobs.
func TestAgainstManyPrograms(t *testing.T) {
	t.Run("programs", func(t *testing.T) { againstPrograms(t, 100_000, 2) })
	t.Run("knowing less", func(t *testing.T) {
		knowingLess(t, 40_000, 3)
		knowingLess(t, 160_000, 5)
	})
}
