package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
)

func TestEachStep(t *testing.T) {
	var steps []string
	eachStep(strings.NewReader("attaching\nattaching\n\nreading \x1b[2J\u202e\nreading 2\nwriting\nmore\n"), 4, func(s string) { steps = append(steps, s) })
	if want := []string{"attaching", "reading \uFFFD[2J\uFFFD", "reading 2", "writing"}; !slices.Equal(steps, want) {
		t.Errorf("%q, not %q", steps, want)
	}
}

// A gdb that stands still keeps a job stopped for the time that is given, and not for
// that time for each rank of it.
func TestTimeIsNotForEachRank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gdb")
	script := "#!/bin/sh\necho attaching to process 2 of 1000 >&3\nexec sleep 1000\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := newGDB(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	_, err = g.run(t.Context(), inquiry{pid: 1, job: make([]tracee.State, 1000)})
	var late *timeoutError
	if !errors.As(err, &late) || late.after != time.Second {
		t.Fatal(err)
	}
	if want := "gdb made no progress within 1s (attaching to process 2 of 1000) and was told to end"; late.doing != "" && !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// As long as it makes progress, it may go on: each step gives it the whole time again.
func TestStepsGiveTime(t *testing.T) {
	off, sets := make(chan time.Time), 0
	late := alarm{time.Hour, off, func() { sets++ }, func() bool { return true }}
	lines, tell := io.Pipe()
	shown := make(chan string)
	const steps = 40
	ctx, stop := limited(t.Context(), late, steps, lines, func(s string) { shown <- s })
	defer stop()
	for i := range steps {
		text := strings.Repeat("x", i+1)
		if _, err := io.WriteString(tell, text+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-shown; got != text || sets != i+1 {
			t.Errorf("%s, not %s; the alarm was set %d times in %d steps", got, text, sets, i+1)
		}
	}
	if ctx.Err() != nil {
		t.Error(context.Cause(ctx))
	}
	_ = tell.Close()
	off <- time.Time{}
	<-ctx.Done()
	var e *timeoutError
	if !errors.As(context.Cause(ctx), &e) || *e != (timeoutError{time.Hour, strings.Repeat("x", steps)}) {
		t.Error(context.Cause(ctx))
	}
}

// What has ended in time is not ended.
func TestStopInTime(t *testing.T) {
	ctx, stop := limited(t.Context(), newAlarm(time.Hour), 1, strings.NewReader(""), func(string) {})
	if stop(); !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Error(context.Cause(ctx))
	}
}

// An alarm that is set anew goes off again: else this does not end.
func TestAlarm(*testing.T) {
	late := newAlarm(time.Nanosecond)
	<-late.off
	late.set()
	<-late.off
}
