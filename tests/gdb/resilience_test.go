//go:build live

package gdb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// works fails the test unless gdb is there and mpi-queues shows the receives of
// a program many.
func works(t *testing.T, s *live.Session) {
	t.Helper()
	out := s.Says("mpi-queues -limit 5", "Pending receives", "-limit)")
	if strings.Contains(out, "Traceback") {
		t.Errorf("a traceback:\n%s", out)
	}
}

// A helper that dies between two commands is not missed.
func TestHelperKilledIdle(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "100")
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	for range 3 {
		works(t, s)
		helper := s.Helper()
		if helper == 0 {
			t.Fatal("gdb has no helper")
		}
		live.Kill(t, helper)
		live.Until(t, "for the helper's end", func() bool { return zombieOrGone(helper) })
	}
	works(t, s)
}

func zombieOrGone(pid int) bool {
	stat, err := procfs.Host.Stat(pid)
	return err != nil || stat.HasEnded()
}

// A helper that dies in the middle of a command, which reads a hundred thousand
// receives: gdb says so, and the next command works.
func TestHelperKilledBusy(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "100000")
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	works(t, s)
	killed := 0
	for tries := 0; killed < 5 && tries < 50; tries++ {
		helper, from := s.Helper(), live.CPU(s.Helper())
		more := rand.IntN(12)
		t.Logf("kill after %d ticks", more)
		s.Send("mpi-queues -json -output /dev/null")
		live.Until(t, "for the helper to work", func() bool { now := live.CPU(helper); return now < 0 || now >= from+1+more })
		live.Kill(t, helper)
		out := s.Await(live.Prompt)
		if strings.Contains(out, "Traceback") {
			t.Errorf("a traceback:\n%s", out)
		}
		if strings.Contains(out, "killed by SIGKILL") && strings.Contains(out, "The next command starts a fresh one.") {
			killed++
		}
		works(t, s)
	}
	if killed < 5 {
		t.Errorf("the helper died %d times in the middle of a command, want 5", killed)
	}
}

// A helper that dies behind a byte of its own choice, in the middle of a
// message or between two.
func TestHelperDiesWhileTalking(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "100")
	wrapper := filepath.Join(t.TempDir(), "wrapper")
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	for _, bytes := range []int{0, 1, 17, 40, 150, 1 + rand.IntN(400), 400 + rand.IntN(1000), 1400 + rand.IntN(2000), 1400 + rand.IntN(2000)} {
		script := fmt.Sprintf("#!/bin/sh\n'%s' \"$@\" | { dd bs=1 count=%d status=none; kill -9 $$; }\n", work.Helper, bytes)
		if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		s.Do("set mpi-queues helper " + wrapper)
		out := s.Says("mpi-queues -limit 5", "The helper program "+wrapper+" ended")
		if strings.Contains(out, "Traceback") || strings.Contains(out, "Pending receives") {
			t.Errorf("behind %d bytes:\n%s", bytes, out)
		}
		s.Do("set mpi-queues helper " + work.Helper)
		works(t, s)
	}
}

// Ctrl-C gives a long command up: the prompt comes back, and the next command
// works with the same helper.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "100000")
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	works(t, s)
	interrupted := 0
	for tries := 0; interrupted < 5 && tries < 50; tries++ {
		helper, from := s.Helper(), live.CPU(s.Helper())
		more := rand.IntN(12)
		s.Send("mpi-queues -json -output /dev/null")
		live.Until(t, "for the helper to work", func() bool { return live.CPU(helper) >= from+1+more || s.Has(live.Prompt) })
		s.Type("\x03")
		out := s.Await(live.Prompt)
		if strings.Contains(out, "Quit") {
			interrupted++
			if now := s.Helper(); now != helper {
				t.Errorf("the helper is %d, not %d any more", now, helper)
			}
		} else {
			// The command was faster, and the interrupt met the prompt.
			s.Send("print 40 + 2")
			s.Await("= 42")
			s.Await(live.Prompt)
		}
		if strings.Contains(out, "Traceback") || strings.Contains(out, "failed") {
			t.Errorf("interrupted, gdb says:\n%s", out)
		}
		works(t, s)
	}
	if interrupted < 5 {
		t.Errorf("%d commands were interrupted, want 5", interrupted)
	}
	s.Says("show mpi-queues limit", "200")
	s.Says("info threads", "Thread")
}

// A helper that hangs does not hang gdb: Ctrl-C asks it to stop, a second one
// (or five seconds) ends it.
func TestInterruptHanging(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "100")
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	for _, interrupts := range []int{1, 2} {
		works(t, s)
		helper := s.Helper()
		if err := syscall.Kill(helper, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		written := live.Written(s.PID())
		s.Send("mpi-queues")
		// The echo of the line has some bytes, the request hundreds.
		live.Until(t, "for gdb to ask the helper", func() bool { return live.Written(s.PID()) > written+300 })
		written = live.Written(s.PID())
		s.Type("\x03")
		if interrupts == 2 {
			live.Until(t, "for gdb to ask the helper to stop", func() bool { return live.Written(s.PID()) > written+20 })
			s.Type("\x03")
		}
		out := s.Await(live.Prompt)
		want := "Quit"
		if interrupts == 1 {
			want = "did not stop within 5 seconds of being asked to"
		}
		if !strings.Contains(out, want) || strings.Contains(out, "Traceback") {
			t.Errorf("after %d interrupts gdb says:\n%s", interrupts, out)
		}
		live.Until(t, "for the helper's end", func() bool { return zombieOrGone(helper) })
	}
	works(t, s)
}

// SIGTERM ends gdb in the middle of a command, as it ends gdb's own: with no traceback,
// no helper left and the process let go of.
func TestTerminated(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "100000")
	rank := job.Accounts[0].PID
	for range 4 {
		s := work.StartSession(t, live.Process(rank))
		works(t, s)
		helper, from := s.Helper(), live.CPU(s.Helper())
		more := rand.IntN(12)
		s.Send("mpi-queues -json -output /dev/null")
		live.Until(t, "for the helper to work", func() bool { return live.CPU(helper) >= from+1+more || s.Has(live.Prompt) })
		if err := syscall.Kill(s.PID(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if out := s.End(); strings.Contains(out, "Traceback") || strings.Contains(out, "failed") {
			t.Errorf("terminated after %d ticks, gdb says:\n%s", more, out)
		}
		live.Until(t, "for the helper's end", func() bool { return zombieOrGone(helper) })
		live.Until(t, "for the rank to run on", func() bool { return live.State(rank) != 'T' && live.State(rank) != 't' })
	}
}
