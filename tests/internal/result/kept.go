package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
)

// KeptFile is the file, below the project's folder, with the results of the last runs in full. The table of .github/SUPPORT.md
// is made of it.
const KeptFile = "tests/matrix/results.json"

// Kept returns the results of a file that [Keep] has written; none if there is no file.
func Kept(file string) ([]Result, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var out []Result
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

// Keep replaces a part's results in a file by those of a new run. tests is the number of tests that passed. Each result is on a line
// of its own.
func Keep(file, part, date, commit string, tests int, results []Result) error {
	all, err := Kept(file)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r Result) bool { return r.Part == part })
	for _, r := range append([]Result{{Tests: tests}}, results...) {
		r.Part, r.Date, r.Commit = part, date, commit
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.MPI, b.MPI), cmp.Compare(a.Build, b.Build),
			cmp.Compare(a.Debugger, b.Debugger), cmp.Compare(a.Layout, b.Layout), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Outcome, b.Outcome))
	})
	var text bytes.Buffer
	for i, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		text.Write(line)
	}
	text.WriteString("\n]\n")
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// Differences returns, in sentences, which results of a part contradict those that are kept of it: the same check of the same
// build by the same debugger has another layout or outcome. A row of which nothing is kept is no contradiction, because
// the tests run on other distributions, too. Versions do not count: a distribution in the making has new ones on any day.
func Differences(kept []Result, part string, results []Result) []string {
	known, isKept := map[Result]bool{}, map[Result]bool{}
	for _, r := range kept {
		if r.Part == part {
			known[r.withoutVersions()] = true
			isKept[r.row()] = true
		}
	}
	var out []string
	for _, r := range results {
		if k := r.withoutVersions(); !r.Failed && isKept[r.row()] && !known[k] {
			known[k] = true
			out = append(out, fmt.Sprintf("%s, %s, %s, read by %s: %s is %q, and %s has another result", r.MPI, r.Build, r.Debugger, r.Layout, r.Check, r.Outcome, KeptFile))
		}
	}
	return out
}

// row is what was checked, without versions and without what was seen.
func (r Result) row() Result {
	r = r.withoutVersions()
	r.Layout, r.Outcome = "", ""
	return r
}

var version = regexp.MustCompile(`\d+(\.\d+)+(rc\d+)?`)

// withoutVersions is the result with all versions masked, and without when it was seen.
func (r Result) withoutVersions() Result {
	r.Part, r.Date, r.Commit = "", "", ""
	for _, text := range []*string{&r.MPI, &r.Build, &r.Debugger, &r.Layout, &r.Outcome} {
		*text = version.ReplaceAllString(*text, "#")
	}
	return r
}

// outcome is what the table shows.
func (r Result) outcome() string {
	if r.Failed {
		return "FAILED"
	}
	return r.Outcome
}
