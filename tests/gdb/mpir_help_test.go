//go:build live

package gdb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// launcher is one of the tests' own (tests/programs/mpir), which has the members of the MPIR interface
// that its flags say.
type launcher struct {
	// program is its path, folder what it records in, with its ranks.
	program, folder string
}

func newLauncher(t testing.TB, flags ...string) *launcher {
	t.Helper()
	folder, err := os.MkdirTemp(work.Folder, "mpir-")
	if err != nil {
		t.Fatal(err)
	}
	l := &launcher{program: filepath.Join(t.TempDir(), "launcher"), folder: folder}
	args := append([]string{"-g", "-O0", "-o", l.program, filepath.Join(work.Root, "tests/programs/mpir/launcher.c")}, flags...)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, text)
	}
	return l
}

// rankProgram is that of its ranks.
func rankProgram(t testing.TB) string {
	t.Helper()
	return work.Program(t, "tests/programs/mpir/rank.c")
}

// command is a command line of the launcher's: its options, and its ranks' arguments.
func (l *launcher) command(t testing.TB, options string, args ...string) string {
	t.Helper()
	return strings.Join(append([]string{l.program, l.folder, options, "--", rankProgram(t)}, args...), " ")
}

// record is what the launcher, or a rank, has recorded ("launcher", "rank-1").
func (l *launcher) record(t testing.TB, who string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.folder, who))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// await waits until something has recorded lines, which may be the beginnings of such, in this order.
func (l *launcher) await(t testing.TB, who string, lines ...string) {
	t.Helper()
	has := func() bool {
		rest := "\n" + l.record(t, who)
		for _, line := range lines {
			_, after, ok := strings.Cut(rest, "\n"+line)
			if !ok {
				return false
			}
			rest = after
		}
		return true
	}
	if !live.Soon(has) {
		t.Fatalf("%s does not record %q, but\n%s", who, lines, l.record(t, who))
	}
}

// goOn lets it end, if it lingers.
func (l *launcher) goOn(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(l.folder, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// rankOf is the only rank that a launcher has started.
func rankOf(t testing.TB, launcher int) int {
	t.Helper()
	children := procfs.Host.Children(launcher)
	if len(children) != 1 {
		t.Fatalf("the launcher has the children %v", children)
	}
	return children[0]
}
