//go:build bench

package bench

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
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/tests/internal/madeup"
)

// The targets for a report on a hundred thousand ranks. The time is that of all
// processors together, which others that are busy on this machine do not change much.
const (
	reportRanks  = 100_000
	secondTarget = 10.0
	memoryTarget = 2 << 10 // MiB
)

// TestScale measures reports on a hundred thousand ranks, from one document and from a
// file for each rank.
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
	job := madeup.Job(reportRanks)
	store(t, document, job)
	for _, p := range job.Processes {
		store(t, filepath.Join(files, fmt.Sprintf("%06d.json", p.GlobalRank.Value)), &mqs.Snapshot{Processes: []*mqs.Process{p}})
	}
	for _, from := range []string{document, files} {
		for _, format := range []string{"--text", "--json", "--html", "--svg", "--dot"} {
			var wall, took time.Duration
			var memory int64
			for i := range 3 { // a busy machine has less of its caches for each
				cmd := exec.Command(binary, "report", format, "-o", filepath.Join(folder, "report"), from)
				start := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); i == 0 || used < took {
					wall, took = time.Since(start), used
				}
				memory = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
				if took.Seconds() <= secondTarget {
					break
				}
			}
			info, err := os.Stat(filepath.Join(folder, "report"))
			if err != nil {
				t.Fatal(err)
			}
			kind := filepath.Base(from)
			fmt.Printf("report %s from %s: %.1f s, %d KiB written\n", format, kind, wall.Seconds(), info.Size()>>10)
			atMost(secondTarget, "%.1f s of processors for report %s from %s", took.Seconds(), format, kind)
			atMost(memoryTarget, "%.0f MiB of memory for report %s from %s", float64(memory), format, kind)
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
	if err := document.Write(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
