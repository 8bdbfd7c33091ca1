//go:build live

package gdb

import (
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
	page, err := os.ReadFile(filepath.Join(work.Root, ".github", "USAGE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(page), "`tests/programs/handles.c`:\n\n```text\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatal("the page shows nothing of tests/programs/handles.c")
	}
	p := live.HandlePrograms[0]
	job := work.Start(t, p.Source, p.Ranks, nil)
	commands := []string{"set width 0", "mpi-queues -output /dev/null", "frame function " + p.Function}
	sessions := strings.Split(block, "(gdb) ")[1:]
	for _, s := range sessions {
		command, _, _ := strings.Cut(s, "\n")
		commands = append(commands, `echo @@\n`, command)
	}
	said := strings.Split(work.GDB(t, live.Process(job.Accounts[0].PID), append(commands, `echo @@\n`)...).Stdout, "@@\n")
	if len(sessions) == 0 || len(said) != len(sessions)+2 {
		t.Fatalf("%d commands are shown, and gdb has answered %d", len(sessions), len(said)-2)
	}
	for i, s := range sessions {
		command, want, _ := strings.Cut(s, "\n")
		if got, want := constant(said[i+1]), constant(want); got != want {
			t.Errorf("of %s the page shows\n%s\nand gdb\n%s", command, want, got)
		}
	}
}

// constant is what is the same in each run.
func constant(text string) string {
	return blanks.ReplaceAllString(varying.ReplaceAllString(text, "…"), " ")
}
