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

// naming returns links to the files that name a thing.
func naming(files map[string]string, thing *regexp.Regexp) []string {
	type found struct {
		file  string
		times int
	}
	var all []found
	for file, text := range files {
		if n := len(thing.FindAllStringIndex(text, -1)); n > 0 {
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

// recorded returns the folders of recordings whose libraries have messages of a transport, by a pattern for what case.json
// and the folder's name have.
func recorded(transport *regexp.Regexp) ([]string, error) {
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
		if transport.MatchString(c.Device) || transport.MatchString(c.Transport) || transport.MatchString(folder) {
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
			row("`mpi-queues "+name+"`", naming(files, regexp.MustCompile(`"`+name+`"|mpi-queues `+name+`\b`)))
		}
	}
	inGDB, err := gdbNames(0, regexp.MustCompile(`(?m)^(mpi-[a-z-]+|info mpi) -- `))
	if err != nil {
		return "", err
	}
	head("gdb command")
	for _, name := range inGDB {
		row("`"+name+"`", naming(files, regexp.MustCompile(`(?:^|[^\w/-])`+name+`(?:$|[^\w/.-])`)))
	}
	head("transport")
	for _, t := range transports {
		pattern := regexp.MustCompile(t.pattern)
		folders, err := recorded(pattern)
		if err != nil {
			return "", err
		}
		row(t.name, append(naming(files, pattern), folders...))
	}
	head("verdict")
	text, err := os.ReadFile(filepath.Join(root, verdicts))
	if err != nil {
		return "", err
	}
	for _, match := range regexp.MustCompile(`(\w+) +Verdict = "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		row("`"+match[2]+"`", naming(files, regexp.MustCompile(`\bwaitfor\.`+match[1]+`\b|"`+match[2]+`"|(?m)^`+match[2]+`: `)))
	}
	return b.String(), nil
}

// verdicts is the file in which the verdicts are defined.
const verdicts = "mqs/waitfor/report.go"

// transports are what carries messages below an MPI, and how tests and recordings call each.
var transports = []struct{ name, pattern string }{
	{"Open MPI's ob1", `\bob1\b`},
	{"MPICH's ch3", `\bch3\b`},
	{"MPICH's ch4, shared memory", `\bch4\b`},
	{"UCX", `\b(?:UCX|ucx)\b`},
	{"libpsm2", `\b(?:PSM2|psm2)\b`},
	{"libfabric's tcp;ofi_rxm", `\bofi_rxm\b|\bRXM\b|ofi-tcp|-ofi$`},
	{"libfabric's tcp", `"tcp"|openXNet|\bxnet\b`},
	{"libfabric's sockets", `\bsockets\b`},
	{"libfabric's shm", `\bsmr\w*\b|"shm"|ofi-shm`},
	{"libfabric's sm2", `\bsm2\b`},
	{"libfabric's psm3", `\bpsm3\b`},
	{"libfabric's cxi", `\bcxi\b`},
	{"libfabric's opx", `\bopx\b`},
	{"libfabric's efa", `\befa\b`},
	{"libfabric's lnx", `\blnx\b`},
}
