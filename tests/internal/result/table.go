package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// columns are the checks in the order in which the table shows them, with their headings.
var columns = []struct{ check, heading string }{
	{"live", "live"}, {"core", "core file"}, {"remote", "gdbserver"}, {"own DLL", "its own DLL"}, {"own suite", "its own tests"}, {"DAP", "DAP"},
}

// row is what all results of a row have in common.
type row struct{ mpi, build, debugger, layout string }

// Table returns the table of results in Markdown. A check that was not made of a row is a dash there.
func Table(results []Result) string {
	cells := map[row]map[string][]string{}
	dates := map[row]string{}
	for _, r := range results {
		if r.MPI == "" {
			continue
		}
		k := row{r.MPI, r.Build, r.Debugger, r.Layout}
		if cells[k] == nil {
			cells[k] = map[string][]string{}
		}
		if outcome := r.outcome(); !slices.Contains(cells[k][r.Check], outcome) {
			cells[k][r.Check] = append(cells[k][r.Check], outcome)
		}
		dates[k] = max(dates[k], r.Date)
	}
	rows := make([]row, 0, len(cells))
	for k := range cells {
		rows = append(rows, k)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.mpi, b.mpi), cmp.Compare(a.build, b.build), cmp.Compare(b.debugger, a.debugger), cmp.Compare(a.layout, b.layout))
	})
	var b strings.Builder
	line := func(words []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(words, " | ")) }
	heading := []string{"MPI", "build", "debugger", "read by"}
	for _, c := range columns {
		heading = append(heading, c.heading)
	}
	line(append(heading, "last run"))
	b.WriteString(strings.Repeat("|---", len(heading)+1) + "|\n")
	for _, k := range rows {
		words := []string{k.mpi, k.build, k.debugger, k.layout}
		for _, c := range columns {
			outcomes := cells[k][c.check]
			slices.Sort(outcomes)
			words = append(words, cmp.Or(strings.Join(outcomes, "; "), "–"))
		}
		line(append(words, cmp.Or(dates[k], "–")))
	}
	return b.String()
}

// Parts returns a Markdown table of the last complete run of each part. A part without a recorded run has no row.
func Parts(results []Result) string {
	var b strings.Builder
	b.WriteString("| part | tests that passed | last run | commit |\n|---|---|---|---|\n")
	for _, r := range results {
		if r.MPI == "" {
			fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", r.Part, r.Tests, r.Date, r.Commit)
		}
	}
	return b.String()
}
