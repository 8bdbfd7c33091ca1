//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/tests/internal/faulty"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// conversation is a session whose helper is behind a proxy.
type conversation struct {
	*live.Session
	plan string // the path of the proxy's plan
	// honest is what the command shows when nothing is done to a message.
	honest string
	// all are the lines without a limit: where not all of a queue can be read, others are the first ones.
	all []string
}

// displayed is the command that is tried.
const displayed = "mpi-queues -limit 3"

// converse starts a gdb at a process, whose helper is behind a proxy.
func converse(t *testing.T, pid int) *conversation {
	t.Helper()
	folder := t.TempDir()
	c := &conversation{plan: filepath.Join(folder, "plan")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wrapper := filepath.Join(folder, "wrapper")
	script := fmt.Sprintf("#!/bin/sh\n%s='%s' exec '%s' \"$@\"\n", faulty.Environment, c.plan, self)
	if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Session = work.StartSession(t, live.Process(pid))
	c.Do("set mpi-queues helper " + wrapper)
	c.restart(t, faulty.Plan{})
	c.learn()
	if again := c.Do(displayed); again != c.honest {
		t.Fatalf("the command shows\n%s\nand then\n%s", c.honest, again)
	}
	return c
}

// learn has the process say what is so.
func (c *conversation) learn() {
	c.honest = c.Says(displayed, "Pending receives")
	c.all = strings.Split(c.Do("mpi-queues -limit unlimited"), "\n")
}

// restart has the next command start a helper to which a plan applies.
func (c *conversation) restart(t *testing.T, p faulty.Plan) {
	t.Helper()
	if out := c.Do("python from mpi_queues import link; link.LINK.close()"); strings.Contains(out, "rror") {
		t.Fatal(out)
	}
	p.Helper = work.Helper
	if err := p.Write(c.plan); err != nil {
		t.Fatal(err)
	}
}

// moment is how long gdb is left alone after a fault that may make it wait. No verdict depends on it.
const moment = 300 * time.Millisecond

// lateInterrupt is what gdb itself says of a Ctrl-C when a command has just ended.
const lateInterrupt = "^CPython Exception <class 'KeyboardInterrupt'>: <class 'KeyboardInterrupt'>\n"

// settle waits until gdb takes commands again, and returns what it has written by then. If nothing comes it
// is interrupted, once what the plan asks for has been done.
func (c *conversation) settle(t *testing.T, p faulty.Plan) string {
	t.Helper()
	live.Until(t, "for gdb or the fault", func() bool { return c.Has(live.Prompt) || faulty.Done(c.plan) })
	if p.Fault.Stalls() && !live.Within(moment, func() bool { return c.Has(live.Prompt) }) {
		c.Type("\x03")
	}
	out := strings.Replace(c.Await(live.Prompt), lateInterrupt, "", 1)
	// An interrupt may have met the prompt, which gdb then writes once more.
	c.Send("print 40 + 2")
	c.Await("= 42")
	c.Await(live.Prompt)
	return out
}

// sentences begin what gdb says when a command fails, or lacks something.
var sentences = []string{"The helper program ", "The helper failed (", "Quit", "Note: ", "process ", "the debugger ", "its memory can't be read any more"}

// check fails the test if gdb has written anything but what is so, or a sentence.
func (c *conversation) check(t *testing.T, what, out string) {
	t.Helper()
	_, out, _ = strings.Cut(out, "\n") // the command
	if out == c.honest {
		return
	}
	isSaid, isUnknown := false, false
	known := strings.Split(c.honest, "\n")
	if incomplete.MatchString(out) {
		known = append(known, c.all...)
	}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		line = strings.TrimPrefix(line, "^C")
		switch {
		case isSaid: // what follows is the sentence's
		case slices.ContainsFunc(sentences, func(s string) bool { return strings.HasPrefix(line, s) }),
			strings.Contains(line, " can't be read: cannot read "):
			isSaid = true
		case strings.Contains(line, ": not available: "), strings.HasSuffix(line, " is not known"), incomplete.MatchString(line):
			isUnknown = true
		case heading.MatchString(line) && strings.ContainsRune(line, '?'):
			isUnknown = true
		case heading.MatchString(line) && strings.Contains(out, ": not available: "): // of a communicator with nothing else
		case slices.ContainsFunc(known, func(k string) bool { return isSame(k, line) }):
			isUnknown = isUnknown || strings.Count(line, " ? ") > 0
		default:
			t.Errorf("%s: gdb writes %q, which it does not when all goes well", what, line)
		}
	}
	if !isSaid && !isUnknown || strings.Contains(out, "Traceback") || strings.Contains(out, "failed in itself") {
		t.Errorf("%s: gdb says\n%s\nwhere without it, it says\n%s", what, out, c.honest)
	}
}

// heading is that of a communicator.
var heading = regexp.MustCompile(`^.+ \(0x[0-9a-f]+\): rank [0-9?]+ of [0-9?]+$`)

// incomplete ends a queue of which not all could be read.
var incomplete = regexp.MustCompile(`(?m)^    \.\.\. and (perhaps more, which could not be read|\d+ more of \d+ or more \(-limit\))$`)

// isSame says whether two lines are the same, but for what the second one says that it does not know.
func isSame(known, line string) bool {
	was, now := strings.Fields(known), strings.Fields(line)
	for i := range now {
		if len(now) != len(was) || now[i] != was[i] && now[i] != "?" {
			return false
		}
	}
	return len(was) == len(now)
}

// TestFaults does something to each message between gdb and the helper in turn: gdb says what is so or that something is wrong,
// never waits for ever, and its next command works.
func TestFaults(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	job := work.Start(t, "many", 2, nil, "100")
	c := converse(t, job.Accounts[0].PID)
	plans := c.plans(t, faulty.Faults...)
	tried := 0
	for i, p := range plans {
		if !sample.Chosen(t.Name(), i, sampleFaults) {
			continue
		}
		tried++
		what := fmt.Sprintf("message %d of %s is %s", p.Number, p.From, p.Fault)
		t.Run(what, func(t *testing.T) { c.try(t, what, p) })
	}
	t.Logf("%d of %d faults", tried, len(plans))
}

// plans are those of some faults for each message of the command.
func (c *conversation) plans(t *testing.T, faults ...faulty.Fault) (plans []faulty.Plan) {
	t.Helper()
	c.restart(t, faulty.Plan{})
	c.Do(displayed)
	for _, from := range []faulty.From{faulty.Debugger, faulty.Helper} {
		for number, method := range faulty.Seen(c.plan, from) {
			t.Logf("message %d of %s: %s", number, from, method)
			for _, fault := range faults {
				if fault != faulty.Earlier || number > 0 {
					plans = append(plans, faulty.Plan{From: from, Number: number, Fault: fault})
				}
			}
		}
	}
	return plans
}

// try has gdb show the queues while something is done to a message, and then once more.
func (c *conversation) try(t *testing.T, what string, p faulty.Plan) {
	c.restart(t, p)
	c.Send(displayed)
	out := c.settle(t, p)
	if !faulty.Done(c.plan) {
		t.Errorf("%s, and gdb has not waited for it:\n%s", what, out)
	}
	c.check(t, what, out)
	if p.Fault == faulty.Delayed && !strings.Contains(out, c.honest) {
		t.Errorf("%s: gdb says\n%s", what, out)
	}
	// The same helper, or another one if that is no more; but one that has stopped behind its reply has
	// nobody notice before it is asked again.
	if p.Fault == faulty.Stopped && strings.Contains(out, c.honest) {
		c.restart(t, faulty.Plan{})
	}
	if err := (faulty.Plan{Helper: work.Helper}).Write(c.plan); err != nil {
		t.Fatal(err)
	}
	if again := c.Do(displayed); again != c.honest {
		t.Errorf("%s, and the next command says\n%s\nnot\n%s", what, again, c.honest)
	}
}

// sampleFaults is of how many faults one is tried in a sample.
const sampleFaults = 13
