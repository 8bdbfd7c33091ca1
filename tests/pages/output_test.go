package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// demo is the recording of the job whose output the README shows. It was made anew since, from the
// same program: process ids and addresses are others, and it has no line numbers.
const demo = "cmd/mpi-queues/internal/demo/program/deadlock.mpiq"

// TestOutput: what the README shows of the demonstration's job is what mpi-queues says of it.
func TestOutput(t *testing.T) {
	queues, _, _ := strings.Cut(ofDemo(t, "replay"), "\nRank 1 of 3, ")
	_, blocks := parts(readPages(t)["README.md"])
	for _, shown := range []struct{ command, want string }{
		{"(gdb) mpi-queues\n", queues},
		{"(gdb) mpi-deadlock -all\n", ofDemo(t, "report")},
	} {
		i := slices.IndexFunc(blocks, func(b string) bool { return strings.Contains(b, shown.command) && strings.Contains(b, "MPI_Recv") })
		if i < 0 {
			t.Errorf("the README shows no output of %s", shown.command)
			continue
		}
		_, output, _ := strings.Cut(blocks[i], shown.command)
		if got, want := withoutPlaces(output), withoutPlaces(shown.want); got != want {
			t.Errorf("the README shows\n%s\nand mpi-queues says\n%s", got, want)
		}
	}
}

// TestOutputOfStripped: what the page on support shows of a stripped MPICH is what mpi-queues says of its recording.
func TestOutputOfStripped(t *testing.T) {
	want := read(t, "tests/recordings/mpich-4.0.2-found/send-rank-1.txt")
	_, blocks := parts(readPages(t)[".github/SUPPORT.md"])
	if !slices.Contains(blocks, "$ mpi-queues dump 27784\n"+want) {
		t.Errorf("the page does not show\n%s", want)
	}
}

// ofDemo returns what a command says of the demonstration's recording.
func ofDemo(t *testing.T, command string) string {
	t.Helper()
	out, err := program(command, demo)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// withoutPlaces replaces what differs between two runs of a program, and the two ways in which a
// call is located: by line (in a program with debug information) and by function.
func withoutPlaces(text string) string {
	for _, r := range []struct{ pattern, name string }{
		{`process \d+`, "process PID"},
		{`0x[0-9a-f]{6,}`, "ADDRESS"},
		{`( called by main)? at deadlock\.c:\d+|( called by| in) main`, " PLACE"},
		{`\((deadlock\.c:\d+|main)\)`, "(PLACE)"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.name)
	}
	return strings.TrimSpace(text)
}

// TestLines: the lines of the program that the README's output names have the calls that it names.
func TestLines(t *testing.T) {
	source := strings.Split(read(t, "cmd/mpi-queues/internal/demo/program/deadlock.c"), "\n")
	_, blocks := parts(readPages(t)["README.md"])
	seen := 0
	for _, block := range blocks {
		for _, match := range regexp.MustCompile(`(MPI_\w+)[^\n(]* ?\(?(?:at )?deadlock\.c:(\d+)`).FindAllStringSubmatch(block, -1) {
			var line int
			if _, err := fmt.Sscan(match[2], &line); err != nil || line > len(source) || !strings.Contains(source[line-1], match[1]) {
				t.Errorf("deadlock.c has no %s in line %s", match[1], match[2])
			}
			seen++
		}
	}
	if seen == 0 {
		t.Error("the README names no lines of deadlock.c")
	}
}
