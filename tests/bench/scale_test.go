//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/madeup"
)

// The targets for a report on a hundred thousand ranks. The time is what its user waits.
const (
	reportRanks    = 100_000
	documentTarget = 3.0 // s, from one document
	filesTarget    = 5.0 // s, from a file for each rank
	memoryTarget   = 400 // MiB
)

// TestScale measures reports on a hundred thousand ranks, from one document and from a
// file for each rank, and how their cost grows with the ranks.
func TestScale(t *testing.T) {
	folder := t.TempDir()
	binary := os.Getenv("MPI_QUEUES_HELPER")
	if binary == "" {
		binary = filepath.Join(folder, "mpi-queues")
		build(t, "../..", "go", "build", "-o", binary, "./cmd/mpi-queues")
	}
	var curve strings.Builder
	for ranks := reportRanks / 100; ranks <= reportRanks; ranks *= 10 {
		document, files := filepath.Join(folder, fmt.Sprintf("%d.json", ranks)), filepath.Join(folder, fmt.Sprint(ranks))
		must(t, os.Mkdir(files, 0o777))
		job := madeup.Job(ranks)
		store(t, document, job)
		for _, p := range job.Processes {
			store(t, filepath.Join(files, fmt.Sprintf("%06d.json", p.GlobalRank.Value)), &mqs.Snapshot{Processes: []*mqs.Process{p}})
		}
		job = nil
		for _, from := range []struct {
			name, path string
			seconds    float64
		}{{"one document", document, documentTarget}, {"a file for each", files, filesTarget}} {
			fmt.Fprintf(&curve, "| %d, %s |", ranks, from.name)
			for _, format := range []string{"--text", "--json", "--html", "--svg", "--dot"} {
				var waits, seconds, memory []float64
				times := 1
				if ranks == reportRanks {
					times = repeats
				}
				for range times {
					wall, cpu, peak := measured(t, exec.Command(binary, "report", format, "-o", filepath.Join(folder, "report"), from.path))
					waits, seconds, memory = append(waits, wall.Seconds()), append(seconds, cpu.Seconds()), append(memory, float64(peak>>10))
				}
				fmt.Fprintf(&curve, " %.2f s (%.2f s), %.0f MiB |", median(waits), median(seconds), median(memory))
				if ranks == reportRanks {
					what := fmt.Sprintf("report %s on %d ranks from %s", format, ranks, from.name)
					target("s, "+what, waits, atMost(from.seconds, " s"), "reading the documents")
					target("MiB, "+what, memory, atMost(memoryTarget, " MiB"), "the whole job is in memory at once")
				}
			}
			curve.WriteByte('\n')
		}
		must(t, os.RemoveAll(files))
	}
	fmt.Println("what it takes (and of the processors together), and memory:")
	fmt.Printf("| ranks, from | text | JSON | HTML | SVG | DOT |\n|---|---|---|---|---|---|\n%s", &curve)
}

// measured runs a command, and returns what it took, its time on processors and, in KiB, the most memory that it was seen to have. What
// the kernel says of that at its end may be what this process has had, when it forked.
func measured(t *testing.T, cmd *exec.Cmd) (wall, cpu time.Duration, peak int) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	start := time.Now()
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &said)
			}
			return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak
		case <-time.After(10 * time.Millisecond):
		}
		if program, err := procfs.Host.Program(cmd.Process.Pid); err != nil || program != cmd.Path {
			continue // not yet
		}
		text, _ := os.ReadFile(procfs.Host.Path(cmd.Process.Pid, "status"))
		if _, after, ok := bytes.Cut(text, []byte("VmHWM:")); ok {
			_, _ = fmt.Sscan(string(after), &peak)
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
