package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// timeoutError means that a gdb was ended that made no progress.
type timeoutError struct {
	after time.Duration
	// doing is what it had said last, empty if that was nothing.
	doing string
}

func (e *timeoutError) Error() string {
	last := ""
	if e.doing != "" {
		last = " (" + e.doing + ")"
	}
	return fmt.Sprintf("gdb made no progress within %s%s and was told to end: --timeout gives it more", e.after, last)
}

// maxSteps bounds how often a gdb that reads this many processes is believed to make
// progress: as it attaches to each, as it reads each, and a few times at the end. So a gdb
// that stands still is ended after the timeout, and one that crawls after that many of them.
func maxSteps(processes int) int { return 2*processes + 10 }

// alarm goes off a time after it was set.
type alarm struct {
	after time.Duration
	off   <-chan time.Time
	set   func() // anew
	stop  func() bool
}

func newAlarm(after time.Duration) alarm {
	timer := time.NewTimer(after)
	return alarm{after, timer.C, func() { timer.Reset(after) }, timer.Stop}
}

// limited ends a context when an alarm goes off, which everything that is read sets anew. What
// is read are lines, each about another step; more steps than there can be are no progress. The
// ranks of a job stand still meanwhile, so the time is not one for each of them.
func limited(ctx context.Context, late alarm, most int, lines io.Reader, show func(string)) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	steps, ended := make(chan string), make(chan struct{})
	go func() {
		eachStep(lines, most, func(step string) {
			select {
			case steps <- step:
			case <-ctx.Done():
			}
		})
	}()
	go func() {
		defer close(ended)
		defer late.stop()
		doing := ""
		for {
			select {
			case <-ctx.Done():
				return
			case doing = <-steps:
				late.set()
				show(doing)
			case <-late.off:
				cancel(&timeoutError{late.after, doing})
			}
		}
	}()
	return ctx, func() {
		cancel(context.Canceled)
		<-ended
	}
}

// eachStep passes on lines that are not the line before, up to a number, and reads
// the others, so that nobody waits to write them.
func eachStep(lines io.Reader, most int, step func(string)) {
	scanner := bufio.NewScanner(lines)
	last := ""
	for n := 0; scanner.Scan(); {
		if text := printable.Line(scanner.Text()); n < most && text != "" && text != last {
			last = text
			step(text)
			n++
		}
	}
}

// progressPatience is how long something takes at least of which progress is shown.
const progressPatience = 500 * time.Millisecond

// progressLine is a line of a terminal that says how far a gdb is.
type progressLine struct {
	began time.Time
	out   *os.File // nil if nobody reads it
	width int
}

func newProgressLine(out *os.File) *progressLine {
	if !isatty.IsTerminal(out.Fd()) || os.Getenv("TERM") == "dumb" {
		out = nil
	}
	return &progressLine{began: time.Now(), out: out}
}

// show replaces what the line says.
func (l *progressLine) show(text string) {
	const most = 78
	if l.out == nil || time.Since(l.began) < progressPatience {
		return
	}
	runes := []rune(text)
	runes = runes[:min(len(runes), most)]
	fmt.Fprintf(l.out, "\r%s%s", string(runes), strings.Repeat(" ", max(0, l.width-len(runes))))
	l.width = len(runes)
}

// erase takes the line away.
func (l *progressLine) erase() {
	if l.width > 0 {
		fmt.Fprintf(l.out, "\r%s\r", strings.Repeat(" ", l.width))
		l.width = 0
	}
}
