//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/faulty"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// Of how many steps one is tried in a sample.
const (
	sampleInterrupts = 6
	sampleDeaths     = 13
	sampleLimits     = 3
)

// TestInterruptedAtEachStep interrupts gdb at each message between it and the helper in turn: it gives the command up or ends
// it, and the next one works.
func TestInterruptedAtEachStep(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	job := work.Start(t, "many", 2, nil, "100")
	c := converse(t, job.Accounts[0].PID)
	for i, p := range c.plans(t, faulty.Interrupted) {
		if !sample.Chosen(t.Name(), i, sampleInterrupts) {
			continue
		}
		what := fmt.Sprintf("message %d of %s is interrupted", p.Number, p.From)
		t.Run(what, func(t *testing.T) { c.try(t, what, p) })
	}
}

// TestProcessDiesAtEachStep kills the process that gdb shows, at each message in turn: gdb says what it has seen of it, or that
// it can't be read, and goes on.
func TestProcessDiesAtEachStep(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	first := work.Start(t, "many", 2, nil, "100")
	c := converse(t, first.Accounts[0].PID)
	reached, tried := 0, 0
	for i, p := range c.plans(t, faulty.Bereft) {
		if !sample.Chosen(t.Name(), i, sampleDeaths) {
			continue
		}
		what := fmt.Sprintf("at message %d of %s the process dies", p.Number, p.From)
		tried++
		t.Run(what, func(t *testing.T) {
			job := work.Start(t, "many", 2, nil, "100")
			p.PID = job.Accounts[0].PID
			c.Do("detach")
			c.Says(fmt.Sprintf("attach %d", p.PID), "Attaching to")
			c.restart(t, faulty.Plan{})
			c.learn()
			c.restart(t, p)
			c.Send(displayed)
			out := c.settle(t, p)
			c.check(t, what, out)
			if !faulty.Done(c.plan) {
				t.Logf("of this process less was asked: it lives")
				return
			}
			reached++
			// gdb notices it when the process is to run.
			c.restart(t, faulty.Plan{})
			if out := c.Do("continue"); strings.Contains(out, "Traceback") || strings.Contains(out, "Python Exception") {
				t.Errorf("%s:\n%s", what, out)
			}
			if out := c.Do(displayed); !strings.Contains(out, "not being run") {
				t.Errorf("%s, and the next command says\n%s", what, out)
			}
		})
	}
	if 2*reached < tried {
		t.Errorf("%d of %d processes have died", reached, tried)
	}
}

// limits are the helper's, in the words of the shell's ulimit: too little for it at all, and then enough for more and more.
func limits() (all []string) {
	for kib := 100 << 10; kib <= 1600<<10; kib += 75 << 10 {
		all = append(all, "-v "+strconv.Itoa(kib))
	}
	for files := 3; files <= 16; files++ {
		all = append(all, "-n "+strconv.Itoa(files))
	}
	return append(all, "-f 0", "-u 1", "-t 0")
}

// TestStarvedHelper starts helpers that are given too little memory, or too few descriptors: gdb says what is so, or that the
// helper has ended, and the next command works with one that has enough.
func TestStarvedHelper(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	job := work.Start(t, "many", 2, nil, "100")
	c := converse(t, job.Accounts[0].PID)
	starved := filepath.Join(t.TempDir(), "starved")
	shown, failed := 0, 0
	for i, limit := range limits() {
		if !sample.Chosen(t.Name(), i, sampleLimits) {
			continue
		}
		script := fmt.Sprintf("#!/bin/sh\nulimit %s\nexec '%s' \"$@\"\n", limit, work.Helper)
		if err := os.WriteFile(starved, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		c.Do("set mpi-queues helper " + starved)
		c.Send(displayed)
		out := c.settle(t, faulty.Plan{})
		c.check(t, "ulimit "+limit, out)
		if strings.Contains(out, c.honest) {
			shown++
		} else {
			failed++
		}
		c.Do("set mpi-queues helper " + work.Helper)
		if again := c.Do(displayed); again != c.honest {
			t.Errorf("after a helper with ulimit %s the next command says\n%s", limit, again)
		}
	}
	if shown == 0 || failed == 0 {
		t.Errorf("%d helpers had enough and %d too little: the limits are not those that matter", shown, failed)
	}
}

// enough is how many descriptors more than it has will do for gdb, with a helper.
const enough = 16

func highestDescriptor(t *testing.T, pid int) (highest int) {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range open {
		if n, err := strconv.Atoi(d.Name()); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}

// TestNoDescriptors takes gdb's own file descriptors away, but for some: its commands say so, and work once there are some.
func TestNoDescriptors(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	job := work.Start(t, "many", 2, nil, "100")
	c := converse(t, job.Accounts[0].PID)
	c.Do("set mpi-queues helper " + work.Helper)
	c.Do("python import resource, os; before = resource.getrlimit(resource.RLIMIT_NOFILE)")
	failed, worked := 0, 0
	before, highest := footprintOf(t, c.PID()).descriptors, highestDescriptor(t, c.PID())
	for most := 4; most <= highest+enough; most++ {
		if !sample.Chosen(t.Name(), most, sampleLimits) {
			continue
		}
		c.Do("python from mpi_queues import link; link.LINK.close()")
		c.Do(fmt.Sprintf("python resource.setrlimit(resource.RLIMIT_NOFILE, (%d, before[1]))", most))
		out := c.Do(displayed)
		c.Do("python resource.setrlimit(resource.RLIMIT_NOFILE, before)")
		if out != c.honest {
			failed++
			if strings.Contains(out, "Traceback") || strings.Contains(out, "failed in itself") || strings.TrimSpace(out) == "" {
				t.Errorf("with %d descriptors gdb says\n%s", most, out)
			}
			t.Logf("with %d: %s", most, strings.TrimSpace(out))
		} else {
			worked++
		}
		if again := c.Do(displayed); again != c.honest {
			t.Errorf("the next command says\n%s", again)
		}
	}
	if now := footprintOf(t, c.PID()).descriptors; now > before {
		t.Errorf("gdb had %d descriptors, and has %d now", before, now)
	}
	if failed == 0 || worked == 0 {
		t.Errorf("%d times there were enough and %d times too few: the limits are not those that matter", worked, failed)
	}
}
