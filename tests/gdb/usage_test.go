//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// Addresses, process ids and the widths of columns, which are those of their addresses, differ from run to run.
var (
	varying = regexp.MustCompile(`0x[0-9a-f]+|process \d+|^\$\d+ = `)
	blanks  = regexp.MustCompile(` +`)
)

// The usage page shows what is really said of the handles of tests/programs/handles.c.
func TestUsagePage(t *testing.T) {
	t.Parallel()
	p := live.HandlePrograms[0]
	job := work.Start(t, p.Source, p.Ranks, nil)
	onPage(t, "handles.c", live.Process(job.Accounts[0].PID), []string{"mpi-queues -output /dev/null", "frame function " + p.Function}, strings.NewReplacer())
}

// It shows what is really said of the ranks of tests/programs/across.c, whose process ids begin there at 9653.
func TestUsagePageAcross(t *testing.T) {
	t.Parallel()
	job := startAcross(t)
	var names []string
	for rank, a := range job.Accounts {
		names = append(names, fmt.Sprint(a.PID), fmt.Sprint(9653+rank))
	}
	onPage(t, "across.c", live.Process(job.Accounts[0].PID), append([]string{"mpi-attach"}, toFrame("exchange")...), strings.NewReplacer(names...))
}

// onPage fails the test where the usage page shows another answer to a command than gdb gives. first are commands
// that stand before those of the page.
func onPage(t *testing.T, program string, where live.Where, first []string, renamed *strings.Replacer) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(work.Root, ".github", "USAGE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(page), "`tests/programs/"+program+"`:\n\n```text\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatalf("the page shows nothing of tests/programs/%s", program)
	}
	sessions := strings.Split(block, "(gdb) ")[1:]
	if len(sessions) == 0 {
		t.Fatalf("the page shows no command for tests/programs/%s", program)
	}
	var commands []string
	for _, s := range sessions {
		command, _, _ := strings.Cut(s, "\n")
		commands = append(commands, command)
	}
	for i, got := range answers(t, where, first, commands...) {
		_, want, _ := strings.Cut(sessions[i], "\n")
		if got, want := constant(renamed.Replace(got)), constant(want); got != want {
			t.Errorf("of %s the page shows\n%s\nand gdb\n%s", commands[i], want, got)
		}
	}
}

// constant is what is the same in each run.
func constant(text string) string {
	return blanks.ReplaceAllString(varying.ReplaceAllString(text, "…"), " ")
}
