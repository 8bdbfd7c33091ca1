package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// testFiles are the contents of all files that have tests or what tests expect, by their paths in the repository.
func testFiles() (map[string]string, error) {
	files := map[string]string{}
	isTest := regexp.MustCompile(`_test\.go$|/test_\w+\.py$|/outside_test_\w+\.py$|\.test\.ts$|/testdata/.*\.(txtar|txt)$|tests/internal/(live|expect)/\w+\.go$`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "fuzz") {
				return filepath.SkipDir
			}
			return nil
		}
		if !isTest.MatchString(filepath.ToSlash(name)) || strings.HasPrefix(name, "tests/pages/") {
			return nil
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	return files, err
}

// mostFiles is how many files are listed for a thing: those that name it most often.
const mostFiles = 6

// thing is the subject of tests: a command, a transport, a verdict.
type thing struct {
	pattern *regexp.Regexp
	// parts are substrings, at least one of which is in each match. They are searched first, because most files have none of them
	// and the pattern is slow.
	parts []string
}

// byWords returns a thing that matches any of the words. A star at the end makes a word a prefix.
func byWords(words ...string) thing {
	var t thing
	var patterns []string
	for _, word := range words {
		part, isPrefix := strings.CutSuffix(word, "*")
		pattern := regexp.QuoteMeta(part)
		if isWordChar(part[0]) {
			pattern = `\b` + pattern
		}
		if !isPrefix && isWordChar(part[len(part)-1]) {
			pattern += `\b`
		}
		t.parts, patterns = append(t.parts, part), append(patterns, pattern)
	}
	t.pattern = regexp.MustCompile(strings.Join(patterns, "|"))
	return t
}

func isWordChar(c byte) bool {
	return c == '_' || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}

// in counts how often a text names the thing.
func (t thing) in(text string) int {
	if !slices.ContainsFunc(t.parts, func(part string) bool { return strings.Contains(text, part) }) {
		return 0
	}
	return len(t.pattern.FindAllStringIndex(text, -1))
}

// naming returns links to the files that name a thing.
func naming(files map[string]string, thing thing) []string {
	type found struct {
		file  string
		times int
	}
	var all []found
	for file, text := range files {
		if n := thing.in(text); n > 0 {
			all = append(all, found{file, n})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.file, b.file)) })
	var names []string
	for _, f := range all[:min(len(all), mostFiles)] {
		names = append(names, f.file)
	}
	slices.Sort(names)
	return names
}

// recorded returns the folders of recordings that use a transport, according to case.json or the folder's name.
func recorded(transport thing) ([]string, error) {
	cases, err := filepath.Glob(filepath.Join(root, "tests", "recordings", "*", "case.json"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range cases {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var c struct{ Device, Transport string }
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		folder := filepath.Base(filepath.Dir(file))
		if transport.in(c.Device+" "+c.Transport+" "+folder+"\n") > 0 {
			names = append(names, "tests/recordings/"+folder)
		}
	}
	return names, nil
}

// index is the table of where the tests of a thing are: commands, transports, verdicts.
func index() (string, error) {
	files, err := testFiles()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	row := func(thing string, names []string) {
		for i, name := range names {
			names[i] = fmt.Sprintf("[%s](../%s)", strings.TrimPrefix(name, "tests/recordings/"), name)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", thing, cmp.Or(strings.Join(names, ", "), "–"))
	}
	head := func(title string) { fmt.Fprintf(&b, "\n| %s | tests |\n|---|---|\n", title) }

	shell, err := subcommands()
	if err != nil {
		return "", err
	}
	head("shell command")
	for _, name := range shell {
		if name != "help" && name != "completion" {
			row("`mpi-queues "+name+"`", naming(files, byWords(`"`+name+`"`, "mpi-queues "+name)))
		}
	}
	inGDB, err := gdbNames(0, regexp.MustCompile(`(?m)^(mpi-[a-z-]+|info mpi) -- `))
	if err != nil {
		return "", err
	}
	head("gdb command")
	for _, name := range inGDB {
		row("`"+name+"`", naming(files, thing{regexp.MustCompile(`(?:^|[^\w/-])` + name + `(?:$|[^\w/.-])`), []string{name}}))
	}
	head("transport")
	for _, t := range transports {
		transport := byWords(t.words...)
		folders, err := recorded(transport)
		if err != nil {
			return "", err
		}
		row(t.name, append(naming(files, transport), folders...))
	}
	head("verdict")
	text, err := os.ReadFile(filepath.Join(root, verdicts))
	if err != nil {
		return "", err
	}
	for _, match := range regexp.MustCompile(`(\w+) +Verdict = "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		verdict := thing{regexp.MustCompile(`\bwaitfor\.` + match[1] + `\b|"` + match[2] + `"|(?m)^` + match[2] + `: `), match[1:]}
		row("`"+match[2]+"`", naming(files, verdict))
	}
	return b.String(), nil
}

// verdicts is the file in which the verdicts are defined.
const verdicts = "mqs/waitfor/report.go"

// transports are what carries messages below an MPI, with the words that tests and recordings use for each. A word
// that ends in "\n" matches the end of a line, or of the name of a recording's folder.
var transports = []struct {
	name  string
	words []string
}{
	{"Open MPI's ob1", []string{"ob1"}},
	{"MPICH's ch3", []string{"ch3"}},
	{"MPICH's ch4, shared memory", []string{"ch4"}},
	{"UCX", []string{"UCX", "ucx"}},
	{"libpsm2", []string{"PSM2", "psm2"}},
	{"libfabric's tcp;ofi_rxm", []string{"ofi_rxm", "RXM", "ofi-tcp*", "-ofi\n"}},
	{"libfabric's tcp", []string{`"tcp"`, "openXNet*", "xnet"}},
	{"libfabric's sockets", []string{"sockets"}},
	{"libfabric's shm", []string{"smr*", `"shm"`, "ofi-shm*"}},
	{"libfabric's sm2", []string{"sm2"}},
	{"libfabric's psm3", []string{"psm3"}},
	{"libfabric's cxi", []string{"cxi"}},
	{"libfabric's opx", []string{"opx"}},
	{"libfabric's efa", []string{"efa"}},
	{"libfabric's lnx", []string{"lnx"}},
}
