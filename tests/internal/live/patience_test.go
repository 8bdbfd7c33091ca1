package live

import (
	"context"
	"testing"
	"time"
)

// TestPatience checks that a wait ends after its limit on an idle machine, and only much later on one whose processors have
// something else to do: a test must not fail since the machine is loaded.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name       string
		busy, all  uint64 // ticks in each second
		least, end int    // seconds
	}{
		{"idle", 0, 200, 60, 60},
		{"one of two processors", 100, 200, 120, 120},
		{"all of them", 200, 200, 300, 300},
		{"a system that does not say", 0, 0, 60, 60},
	} {
		clock := time.Unix(0, 0)
		var at processors
		p := startPatience(time.Minute, func() time.Time { return clock }, func() processors { return at })
		seconds := 0
		for isOver := false; !isOver; seconds++ {
			clock = clock.Add(time.Second)
			at.busy, at.all = at.busy+c.busy, at.all+c.all
			if isOver = p.isOver(); seconds > 1000 {
				t.Fatalf("%s: no end", c.name)
			}
		}
		if seconds < c.least || seconds > c.end {
			t.Errorf("%s: it lasts %d s, want %d", c.name, seconds, c.least)
		}
	}
}

// TestProcessors checks what counts as work that a waiting program has to stand behind.
func TestProcessors(t *testing.T) {
	const text = "cpu  100 20 30 400 5 6 7 8 50 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
	for isNice, want := range map[bool]processors{false: {108, 576}, true: {128, 576}} {
		if got := parseProcessors(text, isNice); got != want {
			t.Errorf("nice %v: %+v, want %+v", isNice, got, want)
		}
	}
	if got := parseProcessors("", false); got != (processors{}) {
		t.Errorf("without a line: %+v", got)
	}
	if got := readProcessors(); got.all == 0 || got.busy > got.all {
		t.Errorf("this machine: %+v", got)
	}
}

// TestPatient checks that a context's end comes with the end of patience.
func TestPatient(t *testing.T) {
	ctx, cancel := patient(t.Context(), time.Millisecond)
	defer cancel()
	<-ctx.Done()
	called := make(chan struct{})
	stop := AfterPatience(func() { close(called) })
	stop()
	select {
	case <-called:
		t.Error("it is called though it was stopped")
	default:
	}
	parent, end := context.WithCancel(t.Context())
	end()
	ctx, cancel = patient(parent, time.Hour)
	defer cancel()
	<-ctx.Done()
}
