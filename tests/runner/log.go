package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// test is one test of a log.
type test struct {
	// name is the test's, with its package or its part in front.
	name    string
	outcome string // PASS, FAIL or SKIP
	took    time.Duration
	// isLeaf is true if the test has no subtests.
	isLeaf bool
}

var (
	ending  = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \((\d+\.\d+)s\)`)
	ofPack  = regexp.MustCompile(`^(?:ok|FAIL|---)\s+(\S+)\s+(\(cached\)|\d+\.\d+s)`)
	running = regexp.MustCompile(`^=== (?:RUN|CONT|NAME|PAUSE)\s+(\S+)`)
)

const project = "github.com/mpi-queues/mpi-queues/"

// readLog returns the tests of a log, in the form that go test -v prints. Tests whose result came from Go's cache took no time.
func readLog(file, name string) ([]test, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var all, own []test
	flush := func(pack string, isCached bool) {
		for i := range own {
			own[i].name = pack + " " + own[i].name
			if isCached {
				own[i].took = 0
			}
		}
		all, own = append(all, own...), nil
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if m := ending.FindStringSubmatch(lines.Text()); m != nil {
			seconds, _ := strconv.ParseFloat(m[3], 64)
			own = append(own, test{m[2], m[1], time.Duration(seconds * float64(time.Second)), true})
		} else if m := ofPack.FindStringSubmatch(lines.Text()); m != nil {
			flush(strings.TrimPrefix(m[1], project), m[2] == "(cached)")
		}
	}
	flush(name, false)
	markParents(all)
	return all, lines.Err()
}

// markParents finds the tests that have subtests.
func markParents(tests []test) {
	parents := map[string]bool{}
	for _, t := range tests {
		for name := t.name; ; {
			k := strings.LastIndex(name, "/")
			if k < 0 || !strings.Contains(name[:k], " ") {
				break
			}
			name = name[:k]
			parents[name] = true
		}
	}
	for i := range tests {
		tests[i].isLeaf = !parents[tests[i].name]
	}
}

// slowest returns the n tests without subtests that took longest.
func slowest(results []result, n int) []test {
	var all []test
	for _, r := range results {
		for _, t := range r.tests {
			if t.isLeaf {
				all = append(all, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b test) int { return int(b.took - a.took) })
	return all[:min(n, len(all))]
}

// mostLines is how much of a failed part's output is shown.
const mostLines = 150

// failedOutput returns the end of a log without what passed tests have written. What failed tests have written comes last.
func failedOutput(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var rest, failed []string
	texts, current := map[string][]string{}, ""
	var order []string
	for line := range strings.Lines(string(content)) {
		m := ending.FindStringSubmatch(line)
		switch {
		case running.MatchString(line):
			current = running.FindStringSubmatch(line)[1]
			if _, ok := texts[current]; !ok {
				texts[current] = nil
				order = append(order, current)
			}
		case m != nil && m[1] == "FAIL":
			failed = append(append(failed, texts[m[2]]...), line)
			delete(texts, m[2])
			current = m[2]
		case m != nil:
			delete(texts, m[2])
			current = ""
		case current != "":
			if _, ok := texts[current]; ok {
				texts[current] = append(texts[current], line)
			} else {
				failed = append(failed, line) // what follows a failed test's end
			}
		case strings.HasPrefix(line, "go: downloading "):
		default:
			rest = append(rest, line)
		}
	}
	for _, name := range order {
		rest = append(rest, texts[name]...) // tests that have not ended
	}
	all := append(rest, failed...)
	return strings.Join(all[max(0, len(all)-mostLines):], ""), nil
}

// counts are how many tests have passed, failed, and were skipped, of those without subtests.
func counts(tests []test) (passed, failed, skipped int) {
	for _, t := range tests {
		switch {
		case !t.isLeaf:
		case t.outcome == "PASS":
			passed++
		case t.outcome == "FAIL":
			failed++
		default:
			skipped++
		}
	}
	return passed, failed, skipped
}

func (t test) String() string { return fmt.Sprintf("%7.1f s  %s", t.took.Seconds(), t.name) }
