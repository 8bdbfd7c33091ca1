//go:build live

package gdb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// Addresses, process ids, what gdb says of threads, and the widths of columns, which are those of their addresses, differ from run to run.
var (
	varying = regexp.MustCompile(`0x[0-9a-f]+|process \d+|^\$\d+ = |Breakpoint 1\.\d`)
	threads = regexp.MustCompile(`(?m)^(\[(New|Switching|Thread|LWP) .*\]|Using host libthread_db .*)\n`)
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

// It shows how gdb really starts a job of tests/programs/started.c.
func TestUsagePageStarted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	launcher, err := exec.LookPath(work.MPI.Launcher[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"started": work.Program(t, "tests/programs/started.c"), "mpirun": launcher} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	first := []string{"cd " + folder, "file started", "set environment PATH " + folder + ":" + os.Getenv("PATH")}
	for _, name := range []string{"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"} {
		first = append(first, "set environment "+name+" 1")
	}
	onPage(t, "started.c", live.Nothing(), first, strings.NewReplacer(work.Root+"/tests/programs/", ""))
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
	return blanks.ReplaceAllString(varying.ReplaceAllString(threads.ReplaceAllString(text, ""), "…"), " ")
}
