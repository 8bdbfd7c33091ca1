// Package cost measures the memory that a function allocates, which is the same on every machine.
package cost

import (
	"runtime"
	"testing"
)

// Most is the memory that a hostile kilobyte may cost, in bytes.
const Most = 256 << 20

// Of returns the number of bytes that f allocates in all. It never holds more at once.
func Of(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// AtMost fails the test if f allocates more than limit bytes.
func AtMost(t testing.TB, limit uint64, f func()) {
	t.Helper()
	if n := Of(f); n > limit {
		t.Errorf("it takes %d MiB, where %d MiB are the most", n>>20, limit>>20)
	}
}

// Large skips a test of large input if the race detector is on: the test takes minutes there, and shows no race that small input does
// not.
func Large(t testing.TB) {
	t.Helper()
	if detectsRaces {
		t.Skip("the cost of large input is not judged with the race detector")
	}
}
