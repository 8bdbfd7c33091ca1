//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

const (
	jobRanks    = 16
	jobReceives = 1000
	// backtracesTarget is how long a dump of a job may take, in times of gdb's
	// backtraces of its processes one after the other: what someone would look at
	// otherwise.
	backtracesTarget = 1.0

	wholeRanks    = 64
	wholeReceives = 10
	// standTarget is how long one rank alone may stand while it is read, in ms.
	standTarget = 50.0
	// wholeTarget is what a rank of a whole job may take of the processors, in ms, beyond gdb's own attach of
	// the first.
	wholeTarget = 60.0
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
	target(fmt.Sprintf("times as long for a dump of %d ranks as for backtraces of them", jobRanks), ratios, atMost(backtracesTarget, " times"),
		"gdb reads the symbols of each rank's files")
}

// TestWholeJob measures mpi-queues report and dump on a job of many ranks.
func TestWholeJob(t *testing.T) {
	k := prepare(t)
	launcher, pids := job(t, k.many, wholeRanks, wholeReceives)
	run := func(name string, args ...string) (wall, cpu time.Duration) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
		start := time.Now()
		out, err := cmd.CombinedOutput()
		wall = time.Since(start)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	for _, c := range []struct{ command, cause string }{
		{"report", "it looks four times at a job of which nothing proves a deadlock"},
		{"dump", "gdb attaches to each, and reads its threads and stacks"},
	} {
		var each []float64
		var walls []time.Duration
		for range rounds {
			_, attach := run("gdb", "-nx", "-batch", "-p", fmt.Sprint(pids[0]))
			wall, cpu := run(k.helper, c.command, fmt.Sprint(launcher))
			walls, each = append(walls, wall), append(each, milliseconds([]time.Duration{(cpu - attach) / wholeRanks})...)
		}
		fmt.Printf("`mpi-queues %s` of %d ranks takes %.2f s (on %d processors)\n", c.command, wholeRanks, median(walls).Seconds(), runtime.NumCPU())
		target(fmt.Sprintf("ms of processors a rank, `mpi-queues %s` of %d ranks", c.command, wholeRanks), each, atMost(wholeTarget, " ms"),
			c.cause)
	}
}

// TestStanding measures how long ranks stand still: one that is read alone, and those of a whole job, which are read at one
// moment.
func TestStanding(t *testing.T) {
	k := prepare(t)
	launcher, pids := job(t, k.many, jobRanks, wholeReceives)
	var alone, each, whole []float64
	for round := range 2 * rounds {
		stood := standing(t, pids, exec.Command(k.helper, "dump", fmt.Sprint(pids[round%jobRanks])))
		alone = append(alone, milliseconds(stood[round%jobRanks:][:1])...)
	}
	for range rounds {
		stood := milliseconds(standing(t, pids, exec.Command(k.helper, "report", fmt.Sprint(launcher))))
		each, whole = append(each, median(stood)), append(whole, slices.Max(stood))
	}
	target("ms that a rank stands, `mpi-queues dump PID`", alone, atMost(standTarget, " ms"), "gdb's own attach")
	fmt.Printf("the ranks of a job of %d stand for %.0f ms in the median, and the first for %.0f ms, in each look of `mpi-queues report`, which reads all at one moment\n",
		jobRanks, median(each), median(whole))
}

// standing runs a command, and returns the longest time for which each process was seen to be traced or stopped.
func standing(t *testing.T, pids []int, cmd *exec.Cmd) []time.Duration {
	t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stood, begun := make([]time.Duration, len(pids)), make([]time.Time, len(pids))
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &said)
			}
			return stood
		case <-time.After(time.Millisecond):
		}
		now := time.Now()
		for i, pid := range pids {
			stat, err := procfs.Host.Stat(pid)
			switch {
			case err != nil || stat.State != 't' && stat.State != 'T':
				begun[i] = time.Time{}
			case begun[i].IsZero():
				begun[i] = now
			default:
				stood[i] = max(stood[i], now.Sub(begun[i]))
			}
		}
	}
}
