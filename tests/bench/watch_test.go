//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// watchTarget is what a watch may take of a job that runs, in %.
const watchTarget = 1.0

// sameLook is how long after a look's beginning ranks that are stopped are so for the same one: its gdb may let them
// run for a moment in between.
const sameLook = 10 * time.Second

// TestWatch measures what a watch takes of a job that runs, at its defaults: the time for which its ranks stand, and of
// the processors that they could use. It takes minutes, and is done where MPI_QUEUES_TEST_WHOLE is set.
func TestWatch(t *testing.T) {
	if os.Getenv("MPI_QUEUES_TEST_WHOLE") == "" {
		t.Skip("MPI_QUEUES_TEST_WHOLE=1 has a watch measured")
	}
	k := prepare(t)
	launcher, pids := job(t, k.many, jobRanks, wholeReceives)
	watch := exec.Command(k.helper, "watch", fmt.Sprint(launcher))
	watch.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	var said bytes.Buffer
	watch.Stdout, watch.Stderr = &said, &said
	must(t, watch.Start())
	ended := make(chan struct{})
	var how error
	go func() { how = watch.Wait(); close(ended) }()

	const looks = 2
	var begun []time.Time   // when the ranks were stopped for looks
	var stood time.Duration // in these, of all ranks together
	isStopped, last := false, time.Now()
	for len(begun) < looks || isStopped {
		select {
		case <-ended:
			t.Fatalf("the watch has ended: %v\n%s", how, &said)
		case <-time.After(time.Millisecond):
		}
		now := time.Now()
		stopped := 0
		for _, pid := range pids {
			if stat, err := procfs.Host.Stat(pid); err == nil && (stat.State == 't' || stat.State == 'T') {
				stopped++
			}
		}
		if stopped > 0 && !isStopped && (len(begun) == 0 || now.Sub(begun[len(begun)-1]) > sameLook) {
			begun = append(begun, now)
		}
		if isStopped {
			stood += now.Sub(last) * time.Duration(stopped)
		}
		isStopped, last = stopped > 0, now
	}
	must(t, watch.Process.Signal(syscall.SIGTERM))
	<-ended
	cpu := watch.ProcessState.UserTime() + watch.ProcessState.SystemTime()
	every := begun[looks-1].Sub(begun[0]) / (looks - 1)
	standing := ratio(stood/looks/jobRanks, every)
	computing := ratio(cpu/looks/time.Duration(min(runtime.NumCPU(), jobRanks)), every)
	fmt.Printf("`mpi-queues watch` looks at %d ranks once in %.0f s, for which they stand for %.0f ms each, and which takes %.2f s of processors\n",
		jobRanks, every.Seconds(), milliseconds([]time.Duration{stood / looks / jobRanks})[0], (cpu / looks).Seconds())
	target(fmt.Sprintf("%% of a job of %d ranks, `mpi-queues watch`", jobRanks), []float64{100 * (standing + computing)}, atMost(watchTarget, " %"),
		"the ranks stand while one gdb reads all of them")
}
