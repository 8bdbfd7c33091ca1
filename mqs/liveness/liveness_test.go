package liveness

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// A process has run since it was looked at if it has had a processor before it was stopped
// for the next look: one that a signal has stopped has not, nor has one that runs after that.
func TestPast(t *testing.T) {
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
	pid := busy.Process.Pid
	s := &mqs.Snapshot{Processes: []*mqs.Process{{PID: pid}}}
	var seen History
	if p := seen.Past(s, nil); p.Looks != 0 || len(p.Earlier) != 0 || len(p.Ran) != 0 {
		t.Errorf("at the first look, the past is %+v", p)
	}
	first := seen.seen[pid].clock
	Wait(t.Context(), seen.settled)
	if p := seen.Past(s, Clocks{pid: first}); p.Looks != 1 || p.Earlier[pid] == nil || p.Ran[pid] {
		t.Errorf("of one that has run while it was looked at, the past is %+v", p)
	}
	if seen.seen[pid].clock != first {
		t.Error("a look before which it has not run is the one that the next is held against")
	}
	// On a busy machine the process may not even have started to run: settled does not wait for what sleeps.
	Wait(t.Context(), func() bool { c, err := clockOf(pid); return err == nil && c.ticks >= first.ticks+leastTicks })
	if p := seen.Past(s, seen.Clocks()); p.Looks != 2 || p.Earlier[pid] == nil || !p.Ran[pid] {
		t.Errorf("of one that has run, the past is %+v", p)
	}
	if err := busy.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	Wait(t.Context(), func() bool { p, err := procfs.Host.Stat(pid); return err == nil && p.State == 'T' })
	seen.Past(s, seen.Clocks())
	if Wait(t.Context(), seen.settled); seen.Past(s, seen.Clocks()).Ran[pid] {
		t.Error("one that is stopped has run")
	}
}

// TestThreadRuns checks that a process whose main thread sleeps while another thread runs has something to run.
func TestThreadRuns(t *testing.T) {
	const program = "import threading\ndef spin():\n while True: pass\nt = threading.Thread(target=spin)\nt.start()\nt.join()\n"
	ranks := exec.Command("python3", "-c", program)
	if err := ranks.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ranks.Process.Kill(); _ = ranks.Wait() })
	pid := ranks.Process.Pid
	patience, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	Wait(patience, func() bool {
		main, err := procfs.Host.Stat(pid)
		c, _ := clockOf(pid)
		return err == nil && main.State == 'S' && len(procfs.Host.Threads(pid)) > 1 && c.runnable
	})
	if patience.Err() != nil {
		t.Error("a process in which a thread runs is taken for one that sleeps")
	}
}

// What has exited is remembered: whether it had done so at the look before makes a difference.
func TestPastOfExited(t *testing.T) {
	short := exec.Command("true")
	if err := short.Run(); err != nil {
		t.Fatal(err)
	}
	s := &mqs.Snapshot{Processes: []*mqs.Process{{PID: short.Process.Pid, Phase: mqs.Exited}}}
	var seen History
	seen.Past(s, nil)
	if p := seen.Past(s, seen.Clocks()); p.Earlier[short.Process.Pid] == nil {
		t.Errorf("the past is %+v", p)
	}
}

// A look is the second one once all that had something to run have run. What sleeps, or was not looked
// at before, is not waited for.
func TestIsSecond(t *testing.T) {
	for name, c := range map[string]struct {
		ran     map[int]bool
		stopped Clocks
		want    bool
	}{
		"both have run":          {map[int]bool{1: true, 2: true}, Clocks{1: {runnable: true}, 2: {runnable: true}}, true},
		"one waits for its turn": {map[int]bool{1: true}, Clocks{1: {runnable: true}, 2: {runnable: true}}, false},
		"one sleeps":             {map[int]bool{1: true}, Clocks{1: {runnable: true}, 2: {}}, true},
		"another one has come":   {map[int]bool{1: true, 2: true}, Clocks{3: {runnable: true}}, true},
		"one of them has ended":  {map[int]bool{1: true}, Clocks{1: {runnable: true}}, true},
	} {
		past := waitfor.Past{Earlier: map[int]*mqs.Process{1: {}, 2: {}}, Ran: c.ran}
		if got := isSecond(past, c.stopped); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A look is settled once all that may have hung at it have been seen elsewhere, each at whichever look. Another process that has got
// the number of one says nothing of that.
func TestSettled(t *testing.T) {
	at := func(pid, line int) *mqs.Process {
		return &mqs.Process{PID: pid, Threads: []mqs.Thread{{Placed: true, Call: "MPI_Comm_dup", Function: "main", File: "a.c", Line: line}}}
	}
	started := map[int]uint64{}
	var seen History
	look := func(open *waitfor.Report, processes ...*mqs.Process) bool {
		past := seen.past(&mqs.Snapshot{Processes: processes}, nil, func(pid int) (clock, error) { return clock{start: started[pid]}, nil })
		seen.Keep(open)
		return past.Settled
	}
	both := func(a, b int) *waitfor.Report {
		return &waitfor.Report{Open: map[int]*mqs.Process{1: at(1, a), 2: at(2, b)}}
	}
	unknown := &waitfor.Report{}
	for i, c := range []struct {
		settled bool
		open    *waitfor.Report
		a, b    int
	}{
		{false, both(10, 20), 10, 20},
		{false, both(11, 20), 11, 20}, // one has left
		{false, unknown, 10, 20},      // that one is back; at the second look it was elsewhere
		{true, unknown, 10, 21},       // now the other one has left too
		{true, unknown, 10, 20},       // and what was settled stays so
	} {
		if got := look(c.open, at(1, c.a), at(2, c.b)); got != c.settled {
			t.Errorf("look %d: settled %t", i, got)
		}
	}
	seen = History{}
	look(both(10, 20), at(1, 10), at(2, 20))
	started[2] = 7
	if look(unknown, at(1, 11), at(2, 21)) {
		t.Error("another process stands for one that may have hung")
	}
	seen = History{}
	look(&waitfor.Report{Open: map[int]*mqs.Process{3: at(3, 10)}}, at(1, 10))
	if look(unknown, at(1, 11)) {
		t.Error("one that has not been seen has left its call")
	}
}

// TestPastKeepsCalls checks that a sample which shows less of a process that stands is completed in the snapshot, and remembered so.
func TestPastKeepsCalls(t *testing.T) {
	pid := os.Getpid()
	sample := func(isSeen bool) *mqs.Snapshot {
		s := undecided(t)
		for _, p := range s.Processes[:1] {
			p.PID = pid
			if !isSeen {
				p.Threads[0].Requests, p.Threads[0].AllRequests = nil, false
			}
		}
		s.Processes = s.Processes[:1]
		return s
	}
	var seen History
	first := sample(true)
	want := first.Processes[0].Threads[0].Requests
	if len(want) == 0 {
		t.Fatal("the recorded process waits for nothing")
	}
	seen.Past(first, nil)
	for range 2 {
		s := sample(false)
		seen.Past(s, Clocks{pid: {ticks: 1 << 40}})
		if got := s.Processes[0].Threads[0]; !slices.Equal(got.Requests, want) || !got.AllRequests {
			t.Errorf("%+v", got)
		}
	}
}
