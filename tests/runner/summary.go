package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// manyTests is how many of the slowest tests are shown, and notable the time from which one is.
const (
	manyTests = 30
	notable   = 500 * time.Millisecond
)

// summary prints the time of each part, the slowest tests, and how many tests have passed.
func summary(out io.Writer, p *plan, results []result) {
	fmt.Fprintf(out, "\n%-12s %-7s %8s %8s %7s\n", "part", "", "seconds", "tests", "skipped")
	slices.SortFunc(results, func(a, b result) int { return cmp.Compare(b.took, a.took) })
	var passed, failed, skipped int
	for _, r := range results {
		good, bad, none := counts(r.tests)
		outcome := "passed"
		if r.err != nil {
			outcome = "FAILED"
			bad = max(1, bad)
		} else if good == 0 {
			good = 1 // a part that has no tests of Go's or Python's is one
		}
		fmt.Fprintf(out, "%-12s %-7s %8.0f %8d %7d\n", r.part.name, outcome, r.took.Seconds(), good+bad, none)
		passed, failed, skipped = passed+good, failed+bad, skipped+none
	}
	for _, o := range p.omitted {
		fmt.Fprintf(out, "%-12s left out\n", o.part.name)
	}
	if slow := slowest(results, manyTests); len(slow) > 0 && slow[0].took >= notable {
		fmt.Fprintf(out, "\nslowest tests\n")
		for _, t := range slow {
			if t.took >= notable {
				fmt.Fprintln(out, t)
			}
		}
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
}
