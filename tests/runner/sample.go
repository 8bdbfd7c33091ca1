package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// livePackages are those whose live tests need nothing but this machine's gdb and Open MPI.
var livePackages = []string{"./cmd/...", "./tests/gdb"}

// inEachRun are live tests that take samples themselves and are part of each run: together they show that jobs are read, and
// told deadlocked or running, in all ways.
var inEachRun = regexp.MustCompile(`^Test(Programs|Deadlocks|RunningJobs|DeadlockEveryWay|Report|Dump)$`)

// oneIn is how many runs with consecutive seeds have all other live tests.
const oneIn = 7

// liveTests are commands for the live tests of this run.
func liveTests(p *plan) [][]string {
	flags := []string{"-tags", "live", "-count=1", "-parallel", jobs()}
	if p.isWhole {
		return [][]string{append(goTest(p.limit(), flags...), livePackages...)}
	}
	names, err := liveNames()
	if err != nil {
		return [][]string{{"sh", "-c", "echo " + quoted(err.Error()) + "; exit 1"}}
	}
	args := append(flags, "-short", "-run", "^("+strings.Join(choose(names, p.seed), "|")+")$")
	return [][]string{append(goTest(p.limit(), args...), livePackages...)}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// choose returns the tests of one run. Tests that stand beside each other in the alphabet are often alike, and take turns.
func choose(names []string, seed uint64) []string {
	var chosen []string
	for i, name := range names {
		if inEachRun.MatchString(name) || (uint64(i)+seed)%oneIn == 0 {
			chosen = append(chosen, name)
		}
	}
	return chosen
}

// liveNames returns the names of the tests in files that only the build tag live brings, sorted.
func liveNames() ([]string, error) {
	ordinary, err := testFiles()
	if err != nil {
		return nil, err
	}
	all, err := testFiles("-tags", "live")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range all {
		if slices.Contains(ordinary, file) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, match := range aTest.FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "TestMain" }), nil
}

var aTest = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testFiles returns the test files of the live packages.
func testFiles(flags ...string) ([]string, error) {
	const format = `{{$dir := .Dir}}{{range .TestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}`
	// -e: without the tag a package may have no files at all.
	cmd := exec.Command("go", append(append([]string{"list", "-e", "-f", format}, flags...), livePackages...)...)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return strings.Fields(string(text)), nil
}
