// Package cost measures what something takes that no machine changes.
package cost

import (
	"runtime"
	"testing"
)

// Most is what a hostile kilobyte may cost, in bytes of memory.
const Most = 256 << 20

// Of returns how many bytes f allocates in all: at no moment does it hold more.
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
