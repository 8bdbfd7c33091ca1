//go:build live || matrix || full

package live

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// Record writes down, when a test ends, what it has shown, for a run that names
// a folder in the environment: MPI_QUEUES_TEST_RESULTS. If r leaves it empty,
// the build is that of this machine's distribution; the debugger is the workspace's.
func (w *Workspace) Record(t testing.TB, r result.Result) {
	t.Helper()
	folder := os.Getenv("MPI_QUEUES_TEST_RESULTS")
	if folder == "" {
		return
	}
	if r.Build == "" {
		r.Build = System(t) + ", stripped"
	}
	r.Debugger = Version(t, w.Debugger)
	t.Cleanup(func() {
		r.Failed = t.Failed()
		if err := r.Write(folder); err != nil {
			t.Error(err)
		}
	})
}

// System is the name of this machine's distribution: "Debian 12 (bookworm)".
func System(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(string(text), `PRETTY_NAME="`)
	name, _, _ = strings.Cut(name, `"`)
	return strings.Replace(name, " GNU/Linux", "", 1)
}

// Version is what a debugger says of itself: "gdb 13.1, Python 3.11".
func Version(t testing.TB, debugger string) string {
	t.Helper()
	version, err := exec.Command(debugger, "--version").Output()
	if err != nil {
		t.Fatalf("%s: %v", debugger, err)
	}
	name, base, python := "", "", "no Python"
	last := func(line string) string { return line[strings.LastIndex(line, " ")+1:] }
	lines := strings.Split(string(version), "\n")
	for i, line := range lines {
		switch {
		case strings.Contains(line, "CUDA Debugger"): // 11.8, above "11.8 release"
			name = "cuda-gdb " + strings.TrimSuffix(lines[i+1], " release") + " of "
		case strings.Contains(line, "cuda-gdb "): // 12.4
			name = "cuda-gdb " + last(line) + " of "
		case base == "" && strings.Contains(line, "GNU gdb "):
			base = "gdb " + last(line)
		}
	}
	out, err := exec.Command(debugger, "-nx", "-batch", "-ex", `python print("Python %d.%d" % sys.version_info[:2])`).Output()
	if err == nil && strings.HasPrefix(string(out), "Python ") {
		python = strings.TrimSpace(string(out))
	}
	return name + base + ", " + python
}
