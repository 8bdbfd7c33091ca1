//go:build bench

package bench

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// A time, or a ratio of times, depends on the machine and on what else it does: it is printed beside its target, and fails
// nothing. Counts (round trips, bytes, allocations) are printed without one: TestReceivesCost of mqs/decoders and TestCost of
// tests/gdb hold them to their bounds.

// rows are the figures that have targets, in the order in which they were measured.
var rows []row

// row is one figure with what it was in each repetition.
type row struct {
	name   string
	values []float64
	bound  bound
	// cause is what the time goes into that keeps it from its target.
	cause string
}

// bound is what a figure should reach or should not exceed.
type bound struct {
	value   float64
	isFloor bool
	unit    string
}

func atLeast(value float64, unit string) bound { return bound{value, true, unit} }

func atMost(value float64, unit string) bound { return bound{value, false, unit} }

func (b bound) holds(value float64) bool {
	if b.isFloor {
		return value >= b.value
	}
	return value <= b.value
}

func (b bound) String() string {
	if b.isFloor {
		return fmt.Sprintf("at least %g%s", b.value, b.unit)
	}
	return fmt.Sprintf("at most %g%s", b.value, b.unit)
}

// target adds a figure that the machine has a part in. cause is shown if its median misses the target.
func target(name string, values []float64, b bound, cause string) {
	rows = append(rows, row{name, values, b, cause})
}

func (r row) String() string {
	verdict := "met"
	if !r.bound.holds(median(r.values)) {
		verdict = "missed: " + r.cause
	}
	return fmt.Sprintf("| %s | %.3g | %.3g | %.3g | %v | %s |", r.name,
		slices.Min(r.values), median(r.values), slices.Max(r.values), r.bound, verdict)
}

func TestMain(m *testing.M) {
	status := m.Run()
	if len(rows) > 0 {
		fmt.Print("\n| figure | min | median | max | target | |\n|---|---|---|---|---|---|\n")
	}
	for _, r := range rows {
		fmt.Println(r)
	}
	os.Exit(status)
}

// milliseconds are the values of times.
func milliseconds(times []time.Duration) []float64 {
	out := make([]float64, len(times))
	for i, d := range times {
		out[i] = float64(d.Microseconds()) / 1e3
	}
	return out
}

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

func median[T cmp.Ordered](d []T) T {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
