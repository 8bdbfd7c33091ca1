//go:build bench

package bench

import (
	"fmt"
	"os"
	"testing"
)

// missedStatus is the status of a run that has measured all there is, and in which a
// figure has missed its target: nothing is broken, but slower than it should be, or
// the machine is.
const missedStatus = 3

// missed are the figures that have missed their targets.
var missed []string

// atLeast prints a figure beside the target that it should reach.
func atLeast(target float64, format string, value float64, what ...any) {
	figure(value >= target, target, "at least", format, value, what...)
}

// atMost prints a figure beside the target that it should not exceed.
func atMost(target float64, format string, value float64, what ...any) {
	figure(value <= target, target, "at most", format, value, what...)
}

// figure prints one; the format's first verb is the value's.
func figure(met bool, target float64, bound, format string, value float64, what ...any) {
	line := fmt.Sprintf(format, append([]any{value}, what...)...) + fmt.Sprintf(" (target: %s %g)", bound, target)
	if !met {
		missed = append(missed, line)
		line = "missed: " + line
	}
	fmt.Println(line)
}

func TestMain(m *testing.M) {
	status := m.Run()
	if status == 0 && len(missed) > 0 {
		fmt.Println("\nTargets that this run has missed:")
		for _, line := range missed {
			fmt.Println("  " + line)
		}
		status = missedStatus
	}
	os.Exit(status)
}
