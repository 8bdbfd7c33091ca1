package gdbrun

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestStepFilter(t *testing.T) {
	var steps []string
	f := &stepFilter{most: 4}
	for _, text := range []string{"attaching", "attaching", "", "reading \x1b[2J\u202e", "reading 2", "writing", "more"} {
		if step, isNew := f.pass(text); isNew {
			steps = append(steps, step)
		}
	}
	if want := []string{"attaching", "reading \uFFFD[2J\uFFFD", "reading 2", "writing"}; !slices.Equal(steps, want) {
		t.Errorf("%q, not %q", steps, want)
	}
}

// As long as it makes progress, it may go on: each step gives it the whole time again.
func TestStepsGiveTime(t *testing.T) {
	off, sets := make(chan time.Time), 0
	late := alarm{time.Hour, off, func() { sets++ }, func() bool { return true }}
	shown := make(chan string)
	const steps = 40
	ctx, tell, stop := limited(t.Context(), late, steps+1, func(s string) { shown <- s })
	defer stop()
	for i := range steps {
		text := strings.Repeat("x", i+1)
		tell(text)
		if got := <-shown; got != text || sets != i+1 {
			t.Errorf("%s, not %s; the alarm was set %d times in %d steps", got, text, sets, i+1)
		}
	}
	if ctx.Err() != nil {
		t.Error(context.Cause(ctx))
	}
	off <- time.Time{}
	<-ctx.Done()
	var e *TimeoutError
	if !errors.As(context.Cause(ctx), &e) || *e != (TimeoutError{time.Hour, strings.Repeat("x", steps)}) {
		t.Error(context.Cause(ctx))
	}
	tell("late") // progress, but nobody hears it any more: to wait would be for ever
}

// What has ended in time is not ended.
func TestStopInTime(t *testing.T) {
	ctx, _, stop := limited(t.Context(), newAlarm(time.Hour), 1, func(string) {})
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
