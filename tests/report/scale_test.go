//go:build bench

package report

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/tests/internal/madeup"
)

// What a report on a hundred thousand ranks may cost. The time is that of all
// processors together, which others that are busy on this machine do not change.
const (
	ranks      = 100_000
	mostTime   = 10 * time.Second
	mostMemory = 2 << 30
)

// A job of a hundred thousand ranks is reported in time, from one document and
// from a file for each rank.
func TestScale(t *testing.T) {
	folder := t.TempDir()
	binary := filepath.Join(folder, "mpi-queues")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/mpi-queues").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	document, files := filepath.Join(folder, "job.json"), filepath.Join(folder, "ranks")
	if err := os.Mkdir(files, 0o777); err != nil {
		t.Fatal(err)
	}
	job := madeup.Job(ranks)
	store(t, document, job)
	for _, p := range job.Processes {
		store(t, filepath.Join(files, fmt.Sprintf("%06d.json", p.GlobalRank.Value)), &mqs.Snapshot{Processes: []*mqs.Process{p}})
	}
	for _, from := range []string{document, files} {
		for _, format := range []string{"--text", "--json", "--html", "--svg", "--dot"} {
			var wall, took time.Duration
			var memory int64
			for range 3 { // a busy machine has less of its caches for each
				cmd := exec.Command(binary, "report", format, "-o", filepath.Join(folder, "report"), from)
				start := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				wall, took = time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
				memory = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
				if took <= mostTime {
					break
				}
			}
			info, err := os.Stat(filepath.Join(folder, "report"))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-8s %-6s %5.1f s, of processors %5.1f s, %4d MiB of memory, %6d KiB written",
				filepath.Base(from), format, wall.Seconds(), took.Seconds(), memory>>20, info.Size()>>10)
			if took > mostTime || memory > mostMemory {
				t.Errorf("%s from %s takes %v and %d MiB", format, from, took, memory>>20)
			}
		}
	}
}

func store(t *testing.T, path string, s *mqs.Snapshot) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	if err := render.JSON(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
