package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// row is what the page of calls says of some of them.
type row struct {
	calls []string
	said  []string // of each MPI
	shown string
}

var quotedName = regexp.MustCompile("`(MPI_[\\w*]+)`")

// names are the functions that a text names.
func names(text string) []string {
	var out []string
	for _, match := range quotedName.FindAllStringSubmatch(text, -1) {
		out = append(out, match[1])
	}
	return out
}

// callsPage returns the rows of the page's tables, and the patterns of the calls that wait for nobody.
func callsPage(t *testing.T) (rows []row, local []string) {
	t.Helper()
	tables, rest, ok := strings.Cut(read(t, ".github/CALLS.md"), "\n## Calls that wait for nobody\n")
	if !ok {
		t.Fatal("the page does not say which calls wait for nobody")
	}
	for line := range strings.Lines(tables) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 5 || strings.Contains(cells[1], "---") || strings.TrimSpace(cells[1]) == "call" {
			continue
		}
		r := row{calls: names(cells[1]), said: cells[2 : len(cells)-2], shown: cells[len(cells)-2]}
		if len(cells) == 7 {
			r.said = r.said[1:] // the first one is what it waits for
		}
		rows = append(rows, r)
	}
	return rows, names(rest)
}

// inTable are the functions that have rows of their own, each of which there must be once.
func inTable(t *testing.T, rows []row) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, r := range rows {
		if len(r.said) != 2 {
			continue // a table of one MPI
		}
		if len(r.calls) == 0 && !strings.Contains(r.shown, "TestNamesOfCalls") {
			t.Errorf("a row that is shown by %s names no calls", r.shown)
		}
		for _, call := range r.calls {
			if out[call] {
				t.Errorf("%s has two rows", call)
			}
			out[call] = true
		}
	}
	return out
}

// TestCallsOfTheStandard: the page names each function of the standard, in a row or among those that wait for nobody.
func TestCallsOfTheStandard(t *testing.T) {
	rows, local := callsPage(t)
	has := inTable(t, rows)
	known, used := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(read(t, "tests/pages/testdata/functions.txt")) {
		name := strings.TrimSpace(line)
		if strings.HasPrefix(name, "#") {
			continue
		}
		known[name] = true
		isLocal := false
		for _, pattern := range local {
			if is, err := path.Match(pattern, name); err != nil {
				t.Fatal(err)
			} else if is {
				isLocal, used[pattern] = true, true
			}
		}
		if isLocal == has[name] {
			t.Errorf("%s: it has a row: %t; it waits for nobody: %t", name, has[name], isLocal)
		}
	}
	for call := range has {
		if !known[call] {
			t.Errorf("%s has a row, and is no function of the standard", call)
		}
	}
	for _, pattern := range local {
		if !used[pattern] {
			t.Errorf("%s is no function of the standard", pattern)
		}
	}
}

// literals are the strings in a source file.
func literals(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// TestCallsOfAnalysis: each call that the analysis takes to wait, or to poll, has a row.
func TestCallsOfAnalysis(t *testing.T) {
	rows, _ := callsPage(t)
	has := inTable(t, rows)
	seen := 0
	asks := func(call string) {
		if seen++; !has[call] {
			t.Errorf("%s has no row", call)
		}
	}
	for _, text := range literals(t, "mqs/waitfor/calls.go") {
		for name := range strings.FieldsSeq(text) {
			if name[0] >= 'A' && name[0] <= 'Z' && name != "MPI_" {
				asks("MPI_" + name)
			}
		}
	}
	for _, text := range literals(t, "mqs/waitfor/polling.go") {
		if strings.HasPrefix(text, "MPI_") && text != "MPI_Test_cancelled" {
			asks(text)
		}
	}
	if seen < 100 {
		t.Errorf("the analysis has %d calls only", seen)
	}
}

var (
	// claim is what a part of a cell has to have: what is told, or why it is not.
	claim = regexp.MustCompile(`\btold\b|\b(unknown|no wait): \S`)
	// reasonless is the word without a reason.
	reasonless = regexp.MustCompile(`\bunknown\b(:? *$|[^:])`)
	// exhibit is what shows a row.
	exhibit = regexp.MustCompile("`([^`]+)`")
)

// TestRowsOfCalls: each row says something of each MPI, with a reason if that is nothing, and what it names as what
// shows it is there.
func TestRowsOfCalls(t *testing.T) {
	rows, _ := callsPage(t)
	tests := goTests(t)
	for _, r := range rows {
		name := strings.Join(r.calls, ", ")
		for _, cell := range r.said {
			for part := range strings.SplitSeq(cell, ";") {
				if !claim.MatchString(part) || reasonless.MatchString(part) {
					t.Errorf("%s: a cell says %q", name, strings.TrimSpace(part))
				}
			}
		}
		shown := exhibit.FindAllStringSubmatch(r.shown, -1)
		if len(shown) == 0 {
			t.Errorf("%s: nothing shows it", name)
		}
		for _, match := range shown {
			program, mode, isMode := strings.Cut(match[1], " ")
			if isMode && expect.Find(program, mode) == nil || !isMode && !tests[match[1]] && !hasScript(t, match[1]) {
				t.Errorf("%s: there is no %s", name, match[1])
			}
		}
	}
	if len(rows) < 100 {
		t.Errorf("the page has %d rows only", len(rows))
	}
}

// hasScript reports whether there are scripts of made-up jobs in a file whose names begin with a word: "onesided.txtar/lock".
func hasScript(t *testing.T, shown string) bool {
	t.Helper()
	file, name, _ := strings.Cut(shown, "/")
	if !strings.HasSuffix(file, ".txtar") {
		return false
	}
	text := strings.ReplaceAll(read(t, filepath.Join("mqs", "waitfor", "testdata", "scripts", file)), " ", "_")
	return name == "" || regexp.MustCompile(`(?m)^--_`+regexp.QuoteMeta(name)+`[\W_]`).MatchString(text)
}

// goTests are the names of the tests in Go.
func goTests(t *testing.T) map[string]bool {
	t.Helper()
	files, err := testFiles()
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	out := map[string]bool{}
	for file, text := range files {
		if strings.HasSuffix(file, "_test.go") {
			for _, match := range declared.FindAllStringSubmatch(text, -1) {
				out[match[1]] = true
			}
		}
	}
	return out
}
