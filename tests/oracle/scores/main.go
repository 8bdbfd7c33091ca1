// Command scores makes the table of the oracle's scores from the results that its tests have written.
//
//	go run ./tests/oracle/scores FOLDER...       prints it
//	go run ./tests/oracle/scores -w FOLDER...    puts it into .github/ORACLE.md
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mpi-queues/mpi-queues/tests/internal/section"
	"github.com/mpi-queues/mpi-queues/tests/oracle"
)

const page = ".github/ORACLE.md"

func main() {
	write := flag.Bool("w", false, "put the table into "+page)
	flag.Parse()
	if err := run(*write, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "tests/oracle/scores:", err)
		os.Exit(1)
	}
}

func run(write bool, folders []string) error {
	results, err := oracle.ReadResults(folders...)
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return fmt.Errorf("there are no results in %s: the oracle's -results writes them", strings.Join(folders, ", "))
	}
	table := render(results)
	if !write {
		fmt.Print(table)
		return nil
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	day := time.Now().UTC().Format(time.DateOnly)
	fresh, err := section.Put(string(text), "scores", "\nCounted on "+day+":\n\n"+table+"\n")
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(fresh), 0o644)
}

// render makes a line of each build, reader and way.
func render(results []oracle.Result) string {
	slices.SortFunc(results, func(a, b oracle.Result) int {
		return cmp.Or(cmp.Compare(a.MPI, b.MPI), cmp.Compare(a.Build, b.Build), cmp.Compare(b.Reader, a.Reader), cmp.Compare(b.Way, a.Way))
	})
	var b strings.Builder
	b.WriteString("| MPI | read | seeds | right | wrong | unknown | missing | extra | out of order |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s, %s | %s, %s | %d |", r.MPI, r.Build, r.Reader, r.Way, r.Seeds)
		for _, kind := range []oracle.Kind{oracle.Right, oracle.Wrong, oracle.Unknown, oracle.Missing, oracle.Extra, oracle.Order} {
			fmt.Fprintf(&b, " %d |", r.Score[kind])
		}
		b.WriteString("\n")
	}
	return b.String()
}
