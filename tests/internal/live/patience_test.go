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
		rivals     float64
		least, end int // seconds
	}{
		{"idle", 0, 200, 0, 60, 60},
		{"one of two processors", 100, 200, 0, 120, 120},
		{"ranks that look for messages", 0, 200, 0.5, 90, 91},
		{"all processors", 200, 200, 4, 300, 300},
		{"many programs of a low priority", 0, 200, 5, 300, 300},
		{"a system that does not say", 0, 0, 0, 60, 60},
	} {
		clock := time.Unix(0, 0)
		var at processors
		p := startPatience(time.Minute, func() time.Time { return clock }, func() processors { return at })
		seconds := 0
		for isOver := false; !isOver; seconds++ {
			clock = clock.Add(time.Second)
			at.busy, at.all, at.rivals = at.busy+c.busy, at.all+c.all, c.rivals
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
	for isNice, want := range map[bool]processors{false: {108, 576, 0}, true: {128, 576, 0}} {
		if got := parseProcessors(text, isNice); got != want {
			t.Errorf("nice %v: %+v, want %+v", isNice, got, want)
		}
	}
	if got := parseProcessors("", false); got != (processors{}) {
		t.Errorf("without a line: %+v", got)
	}
	for isNice, want := range map[bool]float64{false: 0.5, true: 5} {
		if got := rivals("9.00 8.00 7.00 11/300 4711\n", 2, isNice); got != want {
			t.Errorf("nice %v: %v rivals, want %v", isNice, got, want)
		}
	}
	if got := rivals("", 2, true); got != 0 {
		t.Errorf("without a line: %v rivals", got)
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
