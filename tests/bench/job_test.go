//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

const (
	jobRanks    = 16
	jobReceives = 1000
	// backtracesTarget is how long a dump of a job may take, in times of gdb's
	// backtraces of its processes one after the other: what someone would look at
	// otherwise.
	backtracesTarget = 1.0
)

// TestJob measures mpi-queues dump on a launcher.
func TestJob(t *testing.T) {
	root, err := filepath.Abs("../..")
	must(t, err)
	dir := t.TempDir()
	product, many := filepath.Join(dir, "mpi-queues"), filepath.Join(dir, "many")
	build(t, root, "go", "build", "-o", product, "./cmd/mpi-queues")
	build(t, filepath.Join(root, "tests", "programs"), "mpicc.openmpi", "-O1", "-g", "-o", many, "many.c", "expect.c", "expect_json.c")
	launcher, pids := job(t, many, jobRanks, jobReceives)

	run := func(name string, args ...string) ([]byte, time.Duration) {
		t.Helper()
		var said bytes.Buffer
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
		cmd.Stderr = &said
		start := time.Now()
		out, err := cmd.Output()
		took := time.Since(start)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, &said)
		}
		return out, took
	}
	dump := func() time.Duration {
		t.Helper()
		out, took := run(product, "dump", fmt.Sprint(launcher))
		for rank := range jobRanks {
			if heading := fmt.Sprintf("Rank %d of %d, process %d", rank, jobRanks, pids[rank]); !bytes.Contains(out, []byte(heading)) {
				t.Fatalf("%q is not in the dump:\n%s", heading, tail(out))
			}
		}
		if got := bytes.Count(out, []byte(" MPI_INT ")); got != jobReceives {
			t.Fatalf("the dump shows %d receives of %d:\n%s", got, jobReceives, tail(out))
		}
		return took
	}
	backtraces := func() time.Duration {
		t.Helper()
		var sum time.Duration
		for _, pid := range pids {
			out, took := run("gdb", "-batch", "-p", fmt.Sprint(pid), "-ex", "bt")
			if !bytes.Contains(out, []byte("\n#0 ")) {
				t.Fatalf("gdb shows no backtrace:\n%s", out)
			}
			sum += took
		}
		return sum
	}
	dump() // the files that both read are in memory now
	var dumps, traces []time.Duration
	var ratios []float64
	for range rounds {
		d, b := dump(), backtraces()
		dumps, traces, ratios = append(dumps, d), append(traces, b), append(ratios, ratio(d, b))
	}
	fmt.Printf("`mpi-queues dump` of %d ranks takes %.2f s, `gdb -batch -p PID -ex bt` of one after the other %.2f s (on %d processors)\n",
		jobRanks, median(dumps).Seconds(), median(traces).Seconds(), runtime.NumCPU())
	atMost(backtracesTarget, "%.2f times as long for a dump of %d ranks as for backtraces of them", median(ratios), jobRanks)
}
