// Command table makes the table of the matrix from the results that its tests have written, and compares
// it with the table in .github/SUPPORT.md.
//
//	go run ./tests/matrix/table       fails if they differ in more than versions
//	go run ./tests/matrix/table -w    puts it into the page
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/section"
)

const (
	page   = ".github/SUPPORT.md"
	folder = "tests/.out/matrix"
)

func main() {
	write := flag.Bool("w", false, "put the table into "+page)
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "tests/matrix/table:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	results, err := result.Read(filepath.Join(folder, "results"))
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return fmt.Errorf("there are no results in %s: ./tests/run matrix writes them", folder)
	}
	table := render(results)
	file := filepath.Join(folder, "table.md")
	if err := os.WriteFile(file, []byte(table), 0o644); err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	shown, err := section.Get(string(text), "matrix")
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	switch {
	case shown == table:
		return nil
	case write:
		fresh, err := section.Put(string(text), "matrix", table)
		if err != nil {
			return err
		}
		return os.WriteFile(page, []byte(fresh), 0o644)
	case alike(shown, table):
		fmt.Printf("%s shows other versions than what was run, which is in %s: put it in with go run ./tests/matrix/table -w\n", page, file)
		return nil
	}
	return fmt.Errorf("%s shows another table than what was run, which is in %s: look at how they differ, and put it in with go run ./tests/matrix/table -w", page, file)
}

var version = regexp.MustCompile(`\d+(\.\d+)+(rc\d+)?`)

// alike says whether two tables differ in versions only: a distribution in the making has
// new ones on any day, which is no failure.
func alike(a, b string) bool {
	return version.ReplaceAllString(a, "") == version.ReplaceAllString(b, "")
}

// columns are the checks, in the order in which they stand, with their headings.
var columns = []struct{ check, heading string }{
	{"live", "live"}, {"core", "core file"}, {"remote", "gdbserver"}, {"own DLL", "its own DLL"}, {"own suite", "its own tests"}, {"DAP", "DAP"},
}

// row is what all results of a row have in common.
type row struct{ mpi, build, debugger, layout string }

// render makes the table; a check that was not made of a row is a dash there.
func render(results []result.Result) string {
	cells := map[row]map[string][]string{}
	for _, r := range results {
		k := row{r.MPI, r.Build, r.Debugger, r.Layout}
		if cells[k] == nil {
			cells[k] = map[string][]string{}
		}
		outcome := r.Outcome
		if r.Failed {
			outcome = "FAILED"
		}
		if !slices.Contains(cells[k][r.Check], outcome) {
			cells[k][r.Check] = append(cells[k][r.Check], outcome)
		}
	}
	rows := make([]row, 0, len(cells))
	for k := range cells {
		rows = append(rows, k)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.mpi, b.mpi), cmp.Compare(a.build, b.build), cmp.Compare(b.debugger, a.debugger))
	})
	var b strings.Builder
	line := func(words []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(words, " | ")) }
	heading := []string{"MPI", "build", "debugger", "read by"}
	for _, c := range columns {
		heading = append(heading, c.heading)
	}
	line(heading)
	b.WriteString(strings.Repeat("|---", len(heading)) + "|\n")
	for _, k := range rows {
		words := []string{k.mpi, k.build, k.debugger, k.layout}
		for _, c := range columns {
			outcomes := cells[k][c.check]
			slices.Sort(outcomes)
			words = append(words, cmp.Or(strings.Join(outcomes, "; "), "–"))
		}
		line(words)
	}
	return b.String()
}
